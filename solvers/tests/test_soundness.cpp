// No classifier is worth more than the upper bound, however badly conditioned the draw: classifiers of many kinds are
// evaluated in long double, from the rows as they are. And every search ends when it is told to.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "enclosed_value.hpp"
#include "instances.hpp"
#include "oracles.hpp"

namespace {

using cudbound::Limits;
using cudbound::Loss;
using cudbound::Side;
using cudbound::Status;
using oracle::Vector;

long double loss_of(const Instance& instance, int draw, const double* beta) {
    long double sum = 0.0L;
    for (int i = 0; i < instance.n; ++i) {
        const long double count = instance.counts[static_cast<std::size_t>(draw) * instance.n + i];
        if (count == 0.0L) continue;
        long double side = 0.0L;
        for (int k = 0; k < instance.p; ++k) {
            side += static_cast<long double>(instance.design[i * instance.p + k]) * beta[k];
        }
        sum += count * oracle::surrogate(instance.loss, instance.labels[i] * side).value;
    }
    return sum / instance.n;
}

// |S| g at a classifier, or -1 where long double leaves a side open.
double worth(const Instance& instance, int draw, const double* beta) {
    long double score = 0.0L;
    for (int i = 0; i < instance.n; ++i) {
        long double side = 0.0L;
        long double size = 0.0L;
        for (int k = 0; k < instance.p; ++k) {
            const long double term = static_cast<long double>(instance.design[i * instance.p + k]) * beta[k];
            side += term;
            size += std::abs(term);
        }
        if (!(std::abs(side) > 1e-17L * size)) return -1.0;
        const long double weight = instance.counts[static_cast<std::size_t>(draw) * instance.n + i] - 1.0L;
        if ((side >= 0.0L ? 1.0 : -1.0) != instance.labels[i]) score += weight;
    }
    score /= instance.n;
    const long double excess = loss_of(instance, draw, beta) - loss_of(instance, draw, instance.anchor.data());
    return static_cast<double>(std::abs(score) * std::clamp(1.0L - instance.alpha * excess, 0.0L, 1.0L));
}

// The best of classifiers that lie next to the minimizers on all intersections of hyperplanes, where the best ones are,
// at many distances from them.
double best_found(Random& random, const Instance& instance, int draw) {
    const cudbound::Problem problem = instance.view();
    oracle::Rows rows;
    for (int i = 0; i < instance.n; ++i) {
        rows.emplace_back(instance.design.begin() + i * instance.p, instance.design.begin() + (i + 1) * instance.p);
    }
    oracle::Rows centers = {instance.anchor, Vector(instance.p, 0.0)};
    if (instance.loss != Loss::HINGE) {
        for (const auto& minimum : oracle::minima_on_flats(problem, draw, rows)) centers.push_back(minimum.point);
    }
    double best = 0.0;
    for (const Vector& center : centers) {
        const double length = std::sqrt(oracle::dot(center, center)) + 1e-3;
        for (int exponent = -15; exponent <= 1; ++exponent) {
            for (int points = 0; points < 6; ++points) {
                Vector beta = center;
                for (double& x : beta) x += std::pow(10.0, exponent) * length * normal(random);
                best = std::max(best, worth(instance, draw, beta.data()));
            }
        }
    }
    return best;
}

// Bounds, witness and status of all draws.
void check_sound(Random& random, const Instance& instance, const Answer& answer) {
    for (int d = 0; d < instance.draws; ++d) {
        const double found = best_found(random, instance, d);
        CHECK_AT_MOST(found, answer.upper[d] + 1e-12);
        CHECK_AT_MOST(answer.lower[d], answer.upper[d]);
        CHECK_AT_MOST(answer.upper[d], 1.0);
        CHECK_EQUAL(answer.status[d] == Status::OPTIMAL, answer.lower[d] == answer.upper[d]);
        if (answer.lower[d] == 0.0) continue;
        // a witness that long double leaves on the hyperplane of a row has no value to compare
        const double value = worth(instance, d, &answer.witness[static_cast<std::size_t>(d) * instance.p]);
        if (value < 0.0) continue;
        CHECK_AT_MOST(answer.lower[d] - 1e-8, value);
        CHECK_AT_MOST(value, answer.upper[d] + 1e-12);
        if (answer.status[d] == Status::OPTIMAL) CHECK_NEAR(value, answer.lower[d], 1e-8);
    }
}

// Least squares by Gram and Schmidt, twice, in long double: no matrix is squared. False if the columns are dependent.
bool fit_by_projection(Instance* instance) {
    const int n = instance->n;
    const int p = instance->p;
    std::vector<std::vector<long double>> columns(p + 1, std::vector<long double>(n));
    std::vector<std::vector<long double>> triangle(p, std::vector<long double>(p + 1, 0.0L));
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < p; ++k) columns[k][i] = instance->design[i * p + k];
        columns[p][i] = instance->labels[i];
    }
    const auto along = [&](int a, int b) {
        long double sum = 0.0L;
        for (int i = 0; i < n; ++i) sum += columns[a][i] * columns[b][i];
        return sum;
    };
    for (int k = 0; k <= p; ++k) {
        const long double before = std::sqrt(along(k, k));
        for (int twice = 0; twice < 2; ++twice) {
            for (int l = 0; l < std::min(k, p); ++l) {
                const long double part = along(l, k);
                triangle[l][k] += part;
                for (int i = 0; i < n; ++i) columns[k][i] -= part * columns[l][i];
            }
        }
        if (k == p) break;
        triangle[k][k] = std::sqrt(along(k, k));
        if (!(triangle[k][k] > 1e-12L * before)) return false;
        for (long double& x : columns[k]) x /= triangle[k][k];
    }
    std::vector<long double> beta(p);
    for (int k = p - 1; k >= 0; --k) {
        beta[k] = triangle[k][p];
        for (int l = k + 1; l < p; ++l) beta[k] -= triangle[k][l] * beta[l];
        beta[k] /= triangle[k][k];
    }
    instance->anchor.assign(beta.begin(), beta.end());
    return true;
}

