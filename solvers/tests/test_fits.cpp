// Batched fits against the conditions that a minimizer alone satisfies, closed forms, and one fit at a time.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "counted_allocations.hpp"
#include "cudbound/fits.hpp"
#include "instances.hpp"

namespace {

using cudbound::Loss;

constexpr Loss smooth_losses[] = {Loss::SQUARED, Loss::LOGISTIC, Loss::EXPONENTIAL, Loss::SQUARED_HINGE, Loss::HUBER};

struct Batch {
    std::int64_t n = 0, p = 0, fits = 0;
    std::vector<double> rows, shift, scale, labels, weights, penalty;
    bool own_rows = false;
    bool intercept = true;
    Loss loss = Loss::LOGISTIC;

    cudbound::Fits view() const {
        cudbound::Fits fits_view;
        fits_view.n = n;
        fits_view.p = p;
        fits_view.fits = fits;
        fits_view.rows = rows.data();
        fits_view.own_rows = own_rows;
        fits_view.shift = shift.empty() ? nullptr : shift.data();
        fits_view.scale = scale.empty() ? nullptr : scale.data();
        fits_view.labels = labels.data();
        fits_view.weights = weights.data();
        fits_view.penalty = penalty.data();
        fits_view.intercept = intercept;
        fits_view.loss = loss;
        return fits_view;
    }

    double column(std::int64_t fit, std::int64_t i, std::int64_t j) const {
        const double x = rows[static_cast<std::size_t>(((own_rows ? fit * n : 0) + i) * p + j)];
        const auto place = static_cast<std::size_t>(fit * p + j);
        return (x - (shift.empty() ? 0.0 : shift[place])) * (scale.empty() ? 1.0 : scale[place]);
    }
};

struct Answers {
    std::vector<double> scores, doubt;
    std::vector<char> found;
    bool complete = false;

    bool operator==(const Answers& other) const = default;
};

Answers fit(const Batch& batch, int threads = 1, const cudbound::Monitor& monitor = {}) {
    const auto size = static_cast<std::size_t>(batch.fits * batch.n);
    Answers answers{std::vector<double>(size), std::vector<double>(size), {}, false};
    std::vector<std::uint8_t> found(static_cast<std::size_t>(batch.fits));
    static_assert(sizeof(bool) == sizeof(std::uint8_t));
    answers.complete =
        cudbound::fit_all(batch.view(), threads, monitor,
                          {answers.scores.data(), answers.doubt.data(), reinterpret_cast<bool*>(found.data())});
    answers.found.assign(found.begin(), found.end());
    return answers;
}

Batch random_batch(Random& random, int n, int p, int fits, Loss loss) {
    Batch batch;
    batch.n = n;
    batch.p = p;
    batch.fits = fits;
    batch.loss = loss;
    batch.rows.resize(static_cast<std::size_t>(n) * p);
    for (double& x : batch.rows) x = normal(random);
    for (int i = 0; i < n; ++i)
        batch.labels.push_back(batch.rows[static_cast<std::size_t>(i) * p] + normal(random) > 0 ? 1 : -1);
    batch.weights.assign(static_cast<std::size_t>(fits) * n, 0.0);
    for (int f = 0; f < fits; ++f) {
        for (int i = 0; i < n; ++i) ++batch.weights[static_cast<std::size_t>(f) * n + integer(random, 0, n - 1)];
        batch.penalty.push_back(0.0);
        for (int j = 0; j < p; ++j) batch.penalty.push_back(0.1 + 0.2 * (j % 3));
    }
    return batch;
}

// With r_j > 0 for all columns, stationarity gives beta_j = -sum_i weight_i slope_i y_i z_ij / (2 r_j) from the scores
// alone; these coefficients must give the scores again, and the slopes of a free intercept must add up to 0.
void check_stationary(const Batch& batch, const Answers& answers) {
    for (std::int64_t f = 0; f < batch.fits; ++f) {
        CHECK(answers.found[static_cast<std::size_t>(f)] != 0);
        const double* scores = answers.scores.data() + f * batch.n;
        const double* doubt = answers.doubt.data() + f * batch.n;
        const double* penalty = batch.penalty.data() + f * (batch.p + (batch.intercept ? 1 : 0));
        std::vector<double> beta(static_cast<std::size_t>(batch.p), 0.0);
        double balance = 0.0, mass = 0.0;
        for (std::int64_t i = 0; i < batch.n; ++i) {
            const double weight = batch.weights[static_cast<std::size_t>(f * batch.n + i)];
            const double y = batch.labels[static_cast<std::size_t>(i)];
            const double pull = -weight * y * cudbound::loss_at(batch.loss, y * scores[i]).slope;
            balance += pull;
            mass += std::abs(pull);
            for (std::int64_t j = 0; j < batch.p; ++j) {
                beta[static_cast<std::size_t>(j)] +=
                    pull * batch.column(f, i, j) / (2.0 * penalty[(batch.intercept ? 1 : 0) + j]);
            }
        }
        double intercept = 0.0;
        if (batch.intercept && penalty[0] > 0.0) intercept = balance / (2.0 * penalty[0]);
        if (batch.intercept && penalty[0] == 0.0) {
            CHECK_NEAR(balance, 0.0, 1e-10 * (1.0 + mass));
            intercept = scores[0];
            for (std::int64_t j = 0; j < batch.p; ++j) {
                intercept -= beta[static_cast<std::size_t>(j)] * batch.column(f, 0, j);
            }
        }
        for (std::int64_t i = 0; i < batch.n; ++i) {
            double score = intercept, size = 1.0 + std::abs(intercept);
            for (std::int64_t j = 0; j < batch.p; ++j) {
                const double term = beta[static_cast<std::size_t>(j)] * batch.column(f, i, j);
                score += term;
                size += std::abs(term);
            }
            CHECK_NEAR(scores[i], score, 1e-8 * size);
            CHECK_AT_MOST(doubt[i], 1e-5 * size);
        }
    }
}

}  // namespace

