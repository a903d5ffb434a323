#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>

#include "linear_algebra/vector.hpp"

namespace cudbound {

inline double dot(const double* a, const double* b, int size) {
    double sum = 0.0;
    for (int k = 0; k < size; ++k) sum += a[k] * b[k];
    return sum;
}

inline double length_of(const double* a, int size) { return std::sqrt(dot(a, a, size)); }

// Adds sum_l weights_l column_l to x (size), for columns one after the other in memory. Four at a time: x is read and
// written less often, and every sum keeps its order.
inline void add_columns(const double* columns, const double* weights, int count, double* __restrict x,
                        std::integral auto length) {
    const auto size = static_cast<std::size_t>(length);
    int l = 0;
    for (; l + 4 <= count; l += 4, columns += 4 * size) {
        const double *a = columns, *b = a + size, *c = b + size, *d = c + size;
        const double s = weights[l], t = weights[l + 1], u = weights[l + 2], v = weights[l + 3];
        for (std::size_t i = 0; i < size; ++i) x[i] = x[i] + s * a[i] + t * b[i] + u * c[i] + v * d[i];
    }
    for (; l < count; ++l, columns += size) {
        for (std::size_t i = 0; i < size; ++i) x[i] += weights[l] * columns[i];
    }
}

// The products of `count` columns (size), one after the other in memory, with a. Four at a time, which do not wait for
// each other; every sum keeps its order.
inline void multiply_columns(const double* columns, int count, const double* a, int size, double* products) {
    int k = 0;
    for (; k + 4 <= count; k += 4, columns += 4 * static_cast<std::size_t>(size)) {
        const double *b = columns, *c = b + size, *d = c + size, *e = d + size;
        double s = 0.0, t = 0.0, u = 0.0, v = 0.0;
        for (int l = 0; l < size; ++l) {
            s += b[l] * a[l];
            t += c[l] * a[l];
            u += d[l] * a[l];
            v += e[l] * a[l];
        }
        products[k] = s, products[k + 1] = t, products[k + 2] = u, products[k + 3] = v;
    }
    for (; k < count; ++k, columns += size) products[k] = dot(columns, a, size);
}

// Subtracts from x (p) its components along the orthonormal rows of `basis` (count, p), one after the other.
inline void subtract_span(const double* basis, int count, double* x, int p) {
    for (int k = 0; k < count; ++k, basis += p) {
        const double along = dot(basis, x, p);
        for (int l = 0; l < p; ++l) x[l] -= along * basis[l];
    }
}

// The terms 0 to size - 1 with four partial sums, for many of them: an order of summation that compilers can vectorize.
// Where the end of the loop is not fixed before it, GCC vectorizes a loop around the call instead, which is much
// slower.
template <class Term>
double sum_in_fours(std::size_t size, const Term& term) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    const std::size_t in_fours = size / 4 * 4;
    for (std::size_t k = 0; k < in_fours; k += 4) {
        for (std::size_t l = 0; l < 4; ++l) sums[l] += term(k + l);
    }
    for (std::size_t k = in_fours; k < size; ++k) sums[0] += term(k);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

inline double sum_of_products(const double* a, const double* b, std::size_t size) {
    return sum_in_fours(size, [a, b](std::size_t k) { return a[k] * b[k]; });
}

// The product of the terms 0 to size - 1, in the same order.
template <class Term>
double product_in_fours(std::size_t size, const Term& term) {
    double products[4] = {1.0, 1.0, 1.0, 1.0};
    const std::size_t in_fours = size / 4 * 4;
    for (std::size_t k = 0; k < in_fours; k += 4) {
        for (std::size_t l = 0; l < 4; ++l) products[l] *= term(k + l);
    }
    for (std::size_t k = in_fours; k < size; ++k) products[0] *= term(k);
    return (products[0] * products[1]) * (products[2] * products[3]);
}

// Working memory: assignments leave out what it holds.
struct Scratch : Vector<double> {
    using Vector<double>::Vector;
    Scratch(const Scratch& other) : Vector<double>(other.size()) {}
    Scratch& operator=(const Scratch&) { return *this; }
};

// What a search holds at a depth, made from `args` when it first goes there; it stays where it is.
template <class Level, class... Args>
Level& at_depth(std::deque<Level>& levels, int depth, const Args&... args) {
    while (std::ssize(levels) <= depth) levels.emplace_back(args...);
    return levels[static_cast<std::size_t>(depth)];
}

// Points in general position, the same in every run.
class GenericPoints {
 public:
    void next(double* point, int p) {
        for (int l = 0; l < p; ++l) {
            state_ = state_ * 6364136223846793005u + 1442695040888963407u;
            point[l] = static_cast<double>(state_ >> 11) * 0x1p-53 - 0.5;
        }
    }

 private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15u;
};

}  // namespace cudbound
