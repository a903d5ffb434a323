// Least-distance problems: the point that is nearest to a center, where some constraints may be violated at a price.
#pragma once

#include "cudbound/draws.hpp"
#include "linear_algebra/normal_basis.hpp"

namespace cudbound {

// Hyperplanes in the coordinates of a relaxation; side j of a point v is normal_j'v + distance_j.
struct Sides {
    int p = 0;
    const double* normals = nullptr;    // (k, p) unit rows
    const double* distances = nullptr;  // (k)
    double tie = 0.0;                   // sides up to this may be rounding errors

    const double* normal(int j) const { return normals + static_cast<std::ptrdiff_t>(j) * p; }
    double side(int j, const double* point) const {
        double sum = distances[j];
        for (int l = 0; l < p; ++l) sum += normal(j)[l] * point[l];
        return sum;
    }
    // The member of `members` that the point violates most, or -1 if none by more than `allowed`.
    int most_violated(const Vector<int>& members, const double* point, double allowed) const {
        int worst = -1;
        double least = -allowed;
        const auto compare = [&](int j, double here) {
            if (!(here < least)) return;
            least = here;
            worst = j;
        };
        // four at a time, which do not wait for each other
        std::size_t k = 0;
        for (; k + 4 <= members.size(); k += 4) {
            const int* j = &members[k];
            const double *a = normal(j[0]), *b = normal(j[1]), *c = normal(j[2]), *d = normal(j[3]);
            double s = distances[j[0]], t = distances[j[1]], u = distances[j[2]], v = distances[j[3]];
            for (int l = 0; l < p; ++l) {
                s += a[l] * point[l];
                t += b[l] * point[l];
                u += c[l] * point[l];
                v += d[l] * point[l];
            }
            compare(j[0], s), compare(j[1], t), compare(j[2], u), compare(j[3], v);
        }
        for (; k < members.size(); ++k) compare(members[k], side(members[k], point));
        return worst;
    }
};

// Constraints normal_i'v >= level_i with unit normals, violated at a price of 2 cap_i per unit of length.
struct SoftConstraints {
    int p = 0;
    int count = 0;
    Vector<double> normals;  // (count, p) row-major
    Vector<double> columns;  // (p, count) the same, transposed
    Vector<double> levels;   // (count)
    Vector<double> caps;     // (count) largest multipliers, positive

    const double* normal(int i) const { return normals.row(i, p); }
};

// The soft constraints, then the sides that are forced (as level -distance, without a cap), under one numbering.
struct Constraints {
    const SoftConstraints& soft;
    const Sides sides;

    int label_of_side(int j) const { return soft.count + j; }
    bool is_soft(int label) const { return label < soft.count; }
    const double* normal(int label) const {
        return is_soft(label) ? soft.normal(label) : sides.normal(label - soft.count);
    }
    double level(int label) const { return is_soft(label) ? soft.levels[label] : -sides.distances[label - soft.count]; }
    double cap(int label) const { return is_soft(label) ? soft.caps[label] : infinity; }
};

// min |v - center|^2 + sum_i 2 cap_i max(0, level_i - normal_i'v)  s.t.  the sides added so far.
//
// The dual active-set method of Goldfarb & Idnani (1983) for an identity Hessian, with multipliers in [0, cap]: v =
// center + sum_k multiplier_k normal_k. Constraints whose multiplier is strictly between its bounds are active and hold
// with equality; the others are at rest, at 0 or at their cap. Every step raises the dual objective, a lower bound of
// the minimum, and a solution is continued when one more constraint is added.
class ActiveSet {
 public:
    // `stuck`: rounding makes constraints leave and enter without end.
    enum class Outcome { moved, infeasible, too_far, stuck };

    explicit ActiveSet(int p);

    // No active constraint; all `count` soft ones at multiplier 0. The center is 0, until `restore`.
    void reset(int count = 0);

    // The soft constraints where they are at a point that violates each by lack_of(i): at rest, or, up to `close`,
    // active if independent, with the multiplier half-way between its bounds. The point is out of date until `restore`.
    template <class LackOf>
    void start(const Constraints& all, double close, const LackOf& lack_of) {
        reset(all.soft.count);
        for (int i = 0; i < all.soft.count; ++i) {
            const double lack = lack_of(i);
            if (std::abs(lack) <= close) {
                activate(all, i);
            } else if (lack > 0.0) {
                places_[i] = at_cap;
            }
        }
    }

    const double* point() const { return point_.data(); }
    double place(int i) const { return places_[i]; }  // of a soft constraint: 1 at 0, -1 at its cap, 0 if active
    int size() const { return static_cast<int>(members_.size()); }
    int label(int k) const { return members_[k].label; }  // of the k-th active constraint
    double multiplier(int k) const { return members_[k].multiplier; }
    const NormalBasis& basis() const { return basis_; }
    double smallest_pivot() const { return basis_.smallest_pivot(); }

    // Moves the multiplier of a constraint that is at rest and violated (at its cap: satisfied with room to spare)
    // until the constraint holds with equality or its multiplier is at the other end. Adds the rise of the dual
    // objective to `value`, and ends with too_far when that exceeds `limit`. After any outcome but `moved` the set is
    // of no further use.
    Outcome move(const Constraints& all, int label, double violation, double* value, double limit);

    // After `infeasible`: weights of the active constraints in the certificate a + sum_k weight_k a_k = 0.
    double certificate(int k) const { return -dual_step_[k]; }

    // Recomputes the point from the places and the center. Where the multipliers that belong to it leave their bounds,
    // constraints are put at rest: the best point for the constraints that stay active. Returns whether all did.
    bool restore(const Constraints& all, const double* center);

    // A lower bound of |v|^2 + sum_i cap_i |level_i - normal_i'v| on the sides, however rounding affected the
    // multipliers, with the one that was moved until `too_far` if `entering`. Each term is at least a slope of it times
    // its linear function, for any slope between minus and plus its price, and a side times a multiplier is not
    // negative: what is left is a quadratic, least at u (p), which is written. The effect of errors of the normals of
    // relative size `doubt` on points up to `extent` is subtracted. If only the first `rank` coordinates count in |v|,
    // the others are assumed to be no longer than `reach`.
    double dual_bound(const Constraints& all, bool entering, double doubt, double extent, int rank, double reach,
                      double* u) const;

    // The sum of the multipliers, and that of multiplier times violation over the active constraints, which rounding
    // keeps from equality: the dual objective is less than that of equality if the latter is negative.
    double pull(const Constraints& all) const;
    double imbalance(const Constraints& all) const;

    // Whether all multipliers stay within their bounds when the sum of multiplier_k normal_k over the active
    // constraints grows by a vector of their span, given by its coordinates in the basis.
    bool may_grow(const Constraints& all, const double* coordinates);

    // For each soft constraint: how far it is violated, or at its cap satisfied with room to spare; 0 if active.
    // Returns the largest one, or -1 if none is above `allowed`.
    int most_violated(const SoftConstraints& soft, double allowed, double* violations) const;

 private:
    struct Member {
        int label;
        double multiplier;
    };
    static constexpr double at_zero = 1.0;
    static constexpr double at_cap = -1.0;

    void activate(const Constraints& all, int label);
    void put_to_rest(const Constraints& all, int k, bool at_its_cap);

    int p_;
    Member entering_{-1, 0.0};  // that was moved last, and how far
    NormalBasis basis_;
    Vector<Member> members_;             // the active constraints, in the order of the basis
    Vector<double> places_;              // (count)
    Vector<double> point_;               // (p)
    Scratch base_, dual_step_, levels_;  // (p) each
};

}  // namespace cudbound
