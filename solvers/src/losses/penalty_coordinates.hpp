// Coordinates in which a quadratic penalty is a sum of squares.
#pragma once

#include "cudbound/draws.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// v_k = scale_k e_k'beta for orthonormal e_k, so that
//   n beta'P beta = sum_k (1 - share_k) v_k^2.
// Where the penalty is curved the share is 0; where it is flat, or next to it,
// a proximal term share_k (v_k - center_k)^2 adds what is missing to curvature 1.
class PenaltyCoordinates {
 public:
    explicit PenaltyCoordinates(const Problem& problem);

    double share(int k) const { return shares_[k]; }
    int lent() const { return lent_; }  // number of coordinates with a share above 0

    void to_beta(const double* v, double* beta) const;
    void from_beta(const double* beta, double* v) const;
    // The linear function normal'beta as one of v.
    void normal_from_beta(const double* normal, double* v) const;
    double penalty(const double* v) const;
    // The largest c with penalty(v) >= c d^2 wherever |normal'v| = d, for a unit normal of these coordinates.
    double curvature(const double* unit) const;

 private:
    const double* direction(int k) const { return directions_.row(k, scales_.size()); }

    int p_;
    int lent_ = 0;
    Vector<double> directions_;  // (p, p) e_k in row k
    Vector<double> scales_;      // (p)
    Vector<double> shares_;      // (p) 0 to 1
};

}  // namespace cudbound
