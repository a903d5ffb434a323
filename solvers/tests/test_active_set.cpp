// The dual active-set method:  min |v|^2  s.t.  a_j'v + d_j >= 0,  unit normals a_j in R^p.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "cones/active_set.hpp"
#include "instances.hpp"
#include "oracles.hpp"

namespace {

using cudbound::ActiveSet;
using oracle::Rows;
using oracle::Vector;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Polyhedron {
    int p = 0;
    Rows normals;
    Vector offsets;

    int size() const { return static_cast<int>(normals.size()); }
    double margin(int j, const double* v) const {
        double sum = offsets[j];
        for (int k = 0; k < p; ++k) sum += normals[j][k] * v[k];
        return sum;
    }
    void add(Vector normal, double offset) {
        const double length = std::sqrt(oracle::dot(normal, normal));
        for (double& x : normal) x /= length;
        normals.push_back(normal);
        offsets.push_back(offset / length);
    }
};

// A set that knows sides alone, by the normals that it is given.
class Forced {
 public:
    explicit Forced(int p) : p_(p), set_(p) {}

    void reset() {
        set_.reset();
        squared_norm_ = 0.0;
    }
    ActiveSet::Outcome add(int label, const double* a, double violation, double limit) {
        const std::size_t first = static_cast<std::size_t>(label) * p_;
        normals_.resize(std::max(normals_.size(), first + p_));
        std::copy_n(a, p_, normals_.begin() + first);
        const cudbound::SoftConstraints nothing;
        return set_.move({nothing, {p_, normals_.data(), nullptr, 0.0}}, label, -violation, &squared_norm_, limit);
    }

    int size() const { return set_.size(); }
    int label(int k) const { return set_.label(k); }
    const double* point() const { return set_.point(); }
    double squared_norm() const { return squared_norm_; }
    double certificate(int k) const { return set_.certificate(k); }

