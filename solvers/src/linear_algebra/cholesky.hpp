// Cholesky factors of small matrices.
#pragma once

#include <vector>

namespace cudbound {

// matrix = R'R for a symmetric positive definite matrix of order p, row-major, of which the upper triangle is used.
class Cholesky {
 public:
    explicit Cholesky(int p) : p_(p), factor_(static_cast<std::size_t>(p) * p), reciprocal_(p) {}

    // Sets the order of the following matrices, at most that of the constructor.
    void set_order(int p) { p_ = p; }

    // Returns false when a pivot is not above `least` times the largest diagonal entry; the factor is then unusable.
    bool factorize(const std::vector<double>& matrix, double least);
    void copy_from(const Cholesky& other);

    void multiply(const double* x, double* y) const;             // y = R x
    void multiply_transposed(const double* x, double* y) const;  // y = R'x
    void solve(const double* x, double* y) const;                // y = R^{-1} x; x and y may be the same
    void solve_transposed(const double* x, double* y) const;     // y = R^{-T} x; x and y may be the same

    // For each of the `count` vectors in the rows of `columns` (p, count): squared length of R^{-T} x.
    void squared_lengths(const double* columns, int count, std::vector<double>& scratch, double* lengths) const;

 private:
    const double* row(int k) const { return factor_.data() + static_cast<std::size_t>(k) * p_; }

    int p_;
    std::vector<double> factor_;
    std::vector<double> reciprocal_;
};

}  // namespace cudbound
