#include "losses/penalty_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "linear_algebra/symmetric_eigen.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

PenaltyCoordinates::PenaltyCoordinates(const Problem& problem)
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

void PenaltyCoordinates::to_beta(const double* v, double* beta) const {
    std::fill(beta, beta + p_, 0.0);
    for (int k = 0; k < p_; ++k) {
        const double length = v[k] / scales_[k];
        for (int l = 0; l < p_; ++l) beta[l] += length * direction(k)[l];
    }
}

void PenaltyCoordinates::from_beta(const double* beta, double* v) const {
    for (int k = 0; k < p_; ++k) v[k] = scales_[k] * dot(direction(k), beta, p_);
}

void PenaltyCoordinates::normal_from_beta(const double* normal, double* v) const {
    for (int k = 0; k < p_; ++k) v[k] = dot(direction(k), normal, p_) / scales_[k];
}

double PenaltyCoordinates::penalty(const double* v) const {
    double sum = 0.0;
    for (int k = 0; k < p_; ++k) sum += (1.0 - shares_[k]) * v[k] * v[k];
    return sum;
}

double PenaltyCoordinates::curvature(const double* unit) const {
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

}  // namespace cudbound