 private:
    int p_;
    ActiveSet set_;
    Vector normals_;
    double squared_norm_ = 0.0;
};

// Adds violated constraints, the worst first, until none is left; the last one added goes to `last`. The norm of the
// point must never decrease on the way.
ActiveSet::Outcome solve(Forced* set, const Polyhedron& constraints, double limit = infinity, int* last = nullptr) {
    for (int round = 0; round < 1000; ++round) {
        double worst = -1e-12;
        int next = -1;
        for (int j = 0; j < constraints.size(); ++j) {
            const double margin = constraints.margin(j, set->point());
            if (margin < worst) {
                worst = margin;
                next = j;
            }
        }
        if (next < 0) return ActiveSet::Outcome::moved;
        if (last != nullptr) *last = next;
        const double before = set->squared_norm();
        const auto outcome = set->add(next, constraints.normals[next].data(), worst, limit);
        CHECK_AT_MOST(before * (1.0 - 1e-12), set->squared_norm());
        if (outcome != ActiveSet::Outcome::moved) return outcome;
    }
    CHECK(false && "cycles");
    return ActiveSet::Outcome::infeasible;
}

// The smallest |v|^2 by enumeration: for every set of active constraints v = A'm with A A'm = -d; the best of the
// feasible ones is the minimum. Infinity if there is none, that is if the polyhedron is empty.
double smallest_norm(const Polyhedron& constraints, Vector* best_point = nullptr) {
    double best = infinity;
    oracle::for_each_subset(constraints.size(), constraints.p, [&](const std::vector<int>& active) {
        const std::size_t size = active.size();
        std::vector<std::vector<long double>> gram(size, std::vector<long double>(size));
        std::vector<long double> right(size);
        for (std::size_t a = 0; a < size; ++a) {
            right[a] = -constraints.offsets[active[a]];
            for (std::size_t b = 0; b < size; ++b) {
                gram[a][b] = oracle::dot(constraints.normals[active[a]], constraints.normals[active[b]]);
            }
        }
        std::vector<long double> multipliers;
        if (!oracle::solve_linear(gram, right, &multipliers)) return;
        Vector v(constraints.p, 0.0);
        for (std::size_t a = 0; a < size; ++a) {
            for (int k = 0; k < constraints.p; ++k) {
                v[k] += static_cast<double>(multipliers[a]) * constraints.normals[active[a]][k];
            }
        }
        for (int j = 0; j < constraints.size(); ++j) {
            if (constraints.margin(j, v.data()) < -1e-9) return;
        }
        if (oracle::dot(v, v) < best) {
            best = oracle::dot(v, v);
            if (best_point != nullptr) *best_point = v;
        }
    });
    return best;
}

Vector random_vector(Random& random, int p) {
    Vector a(p);
    for (double& x : a) x = normal(random);
    return a;
}

Polyhedron random_polyhedron(Random& random, int p, int m) {
    Polyhedron constraints{p, {}, {}};
    for (int j = 0; j < m; ++j) constraints.add(random_vector(random, p), normal(random) - 0.3);
    return constraints;
}

// `last` and the active constraints with their weights must prove that there is no point: the normals cancel with
// weights >= 0, and the same combination of the offsets is negative.
void check_certificate(const Forced& set, const Polyhedron& constraints, int last) {
    Vector sum = constraints.normals[last];
    double offset = constraints.offsets[last];
    double largest = 1.0;
    for (int k = 0; k < set.size(); ++k) {
        const double weight = set.certificate(k);
        CHECK_AT_MOST(-1e-9, weight);
        largest = std::max(largest, weight);
        for (int l = 0; l < constraints.p; ++l) sum[l] += weight * constraints.normals[set.label(k)][l];
        offset += weight * constraints.offsets[set.label(k)];
    }
    for (const double x : sum) CHECK_NEAR(x, 0.0, 1e-8 * largest);
    CHECK(offset < 0.0);
}

// Returns whether no point satisfies all constraints.
bool check_against_enumeration(const Polyhedron& constraints) {
    const double expected = smallest_norm(constraints);
    Forced set(constraints.p);
    int last = -1;
    const auto outcome = solve(&set, constraints, infinity, &last);
    const bool infeasible = outcome == ActiveSet::Outcome::infeasible;
    CHECK_EQUAL(infeasible, std::isinf(expected));
    if (infeasible) {
        check_certificate(set, constraints, last);
    } else {
        CHECK_NEAR(set.squared_norm(), expected, 1e-8 * (1.0 + expected));
    }
    return infeasible;
}

}  // namespace

// No constraint: v = 0. One constraint a'v >= 2 with a = e_1: v = (2, 0), |v|^2 = 4.
TEST(one_constraint_by_hand) {
    Forced set(2);
    CHECK_EQUAL(set.size(), 0);
    CHECK_EQUAL(set.squared_norm(), 0.0);
    const double a[] = {1.0, 0.0};
    CHECK(set.add(7, a, -2.0, infinity) == ActiveSet::Outcome::moved);
    CHECK_EQUAL(set.point()[0], 2.0);
    CHECK_EQUAL(set.point()[1], 0.0);
    CHECK_EQUAL(set.squared_norm(), 4.0);
    CHECK_EQUAL(set.size(), 1);
    CHECK_EQUAL(set.label(0), 7);
    set.reset();
    CHECK_EQUAL(set.size(), 0);
    CHECK_EQUAL(set.squared_norm(), 0.0);
}

// v_1 >= 1, then (v_1 + v_2)/sqrt 2 >= 2 sqrt 2. At (1, 0) the second is violated; both active would be v = (1, 3), but
// the nearest point of the second alone is (2, 2), which satisfies the first. So the first has to leave.
TEST(a_constraint_leaves_by_hand) {
    const Polyhedron constraints{2, {{1.0, 0.0}, {std::sqrt(0.5), std::sqrt(0.5)}}, {-1.0, -2.0 * std::sqrt(2.0)}};
    Forced set(2);
    CHECK(set.add(0, constraints.normals[0].data(), -1.0, infinity) == ActiveSet::Outcome::moved);
    const double violation = constraints.margin(1, set.point());
    CHECK(set.add(1, constraints.normals[1].data(), violation, infinity) == ActiveSet::Outcome::moved);
    CHECK_NEAR(set.point()[0], 2.0, 1e-14);
    CHECK_NEAR(set.point()[1], 2.0, 1e-14);
    CHECK_EQUAL(set.size(), 1);
    CHECK_EQUAL(set.label(0), 1);
}

