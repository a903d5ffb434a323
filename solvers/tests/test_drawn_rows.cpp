// The rows of one draw under a smooth loss: their value against the definition, derivatives against finite differences;
// and what self-concordance says of a loss far from its quadratic model.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "losses/drawn_rows.hpp"
#include "losses/l1_penalty.hpp"
#include "problem/loss.hpp"
#include "smooth_cases.hpp"

namespace {

using namespace smooth_cases;
using cudbound::DrawnRows;
using cudbound::Settings;

constexpr Dress dresses[] = {Dress::plain, Dress::penalty, Dress::free_intercept, Dress::weights, Dress::offset};

// Calls f(rows, setting) for problems with each dress, and zero rows among them.
template <Loss kind, class F>
void for_all(std::uint64_t seed, const F& f) {
    Random random(seed);
    for (int trial = 0; trial < check::trials(60); ++trial) {
        check::set_context("loss", static_cast<int>(kind), "trial", trial);
        const int p = 1 + trial % 4;
        Instance instance =
            random_problem(random, kind, p, p + 6, trial % 2 == 0 ? RowKind::general : RowKind::integers,
                           LabelKind::noise, dresses[trial % 5]);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        DrawnRows<kind> rows(problem, arrangement);
        rows.keep_all();
        rows.set(0);
        Vector beta(p);
        for (double& x : beta) x = normal(random);
        f(rows, problem, beta);
    }
}

template <class F>
void for_all_losses(std::uint64_t seed, const F& f) {
    for_all<Loss::LOGISTIC>(seed, f);
    for_all<Loss::EXPONENTIAL>(seed + 1, f);
    for_all<Loss::SQUARED_HINGE>(seed + 2, f);
    for_all<Loss::HUBER>(seed + 3, f);
}

// The derivative of f along coefficient k.
template <class F>
double along(const F& f, Vector beta, std::size_t k) {
    constexpr double h = 1e-5;
    beta[k] += h;
    const double above = f(beta);
    beta[k] -= 2.0 * h;
    return (above - f(beta)) / (2.0 * h);
}

bool near_a_kink(const Problem& problem, const Vector& beta) {
    for (int i = 0; i < problem.n; ++i) {
        double margin = problem.shift(i);
        for (int k = 0; k < problem.p; ++k) margin += problem.labels[i] * problem.design[i * problem.p + k] * beta[k];
        if (std::abs(std::abs(margin) - 1.0) < 1e-3) return true;
    }
    return false;
}

}  // namespace

TEST(the_loss_is_that_of_its_definition) {
    for_all_losses(301, [](auto& rows, const Problem& problem, const Vector& beta) {
        const double exact = static_cast<double>(problem.n) * oracle::loss(problem, 0, beta.data());
        CHECK_NEAR(rows.loss(beta.data()), exact, 1e-13 * (1.0 + exact));
        const auto value = rows.measure(beta.data());
        CHECK_NEAR(value.total, exact, 1e-13 * (1.0 + exact));
        CHECK_EQUAL(value.dropped, 0.0);
        double penalty = 0.0;
        for (int k = 0; k < problem.p && problem.penalty != nullptr; ++k)
            penalty += problem.n * problem.penalty[k * problem.p + k] * beta[k] * beta[k];
        CHECK_NEAR(rows.penalty(beta.data()), penalty, 1e-13 * (1.0 + penalty));
    });
}

TEST(gradients) {
    for_all_losses(311, [](auto& rows, const Problem& problem, const Vector& beta) {
        const auto p = static_cast<std::size_t>(problem.p);
        Vector gradient(p);
        Vector slope(p);
        rows.measure(beta.data());
        rows.gradient(beta.data(), gradient.data());
        rows.penalty_slope(beta.data(), slope.data());
        const double size = 1.0 + rows.loss(beta.data());
        for (std::size_t k = 0; k < p; ++k) {
            CHECK_NEAR(gradient[k], along([&](const Vector& b) { return rows.loss(b.data()); }, beta, k), 1e-7 * size);
            CHECK_NEAR(slope[k], along([&](const Vector& b) { return rows.penalty(b.data()); }, beta, k), 1e-7 * size);
        }
        const Vector exact = oracle::gradient(problem, 0, beta);
        for (std::size_t k = 0; k < p; ++k) CHECK_NEAR(gradient[k], exact[k], 1e-12 * size);
    });
}

