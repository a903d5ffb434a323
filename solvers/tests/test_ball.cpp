// The coordinates in which n (L(beta) - min L) = |u|^2, v = (u, z) with z along the flat directions of the loss.
#include <cmath>
#include <limits>

#include "check.hpp"
#include "cudbound/settings.hpp"
#include "instances.hpp"
#include "losses/ball.hpp"
#include "oracles.hpp"

namespace {

using cudbound::Ball;
using cudbound::Problem;

enum class Kind { full, deficient, penalty, deficient_penalty };
constexpr Kind kinds[] = {Kind::full, Kind::deficient, Kind::penalty, Kind::deficient_penalty};

// deficient: fewer drawn rows than coefficients. The penalty matrix has rank 1 in deficient_penalty, else full rank.
Instance random_problem(Random& random, int p, Kind kind) {
    Instance instance = random_instance(random, p + 6, p, RowKind::homogeneous, LabelKind::clear);
    const bool deficient = kind == Kind::deficient || kind == Kind::deficient_penalty;
    if (deficient) {
        for (int i = 0; i < instance.n; ++i) instance.counts[i] = 0;
        const int drawn = kind == Kind::deficient ? p - 1 : p - 2;
        for (int i = 0; i < drawn; ++i) instance.counts[i] = 1 + integer(random, 0, 3);
    }
    if (kind == Kind::penalty || kind == Kind::deficient_penalty) {
        instance.penalty.assign(static_cast<std::size_t>(p) * p, 0.0);
        for (int rank = kind == Kind::penalty ? p : 1; rank > 0; --rank) {
            std::vector<double> w(p);
            for (double& x : w) x = 0.3 * normal(random);
            for (int a = 0; a < p; ++a) {
                for (int b = 0; b < p; ++b) instance.penalty[static_cast<std::size_t>(a) * p + b] += w[a] * w[b];
            }
        }
        double anchor_penalty = 0.0;
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) {
                anchor_penalty +=
                    instance.anchor[a] * instance.penalty[static_cast<std::size_t>(a) * p + b] * instance.anchor[b];
            }
        }
        instance.anchor_penalty = anchor_penalty + 0.25;
    }
    return instance;
}

int expected_rank(Kind kind, int p) { return kind == Kind::full || kind == Kind::penalty ? p : p - 1; }

std::vector<double> beta_of(const Ball& ball, const std::vector<double>& v) {
    std::vector<double> beta(v.size());
    ball.to_beta(v.data(), beta.data());
    return beta;
}

double curved(const Ball& ball, const std::vector<double>& v) {
    double sum = 0.0;
    for (int k = 0; k < ball.rank; ++k) sum += v[k] * v[k];
    return sum;
}

}  // namespace

// p = 1, rows 1 and 2 with labels +1, -1 and counts 1, 2: n L = (1 - b)^2 + 2 (1 + 2 b)^2 = 9 b^2 + 6 b + 3, least at
// b = -1/3 with 2. Anchor 1: n L = 18, so radius2 = 16; beta = 0: 3, so apex2 = 1.
TEST(one_dimension_by_hand) {
    const Instance instance = two_rows();
    const Problem problem = instance.view();
    const auto arrangement = cudbound::merge_rows(problem);
    Ball ball(problem, arrangement);
    ball.set(0);
    CHECK_EQUAL(ball.rank, 1);
    CHECK_NEAR(ball.radius2, 16.0, 1e-13);
    CHECK_NEAR(ball.apex2, 1.0, 1e-14);
    CHECK_NEAR(beta_of(ball, {0.0})[0], -1.0 / 3.0, 1e-15);
    CHECK_NEAR(beta_of(ball, {3.0})[0], 2.0 / 3.0, 1e-15);
}

// n (L(beta) - L(minimizer)) = |u|^2 for any beta, and v = 0 is a minimizer.
TEST(coordinates_reproduce_the_loss) {
    Random random(61);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const Kind kind = kinds[trial % 4];
        const int p = integer(random, 2, 6);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const Instance instance = random_problem(random, p, kind);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        Ball ball(problem, arrangement);
        ball.set(0);
        CHECK_EQUAL(ball.rank, expected_rank(kind, p));
        const std::vector<double> minimizer = beta_of(ball, std::vector<double>(p, 0.0));
        const double least = problem.n * oracle::loss(problem, 0, minimizer.data());
        for (int points = 0; points < 10; ++points) {
            std::vector<double> v(p);
            for (int k = 0; k < p; ++k) v[k] = normal(random) * (k < ball.rank ? 1.0 : cudbound::Settings::flat_step);
            const std::vector<double> beta = beta_of(ball, v);
            const double excess = problem.n * oracle::loss(problem, 0, beta.data()) - least;
            double size = 1.0 + least;
            for (const double x : beta) size += x * x;
            CHECK_NEAR(excess, curved(ball, v), 1e-9 * size);
        }
    }
}

