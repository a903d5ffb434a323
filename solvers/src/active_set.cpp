#include "active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

ActiveSet::ActiveSet(int p)
    : p_(p),
      v_(p),
      multipliers_(p + 1),
      labels_(p + 1),
      basis_(static_cast<std::size_t>(p) * p),
      triangle_(static_cast<std::size_t>(p) * p),
      projected_(p),
      direction_(p),
      dual_step_(p) {
    reset();
}

void ActiveSet::reset() {
    size_ = 0;
    squared_norm_ = 0.0;
    std::fill(v_.begin(), v_.end(), 0.0);
    std::fill(basis_.begin(), basis_.end(), 0.0);
    for (int k = 0; k < p_; ++k) basis_[static_cast<std::size_t>(k) * p_ + k] = 1.0;
}

void ActiveSet::copy_from(const ActiveSet& other) {
    size_ = other.size_;
    squared_norm_ = other.squared_norm_;
    std::copy_n(other.v_.data(), p_, v_.data());
    std::copy_n(other.multipliers_.data(), size_, multipliers_.data());
    std::copy_n(other.labels_.data(), size_, labels_.data());
    std::copy_n(other.basis_.data(), static_cast<std::size_t>(p_) * p_, basis_.data());
    std::copy_n(other.triangle_.data(), static_cast<std::size_t>(p_) * size_, triangle_.data());
}

ActiveSet::Outcome ActiveSet::add(int label, const double* a, double violation, double limit) {
    double multiplier = 0.0;
    for (;;) {
        double outside = 0.0;  // squared length of the part of `a` outside the span of the active normals
        for (int k = 0; k < p_; ++k) {
            const double* column = &basis_[static_cast<std::size_t>(k) * p_];
            double dot = 0.0;
            for (int i = 0; i < p_; ++i) dot += column[i] * a[i];
            projected_[k] = dot;
            if (k >= size_) outside += dot * dot;
        }
        // Dual step: how the multipliers move per unit of the new one (back substitution).
        for (int k = size_ - 1; k >= 0; --k) {
            double rest = projected_[k];
            for (int l = k + 1; l < size_; ++l) rest -= triangle_[static_cast<std::size_t>(l) * p_ + k] * dual_step_[l];
            dual_step_[k] = rest / triangle_[static_cast<std::size_t>(k) * p_ + k];
        }
        double blocking_step = std::numeric_limits<double>::infinity();
        int blocking = -1;
        for (int k = 0; k < size_; ++k) {
            if (dual_step_[k] > Settings::dependent && multipliers_[k] < blocking_step * dual_step_[k]) {
                blocking_step = multipliers_[k] / dual_step_[k];
                blocking = k;
            }
        }
        const bool independent = size_ < p_ && outside > Settings::dependent * Settings::dependent;
        if (!independent && blocking < 0) return Outcome::infeasible;

        const double full_step = independent ? -violation / outside : std::numeric_limits<double>::infinity();
        const double step = std::min(full_step, blocking_step);
        for (int k = 0; k < size_; ++k) multipliers_[k] -= step * dual_step_[k];
        multiplier += step;
        if (independent) {
            // v, without what `a` has contributed so far, lies in the span of the active normals, and the move is at a
            // right angle to that
            squared_norm_ += step * (2.0 * multiplier - step) * outside;
            if (squared_norm_ > limit) return Outcome::too_far;
            for (int k = size_; k < p_; ++k) {
                const double* column = &basis_[static_cast<std::size_t>(k) * p_];
                const double along = step * projected_[k];
                for (int i = 0; i < p_; ++i) v_[i] += along * column[i];
            }
            violation += step * outside;
            squared_norm_ = dot(v_.data(), v_.data(), p_);
        }
        if (full_step <= blocking_step) {
            append(label, projected_.data());
            multipliers_[size_ - 1] = multiplier;
            return Outcome::added;
        }
        drop(blocking);
    }
}

// One Householder reflection of the unused basis columns turns basis'a into (a_1..a_size, length, 0, ..., 0).
void ActiveSet::append(int label, const double* projected) {
    const int k0 = size_;
    double norm = 0.0;
    for (int k = k0; k < p_; ++k) norm += projected[k] * projected[k];
    norm = std::sqrt(norm);
    const double pivot = projected[k0] > 0.0 ? -norm : norm;
    if (k0 + 1 < p_) {
        // reflector w = projected[k0:] - pivot e_1, with w'w = 2 (norm^2 - pivot projected[k0])
        const double head = projected[k0] - pivot;
        const double scale = 1.0 / (norm * norm - pivot * projected[k0]);
        std::fill(direction_.begin(), direction_.end(), 0.0);
        for (int k = k0; k < p_; ++k) {
            const double w = k == k0 ? head : projected[k];
            const double* column = &basis_[static_cast<std::size_t>(k) * p_];
            for (int i = 0; i < p_; ++i) direction_[i] += w * column[i];
        }
        for (int k = k0; k < p_; ++k) {
            const double w = scale * (k == k0 ? head : projected[k]);
            double* column = &basis_[static_cast<std::size_t>(k) * p_];
            for (int i = 0; i < p_; ++i) column[i] -= w * direction_[i];
        }
    }
    double* column = &triangle_[static_cast<std::size_t>(k0) * p_];
    for (int k = 0; k < k0; ++k) column[k] = projected[k];
    column[k0] = k0 + 1 < p_ ? pivot : projected[k0];
    labels_[k0] = label;
    ++size_;
}

// Removes a column of the triangle and restores its shape by Givens rotations of neighbouring rows.
void ActiveSet::drop(int k) {
    for (int l = k; l + 1 < size_; ++l) {
        labels_[l] = labels_[l + 1];
        multipliers_[l] = multipliers_[l + 1];
        std::copy_n(&triangle_[static_cast<std::size_t>(l + 1) * p_], l + 2,
                    &triangle_[static_cast<std::size_t>(l) * p_]);
    }
    --size_;
    for (int l = k; l < size_; ++l) {
        double* diagonal = &triangle_[static_cast<std::size_t>(l) * p_ + l];
        const double length = std::hypot(diagonal[0], diagonal[1]);
        const double c = diagonal[0] / length;
        const double s = diagonal[1] / length;
        for (int j = l; j < size_; ++j) {
            double* entry = &triangle_[static_cast<std::size_t>(j) * p_ + l];
            const double upper = entry[0];
            entry[0] = c * upper + s * entry[1];
            entry[1] = c * entry[1] - s * upper;
        }
        double* left = &basis_[static_cast<std::size_t>(l) * p_];
        double* right = left + p_;
        for (int i = 0; i < p_; ++i) {
            const double value = left[i];
            left[i] = c * value + s * right[i];
            right[i] = c * right[i] - s * value;
        }
    }
}

}  // namespace cudbound
