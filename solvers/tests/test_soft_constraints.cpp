// Least-distance problems with prices, and the factorization of their active normals.
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "cones/active_set.hpp"
#include "instances.hpp"
#include "linear_algebra/normal_basis.hpp"
#include "oracles.hpp"

namespace {

using cudbound::ActiveSet;
using cudbound::Constraints;
using cudbound::NormalBasis;
using cudbound::Sides;
using cudbound::SoftConstraints;
using oracle::Rows;
using oracle::Vector;
using Outcome = ActiveSet::Outcome;
constexpr double infinity = std::numeric_limits<double>::infinity();

Vector random_unit(Random& random, int p) {
    Vector a(p);
    for (double& x : a) x = normal(random);
    const double length = std::sqrt(oracle::dot(a, a));
    for (double& x : a) x /= length;
    return a;
}

SoftConstraints soft_of(const Rows& normals, const Vector& levels, const Vector& caps) {
    SoftConstraints soft;
    soft.p = static_cast<int>(normals[0].size());
    soft.count = static_cast<int>(normals.size());
    for (const Vector& a : normals) soft.normals.insert(soft.normals.end(), a.begin(), a.end());
    for (int l = 0; l < soft.p; ++l) {
        for (const Vector& a : normals) soft.columns.push_back(a[l]);
    }
    soft.levels = levels;
    soft.caps = caps;
    return soft;
}

double objective(const SoftConstraints& soft, const Vector& center, const Vector& v) {
    double sum = 0.0;
    for (int l = 0; l < soft.p; ++l) sum += (v[l] - center[l]) * (v[l] - center[l]);
    for (int i = 0; i < soft.count; ++i) {
        double along = 0.0;
        for (int l = 0; l < soft.p; ++l) along += soft.normal(i)[l] * v[l];
        sum += 2.0 * soft.caps[i] * std::max(0.0, soft.levels[i] - along);
    }
    return sum;
}

// Normals that come and go, as the basis is told of them.
struct Tracked {
    explicit Tracked(int p) : basis(p) {}
    void append(const Vector& a) {
        basis.project(a.data());
        basis.append();
        normals.push_back(a);
    }
    void drop(int k) {
        basis.drop(k);
        normals.erase(normals.begin() + k);
    }

    NormalBasis basis;
    Rows normals;
};

// Moves constraints until none is violated; returns the dual objective.
double minimize(ActiveSet& set, const Constraints& all, const std::vector<int>& forced, double value) {
    Vector violations(all.soft.count);
    for (int moves = 0; moves < 10000; ++moves) {
        int next = set.most_violated(all.soft, 1e-13, violations.data());
        double violation = next >= 0 ? violations[next] : 1e-13;
        const int side = all.sides.most_violated(forced, set.point(), violation);
        if (side >= 0) {
            next = all.label_of_side(side);
            violation = -all.sides.side(side, set.point());
        }
        if (next < 0) return value;
        const double before = value;
        CHECK(set.move(all, next, violation, &value, infinity) == Outcome::moved);
        CHECK(value >= before);
    }
    CHECK(false);
    return value;
}

}  // namespace

