#pragma once

#include <cstddef>

namespace cudbound {

inline double dot(const double* a, const double* b, int size) {
    double sum = 0.0;
    for (int k = 0; k < size; ++k) sum += a[k] * b[k];
    return sum;
}

// Subtracts from x (p) its components along the orthonormal rows of `basis` (count, p), one after the other.
inline void subtract_span(const double* basis, int count, double* x, int p) {
    for (int k = 0; k < count; ++k, basis += p) {
        const double along = dot(basis, x, p);
        for (int l = 0; l < p; ++l) x[l] -= along * basis[l];
    }
}

// The product with four partial sums, for long vectors: an order of summation that compilers can vectorize.
inline double sum_of_products(const double* a, const double* b, std::size_t size) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t k = 0;
    for (; k + 4 <= size; k += 4) {
        for (std::size_t l = 0; l < 4; ++l) sums[l] += a[k + l] * b[k + l];
    }
    for (; k < size; ++k) sums[0] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace cudbound