// The answer is chosen first: k independent normals with positive multipliers give v = sum_k m_k a_k, their offsets
// make them tight there, and all other constraints get a slack. By the Kuhn-Tucker conditions v is the nearest point,
// and its active set is unique.
TEST(known_by_construction) {
    Random random(11);
    for (int trial = 0; trial < check::trials(400); ++trial) {
        const int p = integer(random, 1, 6);
        const int active = integer(random, 0, p);
        check::set_context("trial", trial, "p", p, "active", active);
        Polyhedron constraints{p, {}, {}};
        Vector v(p, 0.0);
        for (int k = 0; k < active; ++k) {
            constraints.add(random_vector(random, p), 0.0);
            const double multiplier = 0.1 + std::abs(normal(random));
            for (int l = 0; l < p; ++l) v[l] += multiplier * constraints.normals[k][l];
        }
        for (int k = 0; k < active; ++k) constraints.offsets[k] = -oracle::dot(constraints.normals[k], v);
        for (int others = integer(random, 0, 12); others > 0; --others) {
            constraints.add(random_vector(random, p), 0.0);
            constraints.offsets.back() = 0.05 + std::abs(normal(random)) - oracle::dot(constraints.normals.back(), v);
        }
        Forced set(p);
        CHECK(solve(&set, constraints) == ActiveSet::Outcome::moved);
        const double size = 1.0 + std::sqrt(oracle::dot(v, v));
        for (int l = 0; l < p; ++l) CHECK_NEAR(set.point()[l], v[l], 1e-9 * size);
        CHECK_NEAR(set.squared_norm(), oracle::dot(v, v), 1e-9 * size * size);
        CHECK_EQUAL(set.size(), active);
        for (int k = 0; k < set.size(); ++k) CHECK(set.label(k) < active);
    }
}

// Normals and offsets at random, feasible or not: enumeration decides, and a certificate proves infeasibility.
TEST(random_against_enumeration) {
    Random random(12);
    int infeasible = 0;
    for (int trial = 0; trial < check::trials(600); ++trial) {
        const int p = 1 + trial % 6;
        const Polyhedron constraints = random_polyhedron(random, p, integer(random, 1, p + 4));
        check::set_context("trial", trial, "p", p);
        if (check_against_enumeration(constraints)) ++infeasible;
    }
    check::set_context("number of infeasible problems");
    CHECK_AT_MOST(check::share_of(50), infeasible);
}

// Entries -1, 0, 1 and whole offsets: duplicates, opposite and dependent normals, many constraints through one point.
TEST(degenerate_against_enumeration) {
    Random random(13);
    int infeasible = 0;
    for (int trial = 0; trial < check::trials(600); ++trial) {
        const int p = 1 + trial % 5;
        Polyhedron constraints{p, {}, {}};
        const int m = integer(random, 2, p + 5);
        while (constraints.size() < m) {
            Vector a(p);
            for (double& x : a) x = integer(random, -1, 1);
            if (oracle::dot(a, a) > 0.0) constraints.add(a, integer(random, -2, 1));
        }
        check::set_context("trial", trial, "p", p);
        if (check_against_enumeration(constraints)) ++infeasible;
    }
    check::set_context("number of infeasible problems");
    CHECK_AT_MOST(check::share_of(50), infeasible);
}

// The same normal twice, v_1 >= 1 and then v_1 >= 2: the deeper one takes the place of the other.
TEST(duplicate_normal) {
    Forced set(3);
    const double a[] = {1.0, 0.0, 0.0};
    CHECK(set.add(0, a, -1.0, infinity) == ActiveSet::Outcome::moved);
    CHECK(set.add(1, a, -1.0, infinity) == ActiveSet::Outcome::moved);
    CHECK_EQUAL(set.size(), 1);
    CHECK_EQUAL(set.label(0), 1);
    CHECK_NEAR(set.squared_norm(), 4.0, 1e-14);
}