TEST(hessians) {
    for_all_losses(321, [](auto& rows, const Problem& problem, const Vector& beta) {
        if (near_a_kink(problem, beta)) return;
        const auto p = static_cast<std::size_t>(problem.p);
        const double size = 1.0 + rows.loss(beta.data());
        cudbound::Vector<double> hessian(p * p);
        rows.measure(beta.data());
        rows.hessian(hessian);
        for (std::size_t a = 0; a < p; ++a) {
            const auto slope = [&](const Vector& b) {
                Vector gradient(p);
                rows.measure(b.data());
                rows.gradient(b.data(), gradient.data());
                return gradient[a];
            };
            for (std::size_t b = a; b < p; ++b) CHECK_NEAR(hessian[a * p + b], along(slope, beta, b), 1e-6 * size);
        }
        // with given curvatures: that of the penalty and of each row, times its mass
        std::vector<double> expected = rows.ridge();
        for (std::size_t i = 0; i < rows.count(); ++i) {
            const double bend = 0.5 + static_cast<double>(i);
            rows.set_bend(i, bend);
            for (std::size_t a = 0; a < p; ++a) {
                for (std::size_t b = 0; b < p; ++b)
                    expected[a * p + b] += rows.mass(i) * bend * rows.column(a)[i] * rows.column(b)[i];
            }
        }
        rows.hessian(hessian);
        for (std::size_t a = 0; a < p; ++a) {
            for (std::size_t b = a; b < p; ++b)
                CHECK_NEAR(hessian[a * p + b], expected[a * p + b], 1e-12 * (1.0 + std::abs(expected[a * p + b])));
        }
    });
}

// What a row can lose by rounding: its slope times its length.
TEST(steepness) {
    for_all_losses(331, [](auto& rows, const Problem& problem, const Vector& beta) {
        rows.measure(beta.data());
        long double expected = 0.0L;
        for (int i = 0; i < problem.n; ++i) {
            long double margin = problem.shift(i);
            long double length2 = 0.0L;
            for (int k = 0; k < problem.p; ++k) {
                const long double x = problem.design[i * problem.p + k];
                margin += problem.labels[i] * x * beta[static_cast<std::size_t>(k)];
                length2 += x * x;
            }
            expected +=
                std::abs(problem.mass(0, i) * oracle::surrogate(problem.loss, margin).slope) * std::sqrt(length2);
        }
        const auto sum = static_cast<double>(expected);
        CHECK_NEAR(rows.steepness(), sum, 1e-12 * (1.0 + sum));
    });
}

// The longest curved row in metrics near and far from the first one, with which rows are compared from then on.
TEST(longest) {
    Random random(341);
    for (int trial = 0; trial < check::trials(60); ++trial) {
        check::set_context("trial", trial);
        const int p = 1 + trial % 5;
        const auto k = static_cast<std::size_t>(p);
        Instance instance =
            random_problem(random, Loss::LOGISTIC, p, 40 * p, RowKind::general, LabelKind::noise, dresses[trial % 5]);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        DrawnRows<Loss::LOGISTIC> rows(problem, arrangement);
        rows.set(0);
        const Vector beta(k, 0.0);
        for (int metric = 0; metric < 12; ++metric) {
            rows.measure(beta.data());
            for (std::size_t i = 0; i < rows.count(); ++i) {
                const bool is_flat = metric % 3 == 1 && normal(random) > 0.0;
                rows.set_bend(i, is_flat ? 0.0 : std::exp(0.3 * metric * normal(random)));
            }
            cudbound::Vector<double> hessian(k * k);
            rows.hessian(hessian);
            for (std::size_t a = 0; a < k; ++a) hessian[a * (k + 1)] += 1e-3;
            if (metric == 11) {  // powers of what is that far away are no longer numbers
                for (double& x : hessian) x *= 1e90;
            }
            cudbound::Cholesky factor(p);
            CHECK(factor.factorize(hessian, 0.0));
            const double found = rows.longest(factor);
            const auto& lengths2 = rows.measure_lengths(factor);
            double expected = 0.0;
            for (std::size_t i = 0; i < rows.count(); ++i) {
                if (rows.bend(i) > 0.0) expected = std::max(expected, std::sqrt(lengths2[i]));
            }
            CHECK_EQUAL(found, expected);
        }
    }
}