Instance fitted(std::vector<double> design, std::vector<double> labels, std::vector<std::int32_t> counts) {
    const std::size_t n = labels.size();
    std::vector<double> anchor(design.size() / n);
    Instance instance = by_hand(std::move(design), std::move(labels), std::move(anchor), std::move(counts), n);
    CHECK(fit_by_projection(&instance));
    return instance;
}

enum class Family { near_duplicates, weak_direction, outlier, large_column, nearly_integer };

// Designs that are nearly singular, as a whole or for the rows that are drawn.
Instance ill_conditioned(Random& random, Family family, int n, int p, int draws) {
    for (;;) {
        Instance instance =
            random_instance(random, n, p, family == Family::nearly_integer ? RowKind::integers : RowKind::general,
                            integer(random, 0, 1) == 1 ? LabelKind::noise : LabelKind::clear, draws);
        std::vector<double>& x = instance.design;
        for (int i = 0; i < n; ++i) {
            double* row = &x[static_cast<std::size_t>(i) * p];
            if (family == Family::near_duplicates && i >= p && integer(random, 0, 2) > 0) {
                const double* other = &x[static_cast<std::size_t>(integer(random, 0, i - 1)) * p];
                for (int k = 0; k < p; ++k) row[k] = other[k] + 1e-8 * normal(random);
            }
            if (family == Family::weak_direction) row[p - 1] = row[0] + 1e-8 * normal(random);
            if (family == Family::outlier) {
                for (int k = 1; k < p; ++k) row[k] = std::nearbyint(10.0 * row[k]) / 10.0;
                if (i == n - 1) row[p - 1] = 99999.0;
            }
            if (family == Family::large_column) row[p - 1] *= 1e6;
            if (family == Family::nearly_integer && i % 3 == 0) row[p - 1] += 1e-9 * normal(random);
        }
        // few distinct rows: the draw, not the design, is singular or nearly so
        for (int d = 1; d < draws; d += 2) {
            std::int32_t* counts = &instance.counts[static_cast<std::size_t>(d) * n];
            std::fill_n(counts, n, 0);
            for (int i = 0; i < n; ++i) ++counts[integer(random, 0, p)];
        }
        if (fit_by_projection(&instance)) return instance;
    }
}

}  // namespace

