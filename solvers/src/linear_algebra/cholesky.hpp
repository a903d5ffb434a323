// Cholesky factors of small matrices.
#pragma once

#include <algorithm>
#include <numeric>

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// matrix = R'R for a symmetric positive definite matrix of order p, row-major, of which the upper triangle is used.
class Cholesky {
 public:
    explicit Cholesky(int p) : p_(p), rank_(p), factor_(p * p), reciprocal_(p), minus_above_(p) {}

    // Sets the order of the following matrices, at most that of the constructor.
    void set_order(int p) { p_ = p; }

    // Returns false when a pivot is not above `least` times the largest diagonal entry; the factor is then unusable.
    bool factorize(const Vector<double>& matrix, double least) {
        double largest = 0.0;
        for (int k = 0; k < p_; ++k) largest = std::max(largest, matrix.row(k, p_)[k]);
        for (int k = 0; k < p_; ++k) {
            double* target = factor_.row(k, p_);
            std::copy_n(matrix.row(k, p_) + k, p_ - k, target + k);
            for (int a = 0; a < k; ++a) {
                const double* above = row(a);
                for (int b = k; b < p_; ++b) target[b] -= above[k] * above[b];
            }
            if (!(target[k] > least * largest)) return false;
            target[k] = std::sqrt(target[k]);
            reciprocal_[k] = 1.0 / target[k];
            for (int b = k + 1; b < p_; ++b) target[b] *= reciprocal_[k];
        }
        rank_ = p_;
        return true;
    }

    // The factor of A'A from the rows themselves, which are (A, b) of shape (count, p + 1) and get lost: Householder
    // reflections with column pivoting, column k of R is column order[k] of A. Pivots up to `least` times the largest
    // count as zero: R has shape (rank, p), and `right` (rank) is what the reflections make of b. Returns the rank.
    int factorize_rows(Vector<double>& rows, double least, Vector<int>& order, double* right) {
        const int width = p_ + 1;
        const int count = static_cast<int>(rows.size()) / width;
        const auto at = [&](int row, int column) -> double& { return rows.row(row, width)[column]; };
        std::iota(order.begin(), order.end(), 0);
        double largest = 0.0;
        for (rank_ = 0; rank_ < std::min(p_, count); ++rank_) {
            int pivot = rank_;
            double norm2 = 0.0;
            for (int column = rank_; column < p_; ++column) {
                double sum = 0.0;
                for (int i = rank_; i < count; ++i) sum += at(i, column) * at(i, column);
                if (sum > norm2) {
                    norm2 = sum;
                    pivot = column;
                }
            }
            const double norm = std::sqrt(norm2);
            largest = std::max(largest, norm);
            if (!(norm > least * largest)) break;
            if (pivot != rank_) {
                std::swap(order[rank_], order[pivot]);
                for (int i = 0; i < count; ++i) std::swap(at(i, rank_), at(i, pivot));
            }
            const double head = at(rank_, rank_);
            const double diagonal = head > 0.0 ? -norm : norm;
            const double scale = 1.0 / (norm2 - diagonal * head);
            at(rank_, rank_) = head - diagonal;  // the column now holds the reflector
            for (int column = rank_ + 1; column < width; ++column) {
                double along = 0.0;
                for (int i = rank_; i < count; ++i) along += at(i, rank_) * at(i, column);
                along *= scale;
                for (int i = rank_; i < count; ++i) at(i, column) -= along * at(i, rank_);
            }
            factor_.row(rank_, p_)[rank_] = diagonal;
            reciprocal_[rank_] = 1.0 / diagonal;
        }
        for (int k = 0; k < rank_; ++k) {
            for (int l = k + 1; l < p_; ++l) factor_.row(k, p_)[l] = at(k, l);
            right[k] = at(k, p_);
        }
        return rank_;
    }

    const double* row(int k) const { return factor_.row(k, p_); }
    double reciprocal(int k) const { return reciprocal_[k]; }  // of the diagonal
    // y = R x
    void multiply(const double* x, double* y) const {
        for (int k = 0; k < rank_; ++k) {
            double sum = 0.0;
            for (int l = k; l < p_; ++l) sum += row(k)[l] * x[l];
            y[k] = sum;
        }
    }

    // y = R'x
    void multiply_transposed(const double* x, double* y) const {
        for (int l = p_ - 1; l >= 0; --l) {
            double sum = 0.0;
            for (int k = 0; k <= l; ++k) sum += row(k)[l] * x[k];
            y[l] = sum;
        }
    }

    // y = R^{-1} x, with the first `rank` columns of R where these are not all. x and y may be the same, here and
    // below.
    void solve(const double* x, double* y) const {
        for (int k = rank_ - 1; k >= 0; --k) {
            double sum = x[k];
            for (int l = k + 1; l < rank_; ++l) sum -= row(k)[l] * y[l];
            y[k] = sum * reciprocal_[k];
        }
    }

    // y = R^{-T} x
    void solve_transposed(const double* x, double* y) const {
        for (int k = 0; k < rank_; ++k) {
            double sum = x[k];
            for (int l = 0; l < k; ++l) sum -= row(l)[k] * y[l];
            y[k] = sum * reciprocal_[k];
        }
    }

    // R^{-T} x for each of the `count` vectors in `columns` (p, count), in their place, and its squared length.
    void solve_transposed(double* columns, int count, double* lengths) const {
        const auto size = static_cast<std::ptrdiff_t>(count);
        std::fill_n(lengths, size, 0.0);
        for (int k = 0; k < p_; ++k) {
            double* z = columns + k * size;
            for (int l = 0; l < k; ++l) minus_above_[l] = -row(l)[k];
            add_columns(columns, minus_above_.data(), k, z, size);
            for (std::ptrdiff_t i = 0; i < size; ++i) {
                z[i] *= reciprocal_[k];
                lengths[i] += z[i] * z[i];
            }
        }
    }

 private:
    int p_;
    int rank_;
    Vector<double> factor_;
    Vector<double> reciprocal_;
    mutable Scratch minus_above_;  // (p)
};

}  // namespace cudbound