// Margins b and -2 b, as far out as numbers go.
TEST(logistic_rows_far_out) {
    const Instance instance = two_rows(Loss::LOGISTIC);
    const Problem problem = instance.view();
    const auto arrangement = cudbound::merge_rows(problem);
    DrawnRows<Loss::LOGISTIC> rows(problem, arrangement);
    rows.keep_all();
    rows.set(0);
    for (const double beta : {700.0, 708.5, 709.5, 1e10, 1e300}) {
        CHECK_EQUAL(rows.measure(&beta).total, 4.0 * beta);  // the second row counts twice
        const double other = -beta;
        CHECK_EQUAL(rows.measure(&other).total, beta);
    }
    const double unknown = std::nan("");
    CHECK(std::isnan(rows.measure(&unknown).total));
}

// Huber's loss is curved for margins from -1 to 1. Rows 1 and 2, labels +1 and -1: margins b and -2 b.
TEST(pieces_by_hand) {
    const Instance instance = two_rows(Loss::HUBER);
    const Problem problem = instance.view();
    const auto arrangement = cudbound::merge_rows(problem);
    DrawnRows<Loss::HUBER> rows(problem, arrangement);
    rows.set(0);
    const auto keeps = [&](double from, double step) { return rows.keep_pieces(&from, &step); };
    CHECK(keeps(0.0, 0.4));
    CHECK(keeps(0.0, -0.4));
    CHECK(!keeps(0.0, 0.6));   // margin -1.2 of the second row
    CHECK(!keeps(0.0, -0.6));  // and 1.2
    CHECK(keeps(0.7, 0.2));    // the second is on a linear piece already, the first stays on its own
    CHECK(!keeps(0.7, 0.4));
    CHECK(keeps(1.5, -5.0));  // neither is curved
}

// Rows 1 and 3 with labels +1 at b = 10: losses e^-10 = 5e-5 and e^-30 = 9e-14 of which the second is left out. At
// b = 6.5 it is e^-19.5 = 3.4e-9: out until it exceeds 1e-8, if it has been out.
TEST(rows_without_loss_by_hand) {
    for (const Loss loss : {Loss::EXPONENTIAL, Loss::LOGISTIC}) {
        const Instance instance = by_hand({1.0, 3.0}, {1.0, 1.0}, {1.0}, {1, 1}, 1.0, loss);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        const auto check_rows = [&](auto&& rows) {
            rows.set(0);
            const auto dropped_at = [&rows](double beta) { return rows.measure(&beta).dropped; };
            const auto close = [](double a, double b) { CHECK_NEAR(a, b, 1e-6 * b); };
            CHECK_EQUAL(dropped_at(6.5), 0.0);
            close(dropped_at(10.0), std::exp(-30.0));
            close(dropped_at(6.5), std::exp(-19.5));
            const double beta = 6.5;
            double slope = 0.0;
            cudbound::Vector<double> hessian(1);
            rows.gradient(&beta, &slope);
            rows.hessian(hessian);
            const double e = std::exp(-6.5);  // that of the first row alone
            CHECK_NEAR(slope, loss == Loss::EXPONENTIAL ? -e : -e / (1.0 + e), 1e-15);
            CHECK_NEAR(hessian[0], loss == Loss::EXPONENTIAL ? e : e / ((1.0 + e) * (1.0 + e)), 1e-15);
            CHECK_EQUAL(dropped_at(6.0), 0.0);  // e^-18 = 1.5e-8
            CHECK_EQUAL(dropped_at(6.5), 0.0);
            // as soon as it falls below the higher threshold
            rows.coarsen();
            CHECK_EQUAL(rows.vanished(), Settings::returned);
            close(dropped_at(6.5), std::exp(-19.5));
            rows.readmit();
            CHECK_EQUAL(rows.vanished(), Settings::vanished);
            CHECK_EQUAL(dropped_at(6.5), 0.0);
            close(dropped_at(10.0), std::exp(-30.0));
            // another draw begins with all of them, and if they are kept, none is left out
            rows.set(0);
            CHECK_EQUAL(dropped_at(6.5), 0.0);
            rows.keep_all();
            CHECK_EQUAL(dropped_at(10.0), 0.0);
            CHECK_EQUAL(rows.vanished(), 0.0);
        };
        if (loss == Loss::EXPONENTIAL) {
            check_rows(DrawnRows<Loss::EXPONENTIAL>(problem, arrangement));
        } else {
            check_rows(DrawnRows<Loss::LOGISTIC>(problem, arrangement));
        }
    }
}

