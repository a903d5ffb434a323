// Least-distance problems: the point of a polyhedron that is nearest to the origin.
#pragma once

#include <cstddef>
#include <vector>

#include "linear_algebra/normal_basis.hpp"

namespace cudbound {

// min |v|^2  s.t.  a_j'v + d_j >= 0  for the constraints added so far, unit normals a_j in R^p.
//
// The dual active-set method of Goldfarb & Idnani (1983) for an identity Hessian: v is always the nearest
// point for the active constraints, so |v| only ever grows, and a solution is continued when one more
// constraint is added.
class ActiveSet {
 public:
    enum class Outcome { added, infeasible, too_far, stuck };

    explicit ActiveSet(int p);

    void reset();
    void copy_from(const ActiveSet& other);

    // Adds constraint `label` with unit normal `a`, violated at v by a'v + d = violation < 0. Constraints that
    // were active may leave. Ends with too_far as soon as |v|^2 must exceed `limit`, and with stuck where rounding
    // makes constraints leave and enter without end; the set can then no longer be used.
    Outcome add(int label, const double* a, double violation, double limit);

    int size() const { return basis_.size(); }
    int label(int k) const { return labels_[k]; }
    const double* point() const { return v_.data(); }
    double squared_norm() const { return squared_norm_; }

    // The smallest component of an active normal outside the span of those before it, relative to its length.
    double smallest_pivot() const { return basis_.smallest_pivot(); }

    // Multiplier of the k-th active constraint, and after `too_far` of the one that was being added.
    double multiplier(int k) const { return multipliers_[k]; }
    double entering() const { return entering_; }

    // A lower bound of |v|^2 on the constraints, however rounding affected the multipliers: for any non-negative m_k
    // and u = sum_k m_k a_k, all points have |v|^2 >= -2 sum_k m_k d_k - |u|^2. `normals` are unit rows (p contiguous)
    // and `distances` the d, by label; `entering` is the label of the constraint that was too far, or -1. The effect of
    // errors of the normals of relative size `doubt` on points up to `extent` is subtracted. Writes u. If only the
    // first `rank` coordinates count in |v|, the others are assumed to be no longer than `reach`.
    double dual_bound(const double* normals, const double* distances, int entering, double doubt, double extent,
                      int rank, double reach, double* u) const;

    // After `infeasible`: weights of the active constraints in the certificate a + sum_k weight_k a_k = 0.
    double certificate(int k) const { return -dual_step_[k]; }

 private:
    void append(int label);
    void drop(int k);

    int p_;
    double squared_norm_ = 0.0;
    double entering_ = 0.0;
    NormalBasis basis_;                // of the active normals
    std::vector<double> v_;            // (p)
    std::vector<double> multipliers_;  // (p)
    std::vector<int> labels_;          // (p)
    std::vector<double> projected_;    // (p) scratch: basis' a
    std::vector<double> dual_step_;    // (p) scratch
};

}  // namespace cudbound