// Two rows that differ by 1e-9 make a draw of (3, 1, 0, 0) nearly singular. beta = (-1, 0.4) classifies the first two
// rows right, with margins 1 and nearly so, and both others wrong, by 0.2: worth 2/4.
TEST(nearly_singular_draw) {
    const Instance instance =
        fitted({1.0, 0.0, 1.0, 1e-9, -3.0, -7.0, -1.0, -3.0}, {-1.0, -1.0, -1.0, 1.0}, {3, 1, 0, 0});
    const double beta[] = {-1.0, 0.4};
    CHECK_NEAR(worth(instance, 0, beta), 0.5, 1e-15);
    const Answer answer = solve(instance);
    CHECK_AT_MOST(0.5, answer.upper[0]);
    CHECK_NEAR(answer.upper[0], 0.5, 1e-12);  // and no score is larger
}

// The same with the second row closer and closer to the first.
TEST(closer_and_closer_rows) {
    Random random(241);
    for (int exponent = 0; exponent <= 16; ++exponent) {
        for (const double factor : {1.0, 3.0, -1.0}) {
            check::set_context("exponent", exponent, "factor", factor);
            const Instance instance =
                fitted({1.0, 0.0, 1.0, factor * std::pow(10.0, -exponent), -3.0, -7.0, -1.0, -3.0},
                       {-1.0, -1.0, -1.0, 1.0}, {3, 1, 0, 0});
            check_sound(random, instance, solve(instance));
        }
    }
}

// Ten patients with a column of one decimal, in which a 99999 was left.
TEST(a_code_left_in_a_column) {
    Random random(242);
    for (int trial = 0; trial < check::trials(60); ++trial) {
        check::set_context("trial", trial);
        Instance instance = ill_conditioned(random, Family::outlier, 10, 2, 4);
        instance.alpha = trial % 2 == 0 ? 10.0 : 1.0;
        check_sound(random, instance, solve(instance));
    }
}

// All families, and all losses.
TEST(ill_conditioned_designs) {
    Random random(243);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < (loss == Loss::SQUARED ? 60 : 10); ++trial) {
            const auto family = static_cast<Family>(trial % 5);
            const int p = 2 + trial / 5 % 2;
            check::set_context("loss", static_cast<int>(loss), "trial", trial, "family", trial % 5, "p", p);
            Instance instance = ill_conditioned(random, family, p == 2 ? 9 : 7, p, loss == Loss::SQUARED ? 4 : 1);
            instance.loss = loss;
            if (loss != Loss::SQUARED) instance.counts.assign(instance.counts.size(), 1);  // a loss with one minimizer
            for (int d = 0; d < instance.draws; ++d) {
                if (loss != Loss::SQUARED) instance.counts[static_cast<std::size_t>(d) * instance.n + d] = 3;
            }
            check_sound(random, instance, solve(instance));
        }
    }
}

