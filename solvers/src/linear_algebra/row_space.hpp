// Coordinates of rows in the space that some of them span: these replace many columns when rows are few.
#pragma once

#include <algorithm>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

class RowSpace {
 public:
    // Capacity for n rows of p columns.
    RowSpace(std::int64_t n, std::int64_t p)
        : n_(n),
          p_(static_cast<std::size_t>(p)),
          most_(std::min(n, p)),
          basis_(most_ * p),
          coordinates_(n * most_),
          rest_(p) {}

    // Finds an orthonormal basis of the span of the rows of `rows` (n, p) at the first `count` places, and the
    // coordinates of all rows. Returns the dimension, at most `count` and p. Gram-Schmidt, repeated where much of a row
    // cancels: the basis is then orthonormal up to rounding.
    int span(const Vector<double>& rows, const Vector<std::int64_t>& places, std::size_t count) {
        int dimension = 0;
        for (std::size_t k = 0; k < count && dimension < most_; ++k) {
            const double* row = rows.row(places[k], p_);
            std::copy_n(row, p_, rest_.data());
            const double whole = sum_of_products(row, row, p_);
            double left = reduce(dimension);
            if (left < 0.5 * whole) left = reduce(dimension);
            const double length = std::sqrt(left);
            if (!(length > Settings::fit_span * std::sqrt(whole))) continue;
            double* direction = basis_.row(dimension, p_);
            for (std::size_t j = 0; j < p_; ++j) direction[j] = rest_[j] / length;
            ++dimension;
        }
        for (std::int64_t i = 0; i < n_; ++i) {
            for (int d = 0; d < dimension; ++d) {
                coordinates_.row(i, most_)[d] = sum_of_products(basis_.row(d, p_), rows.row(i, p_), p_);
            }
        }
        return dimension;
    }

    // Coordinates of row i, as many as there are dimensions.
    const double* coordinates(std::int64_t i) const { return coordinates_.row(i, most_); }

 private:
    // Subtracts the components along the basis from `rest_`; returns the remaining squared length.
    double reduce(int dimension) {
        for (int d = 0; d < dimension; ++d) {
            const double* direction = basis_.row(d, p_);
            const double part = sum_of_products(direction, rest_.data(), p_);
            for (std::size_t j = 0; j < p_; ++j) rest_[j] -= part * direction[j];
        }
        return sum_of_products(rest_.data(), rest_.data(), p_);
    }

    std::int64_t n_;
    std::size_t p_;
    std::int64_t most_;
    Vector<double> basis_;        // (most, p)
    Vector<double> coordinates_;  // (n, most)
    Vector<double> rest_;         // (p)
};

}  // namespace cudbound
