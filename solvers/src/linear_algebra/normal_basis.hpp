// A set of independent normals and the orthonormal basis that goes with it.
#pragma once

#include <algorithm>

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// At most p independent vectors of R^p, normals = basis * triangle: the first size() columns of the basis span them,
// the others their orthogonal complement.
class NormalBasis {
 public:
    explicit NormalBasis(int p) : p_(p), basis_(p * p), reflector_(p) {
        triangle_.reserve(basis_.size());
        clear();
    }

    void clear() {
        size_ = 0;
        triangle_.clear();
        std::fill(basis_.begin(), basis_.end(), 0.0);
        for (int k = 0; k < p_; ++k) basis_.row(k, p_)[k] = 1.0;
    }

    int size() const { return size_; }
    const double* column(int k) const { return basis_.row(k, p_); }

    // Smallest absolute value on the diagonal of the triangle, 1 if it is empty.
    double smallest_pivot() const {
        double smallest = 1.0;
        for (int k = 0; k < size_; ++k) smallest = std::min(smallest, std::abs(entries(k)[k]));
        return smallest;
    }

    // projected (p) = basis'a; returns the squared length of the part of `a` outside the span.
    double project(const double* a, double* projected) const {
        multiply_columns(basis_.data(), p_, a, p_, projected);
        double outside = 0.0;
        for (int k = size_; k < p_; ++k) outside += projected[k] * projected[k];
        return outside;
    }

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

    // Adds the independent vector with these coordinates in the basis: one Householder reflection of the unused basis
    // columns turns them into (a_1..a_size, length, 0, ..., 0).
    void append(const double* projected) {
        const int first = size_;
        double norm = 0.0;
        for (int k = first; k < p_; ++k) norm += projected[k] * projected[k];
        norm = std::sqrt(norm);
        double pivot = projected[first];
        if (first + 1 < p_) {
            pivot = projected[first] > 0.0 ? -norm : norm;
            // reflector w = projected[first:] - pivot e_1, with w'w = 2 (norm^2 - pivot projected[first])
            const double head = projected[first] - pivot;
            const double scale = 1.0 / (norm * norm - pivot * projected[first]);
            std::fill(reflector_.begin(), reflector_.end(), 0.0);
            for (int i = 0; i < p_; ++i) reflector_[i] += head * column(first)[i];
            add_columns(column(first + 1), projected + first + 1, p_ - first - 1, reflector_.data(), p_);
            for (int k = first; k < p_; ++k) {
                const double w = scale * (k == first ? head : projected[k]);
                double* target = basis_.row(k, p_);
                for (int i = 0; i < p_; ++i) target[i] -= w * reflector_[i];
            }
        }
        triangle_.resize(std::ssize(triangle_) + p_);
        std::copy_n(projected, first, entries(first));
        entries(first)[first] = pivot;
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
    }

 private:
    double* entries(int k) { return triangle_.row(k, p_); }
    const double* entries(int k) const { return triangle_.row(k, p_); }

    int p_;
    int size_ = 0;
    Vector<double> basis_;     // (p, p) column-major, orthonormal
    Vector<double> triangle_;  // (p, size) column-major, upper
    Scratch reflector_;        // (p)
};

}  // namespace cudbound
