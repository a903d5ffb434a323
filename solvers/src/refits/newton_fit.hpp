// One fit of a linear classifier: Newton's method with a line search on the penalized loss.
#pragma once

#include <cstddef>
#include <vector>

#include "cudbound/draws.hpp"
#include "linear_algebra/cholesky.hpp"

namespace cudbound {

// The weighted rows of one fit. Columns are multiplied by the labels, so that a row's product with the coefficients is
// its margin.
struct SignedRows {
    std::size_t count = 0;            // rows
    int size = 0;                     // coefficients
    const double* columns = nullptr;  // shape (size, count)
    const double* weights = nullptr;  // shape (count), positive
    const double* penalty = nullptr;  // shape (size), strengths r_j of sum_j r_j beta_j^2
};

class NewtonFit {
 public:
    // Capacity in rows and coefficients.
    NewtonFit(std::size_t count, int size);

    // Minimizes; returns false where there is no unique minimizer or rounding hides it. Any loss but HINGE.
    bool minimize(Loss loss, const SignedRows& rows);

    const std::vector<double>& coef() const { return coef_; }
    // The last step, which ended at coef: the remaining error is of its size or smaller.
    const std::vector<double>& step() const { return step_; }
    // Largest change of a margin in that step.
    double change() const { return change_; }

 private:
    template <Loss kind>
    bool minimize_kind(const SignedRows& rows);
    template <Loss kind>
    double measure(const SignedRows& rows, const std::vector<double>& coef);
    template <Loss kind>
    bool is_single(const SignedRows& rows);
    bool find_step(const SignedRows& rows);

    // The Hessian is factorized after its columns were divided by the roots of its diagonal, so that units of columns
    // do not matter.
    Cholesky factor_;
    std::vector<double> coef_;
    std::vector<double> step_;
    std::vector<double> trial_;
    std::vector<double> gradient_;
    std::vector<double> root_;     // one over the roots of the diagonal
    std::vector<double> hessian_;  // (size, size)
    std::vector<double> margins_;  // (count)
    std::vector<double> slopes_;   // (count), times weight
    std::vector<double> bends_;    // (count), times weight
    std::vector<double> column_;   // (count)
    double change_ = 0.0;
};

}  // namespace cudbound
