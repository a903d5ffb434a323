#include "cones/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

ActiveSet::ActiveSet(int p)
    : p_(p), basis_(p), v_(p), multipliers_(p + 1), labels_(p + 1), projected_(p), dual_step_(p) {}

void ActiveSet::reset() {
    squared_norm_ = 0.0;
    basis_.clear();
    std::fill(v_.begin(), v_.end(), 0.0);
}

void ActiveSet::copy_from(const ActiveSet& other) {
    squared_norm_ = other.squared_norm_;
    basis_.copy_from(other.basis_);
    std::copy_n(other.v_.data(), p_, v_.data());
    std::copy_n(other.multipliers_.data(), size(), multipliers_.data());
    std::copy_n(other.labels_.data(), size(), labels_.data());
}

ActiveSet::Outcome ActiveSet::add(int label, const double* a, double violation, double limit) {
    double multiplier = 0.0;
    // Every round except the last removes a constraint; rounding may bring the same ones back.
    for (int patience = Effort::active_moves + Effort::active_moves_per_dimension * p_; patience > 0; --patience) {
        const double outside = basis_.project(a, projected_.data());
        // Dual step: how the multipliers move per unit of the new one.
        basis_.solve(projected_.data(), dual_step_.data());
        double blocking_step = std::numeric_limits<double>::infinity();
        int blocking = -1;
        for (int k = 0; k < size(); ++k) {
            if (dual_step_[k] > Settings::dependent && multipliers_[k] < blocking_step * dual_step_[k]) {
                blocking_step = multipliers_[k] / dual_step_[k];
                blocking = k;
            }
        }
        const bool independent = size() < p_ && outside > Settings::dependent * Settings::dependent;
        if (!independent && blocking < 0) return Outcome::infeasible;

        const double full_step = independent ? -violation / outside : std::numeric_limits<double>::infinity();
        const double step = std::min(full_step, blocking_step);
        for (int k = 0; k < size(); ++k) multipliers_[k] -= step * dual_step_[k];
        multiplier += step;
        entering_ = multiplier;
        if (independent) {
            // v, without what `a` has contributed so far, lies in the span of the active normals, and the move is at a
            // right angle to that
            squared_norm_ += step * (2.0 * multiplier - step) * outside;
            // NaN ends it too: whoever prunes for this reason proves the loss first
            if (!(squared_norm_ <= limit)) return Outcome::too_far;
            for (int k = size(); k < p_; ++k) {
                const double* column = basis_.column(k);
                const double along = step * projected_[k];
                for (int i = 0; i < p_; ++i) v_[i] += along * column[i];
            }
            violation += step * outside;
            squared_norm_ = dot(v_.data(), v_.data(), p_);
        }
        if (full_step <= blocking_step) {
            append(label);
            multipliers_[size() - 1] = multiplier;
            return Outcome::added;
        }
        drop(blocking);
    }
    return Outcome::stuck;
}

double ActiveSet::dual_bound(const double* normals, const double* distances, int entering, double doubt, double extent,
                             int rank, double reach, double* u) const {
    std::fill(u, u + p_, 0.0);
    double linear = 0.0;
    double sum = 0.0;
    const auto add = [&](int label, double multiplier) {
        if (!(multiplier > 0.0)) return;
        linear -= multiplier * distances[label];
        sum += multiplier;
        const double* normal = normals + static_cast<std::size_t>(label) * static_cast<std::size_t>(p_);
        for (int l = 0; l < p_; ++l) u[l] += multiplier * normal[l];
    };
    for (int k = 0; k < size(); ++k) add(labels_[k], multipliers_[k]);
    if (entering >= 0) add(entering, entering_);
    const double length2 = dot(u, u, rank);
    const double rest = std::sqrt(dot(u + rank, u + rank, p_ - rank));
    const double off = rest * reach + doubt * sum * (extent + std::sqrt(length2));
    const double bound = 2.0 * (linear - off) - length2;
    return bound > 0.0 ? bound : 0.0;
}

void ActiveSet::append(int label) {
    labels_[size()] = label;
    basis_.append(projected_.data());
}

void ActiveSet::drop(int k) {
    for (int l = k; l + 1 < size(); ++l) {
        labels_[l] = labels_[l + 1];
        multipliers_[l] = multipliers_[l + 1];
    }
    basis_.drop(k);
}

}  // namespace cudbound
