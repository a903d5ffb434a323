#include "linear_algebra/row_space.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

RowSpace::RowSpace(std::int64_t n, std::int64_t p) : n_(n), p_(p), most_(std::min(n, p)) {
    basis_.resize(most_ * p);
    coordinates_.resize(n * most_);
    rest_.resize(p);
}

// Gram-Schmidt, repeated where much of a row cancels: the basis is then orthonormal up to rounding.
int RowSpace::span(const double* rows, const Vector<std::int64_t>& places, std::size_t count) {
    const auto size = static_cast<std::size_t>(p_);
    int dimension = 0;
    for (std::size_t k = 0; k < count && dimension < most_; ++k) {
        const double* row = rows + places[k] * p_;
        std::copy_n(row, size, rest_.data());
        const double whole = sum_of_products(row, row, size);
        double left = reduce(dimension);
        if (left < 0.5 * whole) left = reduce(dimension);
        const double length = std::sqrt(left);
        if (!(length > Settings::fit_span * std::sqrt(whole))) continue;
        double* direction = basis_.row(dimension, size);
        for (std::size_t j = 0; j < size; ++j) direction[j] = rest_[j] / length;
        ++dimension;
    }
    for (std::int64_t i = 0; i < n_; ++i) {
        double* found = coordinates_.data() + i * most_;
        for (int d = 0; d < dimension; ++d) {
            found[d] = sum_of_products(basis_.row(d, size), rows + i * p_, size);
        }
    }
    return dimension;
}

double RowSpace::reduce(int dimension) {
    const auto size = static_cast<std::size_t>(p_);
    for (int d = 0; d < dimension; ++d) {
        const double* direction = basis_.row(d, size);
        const double part = sum_of_products(direction, rest_.data(), size);
        for (std::size_t j = 0; j < size; ++j) rest_[j] -= part * direction[j];
    }
    return sum_of_products(rest_.data(), rest_.data(), size);
}

}  // namespace cudbound