// Rows 0 and 2, c copies each, with labels -1 and +1 under squared loss and the penalty r b^2: b = 2 c / (2 c + r).
TEST(ridge_by_hand) {
    Batch batch;
    batch.n = 3;
    batch.p = 1;
    batch.fits = 2;
    batch.rows = {0.0, 2.0, 5.0};
    batch.labels = {-1.0, 1.0, 1.0};
    batch.weights = {1.0, 1.0, 0.0, 3.0, 3.0, 0.0};
    batch.penalty = {0.0, 1.0, 0.0, 6.0};
    batch.loss = Loss::SQUARED;
    const Answers answers = fit(batch);
    const double slopes[] = {2.0 / 3.0, 0.5};
    for (int f = 0; f < 2; ++f) {
        CHECK(answers.found[f] != 0);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(answers.scores[static_cast<std::size_t>(3 * f + i)], slopes[f] * (batch.rows[i] - 1.0), 1e-14);
        }
    }
}

// Rows 0 and 1, each with both labels: the score of a row is the logarithm of the ratio of its weights.
TEST(logistic_by_hand) {
    Batch batch;
    batch.n = 4;
    batch.p = 1;
    batch.fits = 1;
    batch.rows = {0.0, 0.0, 1.0, 1.0};
    batch.labels = {-1.0, 1.0, -1.0, 1.0};
    batch.weights = {3.0, 1.0, 1.0, 5.0};
    batch.penalty = {0.0, 0.0};
    const Answers answers = fit(batch);
    CHECK(answers.found[0] != 0);
    CHECK_NEAR(answers.scores[0], std::log(1.0 / 3.0), 1e-13);
    CHECK_NEAR(answers.scores[2], std::log(5.0), 1e-13);
}

TEST(minimizers_are_stationary) {
    for (const Loss loss : smooth_losses) {
        Random random(7);
        for (const int p : {1, 3, 8}) {
            for (const bool intercept : {true, false}) {
                check::set_context("loss", static_cast<int>(loss), "p", p, "intercept", intercept);
                Batch batch = random_batch(random, 25, p, 20, loss);
                if (!intercept) {
                    batch.intercept = false;
                    batch.penalty.assign(static_cast<std::size_t>(20 * p), 0.4);
                }
                check_stationary(batch, fit(batch));
            }
        }
    }
}

TEST(more_columns_than_rows) {
    for (const Loss loss : smooth_losses) {
        Random random(8);
        for (const bool alike : {true, false}) {
            for (const double of_intercept : {0.0, 0.3}) {
                check::set_context("loss", static_cast<int>(loss), "alike", alike, "intercept", of_intercept);
                Batch batch = random_batch(random, 12, 30, 10, loss);
                for (std::size_t k = 0; k < batch.penalty.size(); ++k) {
                    if (k % 31 == 0) {
                        batch.penalty[k] = of_intercept;
                    } else if (alike) {
                        batch.penalty[k] = 0.5;
                    }
                }
                // a copy, a sum and a row of zeros
                std::copy_n(batch.rows.begin(), 30, batch.rows.begin() + 30);
                for (int j = 0; j < 30; ++j) batch.rows[60 + j] = batch.rows[j] + batch.rows[90 + j];
                std::fill_n(batch.rows.begin() + 120, 30, 0.0);
                check_stationary(batch, fit(batch));
            }
        }
    }
}

