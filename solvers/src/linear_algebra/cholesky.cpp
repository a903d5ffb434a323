#include "linear_algebra/cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace cudbound {

bool Cholesky::factorize(const std::vector<double>& matrix, double least) {
    double largest = 0.0;
    for (int k = 0; k < p_; ++k) largest = std::max(largest, matrix[static_cast<std::size_t>(k) * p_ + k]);
    for (int k = 0; k < p_; ++k) {
        double* target = factor_.data() + static_cast<std::size_t>(k) * p_;
        std::copy_n(matrix.data() + static_cast<std::size_t>(k) * p_ + k, p_ - k, target + k);
        for (int a = 0; a < k; ++a) {
            const double* above = row(a);
            for (int b = k; b < p_; ++b) target[b] -= above[k] * above[b];
        }
        if (!(target[k] > least * largest)) return false;
        reciprocal_[k] = 1.0 / std::sqrt(target[k]);
        for (int b = k; b < p_; ++b) target[b] *= reciprocal_[k];
    }
    return true;
}

void Cholesky::copy_from(const Cholesky& other) {
    std::copy(other.factor_.begin(), other.factor_.end(), factor_.begin());
    std::copy(other.reciprocal_.begin(), other.reciprocal_.end(), reciprocal_.begin());
}

void Cholesky::multiply(const double* x, double* y) const {
    for (int k = 0; k < p_; ++k) {
        double sum = 0.0;
        for (int l = k; l < p_; ++l) sum += row(k)[l] * x[l];
        y[k] = sum;
    }
}

void Cholesky::multiply_transposed(const double* x, double* y) const {
    for (int l = p_ - 1; l >= 0; --l) {
        double sum = 0.0;
        for (int k = 0; k <= l; ++k) sum += row(k)[l] * x[k];
        y[l] = sum;
    }
}

void Cholesky::solve(const double* x, double* y) const {
    for (int k = p_ - 1; k >= 0; --k) {
        double sum = x[k];
        for (int l = k + 1; l < p_; ++l) sum -= row(k)[l] * y[l];
        y[k] = sum * reciprocal_[k];
    }
}

void Cholesky::solve_transposed(const double* x, double* y) const {
    for (int k = 0; k < p_; ++k) {
        double sum = x[k];
        for (int l = 0; l < k; ++l) sum -= row(l)[k] * y[l];
        y[k] = sum * reciprocal_[k];
    }
}

void Cholesky::squared_lengths(const double* columns, int count, std::vector<double>& scratch, double* lengths) const {
    const auto size = static_cast<std::size_t>(count);
    scratch.resize(size * static_cast<std::size_t>(p_));
    std::fill_n(lengths, size, 0.0);
    for (int k = 0; k < p_; ++k) {
        double* z = scratch.data() + k * size;
        std::copy_n(columns + k * size, size, z);
        for (int l = 0; l < k; ++l) {
            const double factor = row(l)[k];
            const double* other = scratch.data() + l * size;
            for (std::size_t i = 0; i < size; ++i) z[i] -= factor * other[i];
        }
        for (std::size_t i = 0; i < size; ++i) {
            z[i] *= reciprocal_[k];
            lengths[i] += z[i] * z[i];
        }
    }
}

}  // namespace cudbound