// The largest of nu t - h(t) over t, and the t with h(t) = rise, of h(t) = (exp(-r t) + r t - 1) / r^2, in long double.
TEST(self_concordance) {
    const auto h = [](long double t, long double r) { return (std::expm1(-r * t) + r * t) / (r * r); };
    for (const double r : {1e-7, 1e-3, 0.1, 1.0, 7.0, 300.0}) {
        for (const double x : {1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999}) {
            check::set_context("r", r, "x", x);
            // where exp(-r t) = 1 - r nu
            const long double nu = static_cast<long double>(x) / r;
            const long double t = -std::log1p(-static_cast<long double>(x)) / r;
            const auto expected = static_cast<double>(x < 1e-4 ? 0.5L * nu * nu : nu * t - h(t, r));
            const double found = cudbound::undercut(static_cast<double>(nu), r);
            CHECK_NEAR(found, expected, (x < 1e-4 ? 1e-4 : 1e-9) * expected);
        }
        CHECK_EQUAL(cudbound::undercut(1.0 / r, r), infinity);
        CHECK_EQUAL(cudbound::undercut(3.0 / r, r), infinity);
        for (const double rise : {1e-9, 1e-4, 0.3, 1.0, 20.0, 1e4}) {
            check::set_context("r", r, "rise", rise);
            const double found = cudbound::farthest(rise, r);
            // never less, and no more than bisection leaves
            if (r * found > 1e-3) {
                CHECK_AT_MOST(rise, static_cast<double>(h(found, r)) * (1.0 + 1e-9));
                CHECK_AT_MOST(static_cast<double>(h(found * 0.99, r)), rise);
            } else {
                CHECK_NEAR(found, std::sqrt(2.0 * rise), 0.01 * found);
                CHECK_AT_MOST(std::sqrt(2.0 * rise), found * (1.0 + 1e-12));
            }
        }
    }
}

// In the caller's coordinates coef = map beta with map = (1, 2; 0, 0; 1, -1): prices n l1_j, of which the second
// coefficient is always 0 and the third costs nothing.
TEST(l1_penalty_by_hand) {
    Instance instance = by_hand({1.0, 0.0, 0.0, 1.0}, {1.0, -1.0}, {0.5, 0.25}, {1, 1}, 1.0, Loss::LOGISTIC);
    instance.l1 = {0.1, 0.2, 0.0};
    instance.raw.p = 3;
    instance.raw.design = {1.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    instance.raw.anchor = {1.0, -2.0, 0.25};
    instance.raw.map = {1.0, 2.0, 0.0, 0.0, 1.0, -1.0};
    instance.raw.exact = instance.design;
    const Problem problem = instance.view();
    const cudbound::L1Penalty l1(problem);
    CHECK(l1.exists());
    CHECK_EQUAL(l1.count(), 1);
    CHECK_NEAR(l1.price(0), 0.2, 1e-16);
    CHECK_NEAR(l1.of_anchor(), 0.2 * 1.0 + 0.4 * 2.0, 1e-14);
    CHECK_AT_MOST(0.2 * 1.0 + 0.4 * 2.0, l1.of_anchor());
    CHECK_EQUAL(l1.side_of_anchor(0), 1.0);
    const double beta[] = {3.0, -4.0};
    CHECK_EQUAL(l1.at(0, beta), -5.0);
    CHECK_NEAR(l1.value(beta), 1.0, 1e-15);
    // |t| s = s t + 2 s max(0, -t) with the normal (1, 2) / sqrt(5) and a cap of s sqrt(5) / unit
    cudbound::SoftConstraints terms;
    l1.place(
        [&](int j, double* unit) {
            std::copy_n(l1.row(j), 2, unit);
            return -5.0;
        },
        0.5, terms);
    CHECK_EQUAL(terms.count, 1);
    CHECK_NEAR(terms.normals[0], 1.0 / std::sqrt(5.0), 1e-15);
    CHECK_NEAR(terms.normals[1], 2.0 / std::sqrt(5.0), 1e-15);
    CHECK(terms.columns == terms.normals);
    CHECK_NEAR(terms.levels[0], 5.0 / std::sqrt(5.0), 1e-15);
    CHECK_NEAR(terms.caps[0], 0.2 * std::sqrt(5.0) / 0.5, 1e-15);
}