// The basis stays orthonormal and spans the normals, what is left of a vector is orthogonal to it, and both systems are
// solved.
TEST(normals_that_come_and_go) {
    Random random(191);
    for (int trial = 0; trial < check::trials(60); ++trial) {
        const int p = integer(random, 1, 7);
        Tracked tracked(p);
        for (int step = 0; step < 40; ++step) {
            check::set_context("trial", trial, "p", p, "step", step);
            const int size = static_cast<int>(tracked.normals.size());
            if (size < p && integer(random, 0, 2) > 0) {
                tracked.append(random_unit(random, p));
            } else if (size > 0) {
                tracked.drop(integer(random, 0, size - 1));
            }
            CHECK_EQUAL(tracked.basis.size(), static_cast<int>(tracked.normals.size()));
            const int now = tracked.basis.size();
            for (int a = 0; a < now; ++a) {
                for (int b = 0; b < now; ++b) {
                    double product = 0.0;
                    for (int i = 0; i < p; ++i) product += tracked.basis.column(a)[i] * tracked.basis.column(b)[i];
                    CHECK_NEAR(product, a == b ? 1.0 : 0.0, 1e-13);
                }
            }
            for (const Vector& normal : tracked.normals) {
                CHECK_NEAR(tracked.basis.project(normal.data()), 0.0, 1e-24);
            }
            // next to the span as far from it
            Vector any = random_unit(random, p);
            for (double& x : any) x *= integer(random, 0, 1) == 0 ? 1.0 : 1e-9;
            if (now > 0) {
                for (int i = 0; i < p; ++i) any[i] += tracked.normals[0][i];
            }
            const double outside = tracked.basis.project(any.data());
            const Vector rest(tracked.basis.rest(), tracked.basis.rest() + p);
            if (now == p) CHECK_EQUAL(outside, 0.0);
            CHECK_NEAR(outside, oracle::dot(rest, rest), 1e-15);
            for (int k = 0; k < now; ++k) {
                double product = 0.0;
                for (int i = 0; i < p; ++i) product += tracked.basis.column(k)[i] * rest[i];
                CHECK_NEAR(product, 0.0, 1e-13 * std::sqrt(outside));
            }
            for (int i = 0; i < p; ++i) {
                double sum = rest[i];
                for (int k = 0; k < now; ++k) sum += tracked.basis.along()[k] * tracked.basis.column(k)[i];
                CHECK_NEAR(sum, any[i], 1e-14);
            }
            // a vector of the span is found again from its weights, and from its products with the normals
            Vector weights;
            Vector sum(p, 0.0);
            for (const Vector& normal : tracked.normals) {
                weights.push_back(::normal(random));
                for (int i = 0; i < p; ++i) sum[i] += weights.back() * normal[i];
            }
            Vector found(p);
            tracked.basis.project(sum.data());
            tracked.basis.solve(tracked.basis.along(), found.data());
            for (std::size_t k = 0; k < weights.size(); ++k) CHECK_NEAR(found[k], weights[k], 1e-6);
            Vector products;
            for (const Vector& normal : tracked.normals) products.push_back(oracle::dot(normal, sum));
            tracked.basis.solve_transposed(products.data(), found.data());
            for (std::size_t k = 0; k < weights.size(); ++k) CHECK_NEAR(found[k], tracked.basis.along()[k], 1e-6);
        }
    }
}

// In one dimension from center 0, x >= 1 at a price of 2 cap_1 per unit, x >= 3 at 2 cap_2.
//   caps 1/2, 1/4: both multipliers at their caps, x = 3/4.  9/16 + 1/4 + 9/8
//   caps 2, 1/4: the first multiplier is 3/4, x = 1.  1 + 0 + 1
//   caps 1/2, 4: the second multiplier is 3, x = 3, and the first 0.  9
TEST(one_dimension_by_hand) {
    const Sides nothing{1, nullptr, nullptr, 0.0};
    const Vector center{0.0};
    struct Example {
        Vector caps;
        double point;
        double least;
    };
    for (const Example& example :
         {Example{{0.5, 0.25}, 0.75, 1.9375}, Example{{2.0, 0.25}, 1.0, 2.0}, Example{{0.5, 4.0}, 3.0, 9.0}}) {
        const SoftConstraints soft = soft_of({{1.0}, {1.0}}, {1.0, 3.0}, example.caps);
        const Constraints all{soft, nothing};
        ActiveSet set(1);
        set.reset(2);
        set.restore(all, center.data());
        CHECK_NEAR(minimize(set, all, {}, 0.0), example.least, 1e-14);
        CHECK_NEAR(set.point()[0], example.point, 1e-14);
    }
}

