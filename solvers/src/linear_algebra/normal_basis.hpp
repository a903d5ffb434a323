// A set of independent normals and the orthonormal basis that goes with it.
#pragma once

#include <algorithm>
#include <limits>

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// At most p independent vectors of R^p, normals = basis * triangle: the columns of the basis are orthonormal.
class NormalBasis {
 public:
    explicit NormalBasis(int p) : p_(p), along_(p), rest_(p), part_(p) {
        basis_.reserve(p * p);
        triangle_.reserve(p * p);
    }

    void clear() {
        basis_.clear();
        triangle_.clear();
        size_ = 0;
    }

    int size() const { return size_; }
    const double* column(int k) const { return basis_.row(k, p_); }

    // Smallest absolute value on the diagonal of the triangle, 1 if it is empty.
    double smallest_pivot() const {
        double smallest = 1.0;
        for (int k = 0; k < size_; ++k) smallest = std::min(smallest, std::abs(entries(k)[k]));
        return smallest;
    }

    // Splits a vector into its coordinates along the basis and what is orthogonal to it; returns the squared length of
    // that rest. Where most of the vector cancels it is projected twice, which is enough for a rest that is orthogonal
    // up to its own rounding (Giraud, Langou & Rozloznik 2005).
    double project(const double* a) {
        std::copy_n(a, p_, rest_.data());
        std::fill_n(along_.data(), size_, 0.0);
        double before = std::numeric_limits<double>::infinity();
        double after = dot(a, a, p_);
        for (int pass = 0; pass < 2 && size_ > 0 && !(after >= 0.5 * before); ++pass) {
            before = after;
            multiply_columns(basis_.data(), size_, rest_.data(), p_, part_.data());
            for (int k = 0; k < size_; ++k) {
                along_[k] += part_[k];
                part_[k] = -part_[k];
            }
            add_columns(basis_.data(), part_.data(), size_, rest_.data(), p_);
            after = dot(rest_.data(), rest_.data(), p_);
        }
        if (size_ < p_) return after;
        std::fill(rest_.begin(), rest_.end(), 0.0);
        return 0.0;
    }

    // Of the last projection: coordinates (size) and rest (p).
    const double* along() const { return along_.data(); }
    const double* rest() const { return rest_.data(); }

    // Solves triangle x = y and triangle'x = y, x and y of length size(); x and y may be the same.
    void solve(const double* y, double* x) const {
        if (x != y) std::copy_n(y, size_, x);
        for (int k = size_ - 1; k >= 0; --k) {
            const double* entry = entries(k);
            x[k] /= entry[k];
            for (int l = 0; l < k; ++l) x[l] -= entry[l] * x[k];
        }
    }

    void solve_transposed(const double* y, double* x) const {
        for (int k = 0; k < size_; ++k) {
            const double* entry = entries(k);
            x[k] = (y[k] - dot(entry, x, k)) / entry[k];
        }
    }

    // Adds the vector that was projected last, which has to be independent.
    void append() {
        const double length = length_of(rest_.data(), p_);
        for (const double x : rest_) basis_.push_back(x / length);
        triangle_.resize(std::ssize(triangle_) + p_);
        std::copy_n(along_.data(), size_, entries(size_));
        entries(size_)[size_] = length;
        ++size_;
    }

    // Removes the normal at position k; those after it move up. Givens rotations of neighboring rows restore the
    // triangle without its column k.
    void drop(int k) {
        for (int l = k; l + 1 < size_; ++l) std::copy_n(entries(l + 1), l + 2, entries(l));
        --size_;
        triangle_.resize(std::ssize(triangle_) - p_);
        for (int l = k; l < size_; ++l) {
            double* diagonal = entries(l) + l;
            const double length = std::sqrt(diagonal[0] * diagonal[0] + diagonal[1] * diagonal[1]);
            const double c = diagonal[0] / length;
            const double s = diagonal[1] / length;
            for (int j = l; j < size_; ++j) {
                double* entry = entries(j) + l;
                const double upper = entry[0];
                entry[0] = c * upper + s * entry[1];
                entry[1] = c * entry[1] - s * upper;
            }
            double* left = basis_.row(l, p_);
            double* right = left + p_;
            for (int i = 0; i < p_; ++i) {
                const double value = left[i];
                left[i] = c * value + s * right[i];
                right[i] = c * right[i] - s * value;
            }
        }
        basis_.resize(std::ssize(basis_) - p_);
    }

 private:
    double* entries(int k) { return triangle_.row(k, p_); }
    const double* entries(int k) const { return triangle_.row(k, p_); }

    int p_;
    int size_ = 0;
    Vector<double> basis_;         // (p, size) column-major, orthonormal
    Vector<double> triangle_;      // (p, size) column-major, upper
    Scratch along_, rest_, part_;  // (p) each
};

}  // namespace cudbound