// A map of columns is what the mapped rows are, and rows of each fit may be given apart.
TEST(maps_and_own_rows) {
    for (const Loss loss : smooth_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Random random(9);
        Batch batch = random_batch(random, 20, 4, 15, loss);
        for (int k = 0; k < 15 * 4; ++k) {
            batch.shift.push_back(normal(random));
            batch.scale.push_back(k % 7 == 0 ? 0.0 : 0.5 + std::abs(normal(random)));
        }
        const Answers mapped = fit(batch);
        check_stationary(batch, mapped);
        Batch own = batch;
        own.own_rows = true;
        own.rows.clear();
        for (int f = 0; f < 15; ++f) {
            for (int i = 0; i < 20; ++i) {
                for (int j = 0; j < 4; ++j) own.rows.push_back(batch.column(f, i, j));
            }
        }
        own.shift.clear();
        own.scale.clear();
        const Answers given = fit(own);
        for (std::size_t k = 0; k < mapped.scores.size(); ++k) CHECK_NEAR(given.scores[k], mapped.scores[k], 1e-9);
    }
}

// A column with scale 0 does not take part, penalized or not.
TEST(columns_left_out) {
    Random random(17);
    for (const double strength : {0.0, 0.4}) {
        Batch batch = random_batch(random, 60, 3, 8, Loss::LOGISTIC);
        for (std::size_t k = 0; k < batch.penalty.size(); ++k) batch.penalty[k] = k % 4 > 0 ? strength : 0.0;
        Batch without = batch;
        without.p = 2;
        without.rows.clear();
        without.penalty.clear();
        for (int i = 0; i < 60; ++i) {
            for (int j = 0; j < 2; ++j) without.rows.push_back(batch.rows[static_cast<std::size_t>(3 * i + 2 * j)]);
        }
        for (int f = 0; f < 8; ++f) {
            without.penalty.insert(without.penalty.end(), {0.0, strength, strength});
            batch.scale.insert(batch.scale.end(), {1.0, 0.0, 1.0});
        }
        const Answers left_out = fit(batch), none = fit(without);
        for (const char found : left_out.found) CHECK(found != 0);
        CHECK(left_out.scores == none.scores);
    }
}

// Without an intercept only the score of a row of zeros has no doubt, also where all coefficients are 0.
TEST(rows_of_zeros) {
    Batch batch;
    batch.n = 4;
    batch.p = 1;
    batch.fits = 2;
    batch.rows = {0.0, 1.0, 1.0, 2.0};
    batch.labels = {1.0, -1.0, 1.0, 1.0};
    batch.intercept = false;
    batch.weights = {0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 3.0, 1.0};
    batch.penalty = {0.5, 0.5};
    const Answers answers = fit(batch);
    for (std::size_t k = 0; k < 8; ++k) {
        CHECK_EQUAL(answers.doubt[k] > 0.0, k % 4 != 0);
        CHECK_EQUAL(answers.scores[k] == 0.0, k < 4 || k % 4 == 0);
    }
}

// Weights are copies of rows.
TEST(weights_are_copies) {
    Random random(10);
    const Batch batch = random_batch(random, 15, 3, 5, Loss::LOGISTIC);
    const Answers answers = fit(batch);
    for (int f = 0; f < 5; ++f) {
        Batch copies = batch;
        copies.fits = 1;
        copies.rows.clear();
        copies.labels.clear();
        std::vector<int> origin;
        for (int i = 0; i < 15; ++i) {
            for (int c = 0; c < batch.weights[static_cast<std::size_t>(15 * f + i)]; ++c) {
                copies.rows.insert(copies.rows.end(), batch.rows.begin() + 3 * i, batch.rows.begin() + 3 * (i + 1));
                copies.labels.push_back(batch.labels[static_cast<std::size_t>(i)]);
                origin.push_back(i);
            }
        }
        copies.n = static_cast<std::int64_t>(origin.size());
        copies.weights.assign(origin.size(), 1.0);
        const Answers one = fit(copies);
        for (std::size_t k = 0; k < origin.size(); ++k) {
            CHECK_NEAR(one.scores[k], answers.scores[static_cast<std::size_t>(15 * f + origin[k])], 1e-11);
        }
    }
}