// The value found is that of the point, and no other point of the cone has a smaller one. Sides: half-spaces that hold
// a given point, so that they have points in common.
TEST(no_point_is_better) {
    Random random(192);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int p = integer(random, 1, 5);
        const int count = integer(random, 1, 12);
        check::set_context("trial", trial, "p", p, "count", count);
        Rows normals;
        Vector levels;
        Vector caps;
        for (int i = 0; i < count; ++i) {
            const bool copy = i > 0 && trial % 3 == 0 && integer(random, 0, 1) == 0;
            normals.push_back(copy ? normals[i - 1] : random_unit(random, p));
            if (copy && trial % 2 == 0) {
                for (double& x : normals[i]) x = -x;
            }
            levels.push_back(normal(random));
            caps.push_back(std::exp(normal(random)));
        }
        const SoftConstraints soft = soft_of(normals, levels, caps);
        Vector center(p);
        Vector inside(p);
        for (double& x : center) x = 2.0 * normal(random);
        for (double& x : inside) x = 2.0 * normal(random);
        std::vector<double> sides;
        std::vector<double> distances;
        std::vector<int> forced;
        for (int j = 0; j < trial % 4; ++j) {
            const Vector a = random_unit(random, p);
            sides.insert(sides.end(), a.begin(), a.end());
            distances.push_back(0.3 - oracle::dot(a, inside));
            forced.push_back(j);
        }
        const Constraints all{soft, {p, sides.data(), distances.data(), 0.0}};
        ActiveSet set(p);
        set.reset(count);
        set.restore(all, center.data());
        const double value = minimize(set, all, forced, 0.0);
        const Vector point(set.point(), set.point() + p);
        CHECK_NEAR(value, objective(soft, center, point), 1e-10 * (1.0 + value));
        for (const int j : forced) CHECK(all.sides.side(j, point.data()) >= -1e-12);
        for (int points = 0; points < 200; ++points) {
            Vector other = point;
            const double spread = std::pow(10.0, -integer(random, 0, 4));
            for (double& x : other) x += spread * normal(random);
            bool allowed = true;
            for (const int j : forced) allowed = allowed && all.sides.side(j, other.data()) >= 0.0;
            if (allowed) CHECK_AT_MOST(value, objective(soft, center, other) + 1e-10 * (1.0 + value));
        }
        // a fresh point is the same one, and a copy continues from there
        CHECK(set.restore(all, center.data()));
        for (int l = 0; l < p; ++l) CHECK_NEAR(set.point()[l], point[l], 1e-10);
        // Somewhere else, with the active constraints it starts from: the same as from nothing.
        for (double& x : center) x += normal(random);
        ActiveSet moved(p);
        moved = set;
        moved.restore(all, center.data());
        minimize(moved, all, forced, 0.0);
        set.reset(count);
        set.restore(all, center.data());
        const double least = minimize(set, all, forced, 0.0);
        CHECK_NEAR(objective(soft, center, {moved.point(), moved.point() + p}), least, 1e-9 * (1.0 + least));
    }
}

// From center 0 in one dimension: a side x >= 2 costs 4; a side x <= 1 in addition is infeasible.
TEST(limit_and_contradiction) {
    const SoftConstraints soft = soft_of({{1.0}}, {-10.0}, {1.0});
    const double normals[] = {1.0, -1.0};
    const double distances[] = {-2.0, 1.0};
    const Constraints all{soft, {1, normals, distances, 0.0}};
    const Vector center{0.0};
    for (const double limit : {3.9, 4.1}) {
        ActiveSet set(1);
        set.reset(1);
        set.restore(all, center.data());
        double value = 0.0;
        const Outcome outcome = set.move(all, all.label_of_side(0), 2.0, &value, limit);
        CHECK(outcome == (limit < 4.0 ? Outcome::too_far : Outcome::moved));
        if (outcome != Outcome::moved) continue;
        CHECK_NEAR(value, 4.0, 1e-15);
        CHECK(set.move(all, all.label_of_side(1), 1.0, &value, infinity) == Outcome::infeasible);
    }
}