// v_1 >= 1 and -v_1 >= 0: infeasible, and the certificate is the sum of the two with weight one.
TEST(opposite_normals) {
    Forced set(2);
    const double a[] = {1.0, 0.0};
    const double b[] = {-1.0, 0.0};
    CHECK(set.add(0, a, -1.0, infinity) == ActiveSet::Outcome::moved);
    CHECK(set.add(1, b, -1.0, infinity) == ActiveSet::Outcome::infeasible);
    CHECK_EQUAL(set.size(), 1);
    CHECK_EQUAL(set.certificate(0), 1.0);
}

// Three normals at 120 degrees, each side at distance 1: their positive sides do not meet. Two of them meet in a
// point; the third then needs weight one of each, because the normals add up to zero.
TEST(three_directions_exclude_each_other) {
    const double h = std::sqrt(0.75);
    const Polyhedron constraints{2, {{1.0, 0.0}, {-0.5, h}, {-0.5, -h}}, {-1.0, -1.0, -1.0}};
    Forced set(2);
    int last = -1;
    CHECK(solve(&set, constraints, infinity, &last) == ActiveSet::Outcome::infeasible);
    CHECK_EQUAL(set.size(), 2);
    CHECK_NEAR(set.certificate(0), 1.0, 1e-14);
    CHECK_NEAR(set.certificate(1), 1.0, 1e-14);
    check_certificate(set, constraints, last);
}

// A child of a node has one constraint more: continuing from the parent's solution gives what solving from scratch
// gives, and leaves the parent as it was.
TEST(continuing_equals_solving_from_scratch) {
    Random random(14);
    for (int trial = 0; trial < check::trials(300); ++trial) {
        const int p = 1 + trial % 6;
        check::set_context("trial", trial, "p", p);
        Polyhedron constraints = random_polyhedron(random, p, integer(random, 1, p + 1));
        Forced parent(p);
        while (solve(&parent, constraints) == ActiveSet::Outcome::moved && constraints.size() < p + 6) {
            const Vector before(parent.point(), parent.point() + p);
            constraints.add(random_vector(random, p), normal(random) - 0.3);
            Forced child = parent;
            Forced scratch(p);
            const auto outcome = solve(&child, constraints);
            CHECK(outcome == solve(&scratch, constraints));
            if (outcome == ActiveSet::Outcome::moved) {
                const double size = 1.0 + std::sqrt(scratch.squared_norm());
                for (int l = 0; l < p; ++l) CHECK_NEAR(child.point()[l], scratch.point()[l], 1e-8 * size);
            }
            CHECK(std::equal(before.begin(), before.end(), parent.point()));
        }
    }
}

// With the squared length of the answer as limit, a little above it the search ends, a little below it stops. Stopped
// searches hold a lower bound: between the limit and the answer.
TEST(limit_stops_early) {
    Random random(15);
    int stopped = 0;
    for (int trial = 0; trial < check::trials(300); ++trial) {
        const int p = 1 + trial % 6;
        check::set_context("trial", trial, "p", p);
        const Polyhedron constraints = random_polyhedron(random, p, p + 2);
        const double expected = smallest_norm(constraints);
        if (std::isinf(expected) || expected < 1e-6) continue;
        Forced set(p);
        CHECK(solve(&set, constraints, expected * (1.0 + 1e-8)) == ActiveSet::Outcome::moved);
        for (const double share : {0.0, 0.3, 0.999999}) {
            set.reset();
            CHECK(solve(&set, constraints, share * expected) == ActiveSet::Outcome::too_far);
            CHECK(set.squared_norm() > share * expected);
            CHECK_AT_MOST(set.squared_norm(), expected * (1.0 + 1e-9));
            ++stopped;
        }
    }
    check::set_context("number of stopped searches");
    CHECK_AT_MOST(check::share_of(200), stopped);
}