// Where there is no single minimizer the fit is not found.
TEST(no_minimizer) {
    Random random(11);
    Batch separable = random_batch(random, 12, 2, 4, Loss::LOGISTIC);
    for (int i = 0; i < 12; ++i)
        separable.labels[static_cast<std::size_t>(i)] = separable.rows[static_cast<std::size_t>(2 * i)] > 0 ? 1 : -1;
    std::fill(separable.penalty.begin(), separable.penalty.end(), 0.0);
    for (const Loss loss : {Loss::LOGISTIC, Loss::EXPONENTIAL}) {
        separable.loss = loss;
        for (const char found : fit(separable).found) CHECK(found == 0);
    }
    for (const Loss loss : smooth_losses) {
        Batch collinear = random_batch(random, 12, 2, 4, loss);
        for (int i = 0; i < 12; ++i)
            collinear.rows[static_cast<std::size_t>(2 * i + 1)] = 3.0 * collinear.rows[static_cast<std::size_t>(2 * i)];
        std::fill(collinear.penalty.begin(), collinear.penalty.end(), 0.0);
        const Answers answers = fit(collinear);
        for (const char found : answers.found) CHECK(found == 0);
        for (const double score : answers.scores) CHECK_EQUAL(score, 0.0);
    }
}

// Units of columns do not matter beside a penalty that follows them.
TEST(units_do_not_matter) {
    for (const Loss loss : smooth_losses) {
        Random random(12);
        Batch batch = random_batch(random, 30, 3, 10, loss);
        const Answers answers = fit(batch);
        const double units[] = {1e6, 1.0, 1e-5};
        for (std::size_t k = 0; k < batch.rows.size(); ++k) batch.rows[k] *= units[k % 3];
        for (std::size_t k = 0; k < batch.penalty.size(); ++k) {
            if (k % 4 > 0) batch.penalty[k] *= units[k % 4 - 1] * units[k % 4 - 1];
        }
        const Answers scaled = fit(batch);
        for (std::size_t k = 0; k < answers.scores.size(); ++k) CHECK_NEAR(scaled.scores[k], answers.scores[k], 1e-9);
    }
}

TEST(the_same_bits_on_any_number_of_threads) {
    Random random(13);
    const Batch batch = random_batch(random, 30, 4, 200, Loss::LOGISTIC);
    const Answers alone = fit(batch, 1);
    CHECK(alone.complete);
    CHECK(fit(batch, 3) == alone);
}

TEST(a_monitor_stops_it) {
    Random random(14);
    const Batch batch = random_batch(random, 400, 30, 3000, Loss::LOGISTIC);
    CHECK(!fit(batch, 2, [](std::int64_t) { return false; }).complete);
    CHECK_THROWS(fit(batch, 2, [](std::int64_t) -> bool { throw std::runtime_error("no"); }), std::runtime_error, "no");
}

TEST(what_is_not_well_formed_is_refused) {
    Random random(15);
    const Batch good = random_batch(random, 6, 2, 2, Loss::LOGISTIC);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Batch bad = good;
    bad.loss = Loss::HINGE;
    CHECK_THROWS(fit(bad), std::invalid_argument, "the hinge loss has no second derivative");
    bad = good;
    bad.rows[3] = nan;
    CHECK_THROWS(fit(bad), std::invalid_argument, "rows must be finite");
    bad = good;
    bad.labels[0] = 0.0;
    CHECK_THROWS(fit(bad), std::invalid_argument, "labels must be -1 or +1");
    bad = good;
    bad.weights[0] = -1.0;
    CHECK_THROWS(fit(bad), std::invalid_argument, "weights must be finite and not negative");
    bad = good;
    bad.penalty[1] = nan;
    CHECK_THROWS(fit(bad), std::invalid_argument, "penalty must be finite and not negative");
    bad = good;
    bad.scale.assign(4, nan);
    CHECK_THROWS(fit(bad), std::invalid_argument, "shift and scale must be finite");
    CHECK_THROWS(fit(good, 0), std::invalid_argument, "threads must be at least 1");
}

// A thread allocates for its first fit and never again; a single fit needs no thread.
TEST(fits_do_not_allocate) {
    for (const Loss loss : smooth_losses) {
        for (const int p : {4, 40}) {
            check::set_context("loss", static_cast<int>(loss), "p", p);
            Random random(16);
            Batch batch = random_batch(random, 25, p, 30, loss);
            for (double& r : batch.penalty) r = 0.5;
            std::vector<double> scores(25 * 30), doubt(25 * 30);
            bool found[30];
            cudbound::Fits view = batch.view();
            const auto allocated = [&](std::int64_t fits) {
                view.fits = fits;
                const long before = allocations;
                cudbound::fit_all(view, 1, nullptr, {scores.data(), doubt.data(), found});
                return allocations - before;
            };
            CHECK_EQUAL(allocated(2), allocated(30));
            CHECK(std::all_of(found, found + 30, [](bool one) { return one; }));
        }
    }
}