// The coordinates of the anchor and of beta = 0 lead back to them, and their losses are radius2 and apex2. The penalty
// of the anchor may exceed the one of the matrix (here by 1/4): that counts n/4 in radius2.
TEST(anchor_and_apex) {
    Random random(62);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const Kind kind = kinds[trial % 4];
        const int p = integer(random, 2, 6);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const Instance instance = random_problem(random, p, kind);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        Ball ball(problem, arrangement);
        ball.set(0);
        const std::vector<double> anchor = beta_of(ball, ball.anchor);
        const std::vector<double> zero = beta_of(ball, ball.apex);
        const std::vector<double> minimizer = beta_of(ball, std::vector<double>(p, 0.0));
        double size = 1.0;
        for (const double x : minimizer) size += std::abs(x);
        for (int k = 0; k < p; ++k) {
            CHECK_NEAR(anchor[k], instance.anchor[k], 1e-9 * size);
            CHECK_NEAR(zero[k], 0.0, 1e-9 * size);
        }
        const double least = oracle::loss(problem, 0, minimizer.data());
        const std::vector<double> nothing(p, 0.0);
        CHECK_NEAR(ball.radius2, problem.n * (oracle::anchor_loss(problem, 0) - least), 1e-9 * size * size);
        CHECK_NEAR(ball.apex2, problem.n * (oracle::loss(problem, 0, nothing.data()) - least), 1e-9 * size * size);
        CHECK_NEAR(curved(ball, ball.apex), ball.apex2, 1e-12 * size * size);
        CHECK(ball.error > 0.0);
    }
}

// unit'v + offset is normal'beta times a positive constant, which does not depend on v; the unit normal has length one.
// Hyperplanes of drawn rows have no flat part; the normal of a row that was not drawn has one if the draw is deficient.
TEST(places_preserve_sides) {
    Random random(63);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const Kind kind = kinds[trial % 4];
        const int p = integer(random, 2, 6);
        const Instance instance = random_problem(random, p, kind);
        const Problem problem = instance.view();
        const auto arrangement = cudbound::merge_rows(problem);
        Ball ball(problem, arrangement);
        ball.set(0);
        for (int i = 0; i < instance.n; ++i) {
            check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind), "row", i);
            const int hyperplane = arrangement.of_row[i];
            const std::vector<double> row(arrangement.normal(hyperplane), arrangement.normal(hyperplane) + p);
            std::vector<double> unit(p);
            double offset = 0.0;
            const bool flat = ball.place(hyperplane, unit.data(), &offset);
            CHECK_NEAR(oracle::dot(unit, unit), 1.0, 1e-12);
            CHECK_EQUAL(flat, ball.rank < p && instance.counts[i] == 0);
            double scale = 0.0;
            for (int points = 0; points < 5; ++points) {
                std::vector<double> v(p);
                for (int k = 0; k < p; ++k)
                    v[k] = normal(random) * (k < ball.rank ? 1.0 : cudbound::Settings::flat_step);
                const double original = oracle::dot(row, beta_of(ball, v));
                const double side = oracle::dot(unit, v) + offset;
                if (std::abs(original) < 1e-4) continue;
                CHECK(original * side > 0.0);
                if (scale == 0.0) scale = side / original;
                CHECK_NEAR(side / original, scale, 1e-6 * std::abs(scale));
            }
        }
    }
}

// Rows e_1, e_2 and e_1 + e_2 of three coefficients are flat along the third, which follows from the rows themselves.
// It does not where the third row is off that plane by a rounding error, or where a penalty on the first coefficient
// has a share in it.
TEST(flat_directions_are_certain_if_the_rows_tell) {
    for (const double off : {0.0, 1e-14}) {
        for (const bool penalized : {false, true}) {
            check::set_context("off", off, "penalized", penalized);
            Instance instance = by_hand({1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, off, 0.0, 0.0, 1.0},
                                        {1.0, -1.0, 1.0, 1.0}, {0.1, 0.2, 0.3}, {1, 1, 1, 0}, 1.0);
            if (penalized) penalize({0.5, 0.0, 0.0}, &instance);
            const Problem problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            Ball ball(problem, arrangement);
            ball.set(0);
            CHECK_EQUAL(ball.rank, 2);
            CHECK_EQUAL(ball.certain, off == 0.0 && !penalized);
        }
    }
}
