// Cholesky factors of small matrices.
#pragma once

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// matrix = R'R for a symmetric positive definite matrix of order p, row-major, of which the upper triangle is used.
class Cholesky {
 public:
    explicit Cholesky(int p) : p_(p), rank_(p), factor_(p * p), reciprocal_(p), minus_above_(p) {}

    // Sets the order of the following matrices, at most that of the constructor.
    void set_order(int p) { p_ = p; }

    // Returns false when a pivot is not above `least` times the largest diagonal entry; the factor is then unusable.
    bool factorize(const Vector<double>& matrix, double least);

    // The factor of A'A from the rows themselves, which are (A, b) of shape (count, p + 1) and get lost: Householder
    // reflections with column pivoting, column k of R is column order[k] of A. Pivots up to `least` times the largest
    // count as zero: R has shape (rank, p), and `right` (rank) is what the reflections make of b. Returns the rank.
    int factorize_rows(Vector<double>& rows, double least, Vector<int>& order, double* right);

    const double* row(int k) const { return factor_.row(k, p_); }
    double reciprocal(int k) const { return reciprocal_[k]; }    // of the diagonal
    void multiply(const double* x, double* y) const;             // y = R x
    void multiply_transposed(const double* x, double* y) const;  // y = R'x
    // With the first `rank` columns of R, where these are not all. x and y may be the same.
    void solve(const double* x, double* y) const;             // y = R^{-1} x
    void solve_transposed(const double* x, double* y) const;  // y = R^{-T} x

    // R^{-T} x for each of the `count` vectors in `columns` (p, count), in their place, and its squared length.
    void solve_transposed(double* columns, int count, double* lengths) const;

 private:
    int p_;
    int rank_;
    Vector<double> factor_;
    Vector<double> reciprocal_;
    mutable Scratch minus_above_;  // (p)
};

}  // namespace cudbound
