// Eigenvectors of small symmetric matrices, and the coordinates that they give for a penalty.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "cudbound/settings.hpp"
#include "instances.hpp"
#include "linear_algebra/symmetric_eigen.hpp"
#include "losses/hinge.hpp"
#include "oracles.hpp"

namespace {

using cudbound::PenaltyCoordinates;
using cudbound::SymmetricEigen;
using oracle::Vector;

// sum_k strength_k w_k w_k' for `rank` random w.
Vector random_matrix(Random& random, int p, int rank, double spread) {
    Vector matrix(static_cast<std::size_t>(p) * p, 0.0);
    for (int k = 0; k < rank; ++k) {
        Vector w(p);
        for (double& x : w) x = normal(random);
        const double strength = std::pow(spread, k);
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) matrix[static_cast<std::size_t>(a) * p + b] += strength * (w[a] * w[b]);
        }
    }
    return matrix;
}

double penalty_of(const Instance& instance, const Vector& beta) {
    double sum = 0.0;
    for (int a = 0; a < instance.p; ++a) {
        for (int b = 0; b < instance.p; ++b) {
            sum += beta[a] * instance.penalty[static_cast<std::size_t>(a) * instance.p + b] * beta[b];
        }
    }
    return instance.n * sum;
}

Instance instance_with(const Vector& penalty, int p) {
    Instance instance;
    instance.n = p;
    instance.p = p;
    instance.design.assign(static_cast<std::size_t>(p) * p, 0.0);
    for (int k = 0; k < p; ++k) instance.design[static_cast<std::size_t>(k) * p + k] = 1.0;
    instance.labels.assign(p, 1.0);
    instance.anchor.assign(p, 0.0);
    instance.counts.assign(p, 1);
    instance.penalty = penalty;
    return instance;
}

}  // namespace

// [[2, 1], [1, 2]] has eigenvalues 1 along (1, -1) and 3 along (1, 1).
TEST(eigenvalues_by_hand) {
    const Vector matrix{2.0, 1.0, 1.0, 2.0};
    const SymmetricEigen eigen(2, matrix.data());
    const int low = eigen.values[0] < eigen.values[1] ? 0 : 1;
    CHECK_NEAR(eigen.values[low], 1.0, 1e-15);
    CHECK_NEAR(eigen.values[1 - low], 3.0, 1e-15);
    CHECK_NEAR(eigen.vectors[2 * low] + eigen.vectors[2 * low + 1], 0.0, 1e-15);
    CHECK_NEAR(eigen.vectors[2 - 2 * low] - eigen.vectors[3 - 2 * low], 0.0, 1e-15);
}

TEST(eigenvectors_reproduce_the_matrix) {
    Random random(181);
    for (int trial = 0; trial < check::trials(100); ++trial) {
        const int p = integer(random, 1, 12);
        const int rank = trial % 2 == 0 ? p : integer(random, 0, p);
        check::set_context("trial", trial, "p", p, "rank", rank);
        const Vector matrix = random_matrix(random, p, rank, trial % 3 == 0 ? 0.1 : 1.0);
        double largest = 0.0;
        for (const double x : matrix) largest = std::max(largest, std::abs(x));
        const SymmetricEigen eigen(p, matrix.data());
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) {
                double product = 0.0;
                double sum = 0.0;
                for (int k = 0; k < p; ++k) {
                    product += eigen.vectors[a * p + k] * eigen.vectors[b * p + k];
                    sum += eigen.values[k] * eigen.vectors[k * p + a] * eigen.vectors[k * p + b];
                }
                CHECK_NEAR(product, a == b ? 1.0 : 0.0, 1e-14);
                CHECK_NEAR(sum, matrix[static_cast<std::size_t>(a) * p + b], 1e-14 * p * largest);
            }
        }
    }
}

// The penalty is that of the definition, a function keeps its values, and a step along v of length d in the direction
// of a unit normal changes the penalty by at least the curvature times d^2.
TEST(penalty_is_a_sum_of_squares) {
    Random random(182);
    for (int trial = 0; trial < check::trials(100); ++trial) {
        const int p = integer(random, 1, 8);
        const int rank = trial % 2 == 0 ? p : integer(random, 0, p - 1);
        check::set_context("trial", trial, "p", p, "rank", rank);
        const Instance instance = instance_with(random_matrix(random, p, rank, 1.0), p);
        const PenaltyCoordinates coordinates(instance.view());
        CHECK_EQUAL(coordinates.lent(), p - rank);
        for (int points = 0; points < 10; ++points) {
            Vector beta(p);
            Vector slope(p);
            for (double& x : beta) x = normal(random);
            for (double& x : slope) x = normal(random);
            Vector v(p);
            Vector back(p);
            Vector unit(p);
            coordinates.from_beta(beta.data(), v.data());
            coordinates.to_beta(v.data(), back.data());
            for (int k = 0; k < p; ++k) CHECK_NEAR(back[k], beta[k], 1e-12);
            const double exact = penalty_of(instance, beta);
            CHECK_NEAR(coordinates.penalty(v.data()), exact, 1e-12 * (1.0 + exact));
            coordinates.normal_from_beta(slope.data(), unit.data());
            const double length = std::sqrt(oracle::dot(unit, unit));
            CHECK_NEAR(oracle::dot(unit, v), oracle::dot(slope, beta), 1e-12 * (1.0 + length));
            for (double& x : unit) x /= length;
            const double curvature = coordinates.curvature(unit.data());
            const double distance = oracle::dot(unit, v);
            CHECK_NEAR(curvature, rank == p ? 1.0 : 0.0, 1e-12);
            CHECK_AT_MOST(curvature * distance * distance, exact * (1.0 + 1e-12));
        }
    }
}

// One strength far below the others, in units of the design's mean curvature 1: as it is down to `hinge_curved`, then
// with a share of what is lent, and none from `hinge_flat` on.
TEST(weak_penalties) {
    using cudbound::Settings;
    for (const double strength : {1e-6, 1e-10, 1e-15}) {
        check::set_context("strength", strength);
        const Vector penalty{0.5, 0.0, 0.0, 0.5 * strength};  // n = 2
        const PenaltyCoordinates coordinates(instance_with(penalty, 2).view());
        const Vector beta{0.0, 3.0};
        Vector v(2);
        coordinates.from_beta(beta.data(), v.data());
        const Vector along{0.0, 1.0};
        const double curvature = coordinates.curvature(along.data());
        if (strength > Settings::hinge_curved) {
            CHECK_EQUAL(coordinates.lent(), 0);
            CHECK_EQUAL(curvature, 1.0);
        } else if (strength > Settings::hinge_flat) {
            CHECK_EQUAL(coordinates.lent(), 1);
            const double share = Settings::hinge_lent / (Settings::hinge_lent + strength);
            CHECK_NEAR(coordinates.share(1), share, 1e-15);
            CHECK_NEAR(curvature, 1.0 - share, 1e-12 * curvature);
        } else {
            CHECK_EQUAL(coordinates.share(1), 1.0);
            CHECK_EQUAL(curvature, 0.0);
        }
        const double kept = strength > Settings::hinge_flat ? 9.0 * strength : 0.0;
        CHECK_NEAR(coordinates.penalty(v.data()), kept, 1e-9 * 9.0 * strength);
    }
}
