// Coordinates in which a quadratic penalty is a sum of squares.
#pragma once

#include "cudbound/draws.hpp"
#include "linear_algebra/symmetric_eigen.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// v_k = scale_k e_k'beta for orthonormal e_k, so that
//   n beta'P beta = sum_k (1 - share_k) v_k^2.
// Where the penalty is curved the share is 0; where it is flat, or next to it,
// a proximal term share_k (v_k - center_k)^2 adds what is missing to curvature 1.
class PenaltyCoordinates {
 public:
    explicit PenaltyCoordinates(const Problem& problem)
        : p_(static_cast<int>(problem.p)), scales_(problem.p), shares_(problem.p) {
        Vector<double> penalty(p_ * p_, 0.0);
        if (problem.penalty != nullptr) penalty.assign(problem.penalty, problem.penalty + penalty.size());
        const SymmetricEigen eigen(p_, penalty.data());
        directions_ = eigen.vectors;
        const double largest = *std::max_element(eigen.values.begin(), eigen.values.end());
        double mean = 0.0;  // curvature that squared loss would have, over all directions
        for (std::int64_t i = 0; i < problem.n; ++i) {
            const double* row = problem.design + i * p_;
            const double weight = problem.sample_weight == nullptr ? 1.0 : problem.sample_weight[i];
            mean += weight * dot(row, row, p_) / p_;
        }
        if (mean == 0.0) mean = 1.0;
        for (int k = 0; k < p_; ++k) {
            const bool rounding = eigen.values[k] < Settings::penalty_rank * largest;
            double curvature = rounding ? 0.0 : static_cast<double>(problem.n) * eigen.values[k];
            if (curvature < Settings::hinge_flat * mean) curvature = 0.0;
            const double lent = curvature < Settings::hinge_curved * mean ? Settings::hinge_lent * mean : 0.0;
            scales_[k] = std::sqrt(curvature + lent);
            shares_[k] = lent / (curvature + lent);
            if (lent > 0.0) ++lent_;
        }
    }

    double share(int k) const { return shares_[k]; }
    int lent() const { return lent_; }  // number of coordinates with a share above 0

    void to_beta(const double* v, double* beta) const {
        std::fill(beta, beta + p_, 0.0);
        for (int k = 0; k < p_; ++k) {
            const double length = v[k] / scales_[k];
            for (int l = 0; l < p_; ++l) beta[l] += length * direction(k)[l];
        }
    }
    void from_beta(const double* beta, double* v) const {
        for (int k = 0; k < p_; ++k) v[k] = scales_[k] * dot(direction(k), beta, p_);
    }
    // The linear function normal'beta as one of v.
    void normal_from_beta(const double* normal, double* v) const {
        for (int k = 0; k < p_; ++k) v[k] = dot(direction(k), normal, p_) / scales_[k];
    }
    double penalty(const double* v) const {
        double sum = 0.0;
        for (int k = 0; k < p_; ++k) sum += (1.0 - shares_[k]) * v[k] * v[k];
        return sum;
    }
    // The largest c with penalty(v) >= c d^2 wherever |normal'v| = d, for a unit normal of these coordinates.
    double curvature(const double* unit) const {
        double length2 = 0.0;  // of the normal in beta
        double squares = 0.0;
        double softness = 0.0;
        for (int k = 0; k < p_; ++k) {
            const double along = scales_[k] * unit[k];
            length2 += along * along;
            squares += unit[k] * unit[k];
            if (shares_[k] < 1.0) softness += unit[k] * unit[k] / (1.0 - shares_[k]);
        }
        for (int k = 0; k < p_; ++k) {
            const double along = scales_[k] * unit[k];
            if (shares_[k] == 1.0 && along * along > Settings::flat_part * Settings::flat_part * length2) return 0.0;
        }
        return squares / softness;
    }

 private:
    const double* direction(int k) const { return directions_.row(k, p_); }

    int p_;
    int lent_ = 0;
    Vector<double> directions_;  // (p, p) e_k in row k
    Vector<double> scales_;      // (p)
    Vector<double> shares_;      // (p) 0 to 1
};

}  // namespace cudbound