// Hinge loss without curvature along a coordinate, and a minimizer of length 1e11 and more there: the slope that the
// proximal term compensates is below the rounding of its point. The largest deviation below is that of rows 0 and 1
// wrong, 1/3 + 1, which the coefficients below have at no more loss than the anchor; `upper` was 4e-13 with all but the
// smallest of these third coefficients of the anchor.
TEST(a_slope_below_the_rounding_of_a_distant_minimizer) {
    for (const double far : {1.0, 1e4, 1e6, 1e8}) {
        Instance instance;
        instance.n = 4;
        instance.p = 3;
        instance.loss = Loss::HINGE;
        instance.alpha = 4.0;
        instance.design = {1e8, 3.0, 0.0, -1.09375, 1.0, 7.0, 1e8, 3.0, 1.0 / 3.0, -1.0 / 3.0, 1e-4, -1.0};
        instance.labels = {1.0, -1.0, -1.0, 1.0};
        instance.anchor = {0.5, -1.0, far};
        instance.counts = {2, 0, 0, 0};
        instance.weights = {-1.0 / 3.0, -1.0, 2.90625, 0.1};
        instance.offset = {5.0, 1.375, -2.0, 3.4375};
        penalize({0.5, 3.21875, 0.0}, &instance);
        check::set_context("far", far);
        const Vector beta = {-5.70157e-08, 1.69986e-08, 3.60162e-09};
        const long double value = EnclosedValue(instance.view(), 0, Side::NEGATIVE).at(beta.data()).low;
        CHECK_NEAR(static_cast<double>(value), 4.0 / 3.0, 1e-12);
        const Answer answer = solve(instance, {}, Side::NEGATIVE);
        CHECK_AT_MOST(static_cast<double>(value), answer.upper[0] + 1e-12);
    }
}

// Each of many weights is a rounding error beside the largest one, and all of them together are not.
TEST(weights_that_count_together) {
    Instance instance = by_hand({}, {}, {1.0, 0.0}, {}, 0.0);
    double most = 1e12;
    for (int i = 0; i < 12; ++i) {
        instance.design.insert(instance.design.end(), {1.0, 0.1 * i});
        instance.labels.push_back(1.0);
        instance.counts.push_back(1);
        instance.weights.push_back(i == 0 ? 1e12 : 0.0625);
        most += i == 0 ? 0.0 : 0.0625;  // all are wrong at (-1, 0)
    }
    instance.n = 12;
    const Answer answer = solve(instance);
    CHECK_AT_MOST(most, answer.upper[0]);
}

// Squares of what is larger or smaller are no numbers.
TEST(sizes_that_are_refused) {
    for (const double size : {1e101, 1e-101}) {
        Instance instance = two_rows();
        instance.design = {size, size};
        CHECK_THROWS(solve(instance), std::invalid_argument,
                     "the largest absolute value of design must be 0 or in [1e-100, 1e100]");
        instance = two_rows();
        instance.sample_weight = {0.0, size};
        CHECK_THROWS(solve(instance), std::invalid_argument,
                     "the largest sample_weight must be 0 or in [1e-100, 1e100]");
        instance = two_rows();
        instance.offset = {0.0, -size};
        CHECK_THROWS(solve(instance), std::invalid_argument,
                     "the largest absolute value of offset must be 0 or in [1e-100, 1e100]");
    }
}

// Where alpha = 0 no loss counts, however large: both rows are wrong at (-100, 1e-9), in a cell as thin as 2e-10.
TEST(a_thin_cell_where_no_loss_counts) {
    for (const Loss loss : {Loss::SQUARED, Loss::LOGISTIC, Loss::EXPONENTIAL, Loss::SQUARED_HINGE, Loss::HUBER}) {
        check::set_context("loss", static_cast<int>(loss));
        Instance instance = by_hand({0.0, 0.5, -2.0, -1e10}, {-1.0, -1.0}, {1e12, -2.4375}, {3, 2}, 0.0, loss);
        instance.sample_weight = {1e12, 1e8};
        const Vector beta = {-100.0, 1e-9};
        CHECK_EQUAL(static_cast<double>(EnclosedValue(instance.view(), 0, Side::BOTH).at(beta.data()).low), 1.5);
        const Answer answer = solve(instance);
        CHECK_AT_MOST(1.5, answer.upper[0]);
        CHECK_AT_MOST(answer.lower[0], 1.5);
    }
}

// Rows that nearly repeat others in more dimensions, where a search without a limit went on forever: it ends, and what
// it leaves open says so.
TEST(near_duplicates_end) {
    Random random(244);
    for (int trial = 0; trial < check::trials(12); ++trial) {
        const int p = 4 + trial % 2;
        check::set_context("trial", trial, "p", p);
        const Instance instance = ill_conditioned(random, Family::near_duplicates, 24, p, 4);
        Limits limits;
        limits.nodes = 2000;
        const Answer answer = solve(instance, limits);
        for (int d = 0; d < instance.draws; ++d) {
            CHECK_AT_MOST(answer.lower[d], answer.upper[d]);
            CHECK_AT_MOST(answer.upper[d], 1.0);
            CHECK_EQUAL(answer.status[d] == Status::OPTIMAL, answer.lower[d] == answer.upper[d]);
        }
    }
}

// Weak labels in ten dimensions: the best open cell at beta = 0 is out of reach, and a search for it is what is going
// on whenever it is told to stop. It does, with bounds for every draw.
TEST(a_stop_is_answered) {
    Random random(245);
    for (const Loss loss : all_losses) {
        Instance instance = random_instance(random, 200, 10, RowKind::general, LabelKind::noise, 30);
        instance.loss = loss;
        for (const int threads : {1, 3}) {
            for (const std::vector<std::int64_t>& ranks :
                 {std::vector<std::int64_t>{28}, std::vector<std::int64_t>{}}) {
                check::set_context("loss", static_cast<int>(loss), "threads", threads, "ranks", ranks.size());
                int calls = 0;
                const Answer answer = solve_ranks(instance, ranks, {}, Side::BOTH, threads, nullptr,
                                                  [&](std::int64_t) { return ++calls < 2; });
                CHECK_EQUAL(calls, 2);
                int interrupted = 0;
                for (int d = 0; d < instance.draws; ++d) {
                    CHECK_AT_MOST(answer.lower[d], answer.upper[d]);
                    CHECK_AT_MOST(answer.upper[d], 1.0);
                    CHECK(answer.status[d] != Status::TIME_LIMIT && answer.status[d] != Status::NODE_LIMIT);
                    interrupted += answer.status[d] == Status::INTERRUPTED ? 1 : 0;
                }
                CHECK_AT_MOST(1, interrupted);
            }
        }
    }
}

// The same for time, of one search or of the whole call.
TEST(time_is_up) {
    Random random(246);
    for (const Loss loss : all_losses) {
        Instance instance = random_instance(random, 150, 8, RowKind::general, LabelKind::noise, 20);
        instance.loss = loss;
        Limits call;
        call.total_seconds = 0.1;
        Limits search;
        search.seconds = 0.003;
        Limits at_once;
        at_once.total_seconds = 0.0;
        for (const Limits& limits : {call, search, at_once}) {
            for (const std::vector<std::int64_t>& ranks :
                 {std::vector<std::int64_t>{18}, std::vector<std::int64_t>{}}) {
                check::set_context("loss", static_cast<int>(loss), "seconds", limits.total_seconds, "ranks",
                                   ranks.size());
                const Answer answer = solve_ranks(instance, ranks, limits, Side::BOTH, 2);
                int late = 0;
                for (int d = 0; d < instance.draws; ++d) {
                    CHECK_AT_MOST(answer.lower[d], answer.upper[d]);
                    CHECK_AT_MOST(answer.upper[d], 1.0);
                    CHECK(answer.status[d] != Status::INTERRUPTED);
                    if (std::isfinite(limits.total_seconds)) CHECK(answer.status[d] != Status::NODE_LIMIT);
                    late += answer.status[d] == Status::TIME_LIMIT ? 1 : 0;
                }
                CHECK_AT_MOST(1, late);
            }
        }
    }
}
