// One fit of a linear classifier: Newton's method with a line search on the penalized loss.
#pragma once

#include <cstddef>

#include "cudbound/draws.hpp"
#include "linear_algebra/cholesky.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

class NewtonFit {
 public:
    // Capacity in rows and coefficients.
    NewtonFit(std::int64_t most_rows, int most_coefficients);

    // The weighted rows of one fit, written by the caller. Columns are multiplied by the labels, so that a row's
    // product with the coefficients is its margin.
    std::size_t count = 0;    // rows
    int size = 0;             // coefficients
    Vector<double> columns;   // (size, count)
    Vector<double> weights;   // (count) positive
    Vector<double> strength;  // (size) r_j of the penalty sum_j r_j beta_j^2

    // Minimizes; returns false where there is no unique minimizer or rounding hides it. Any loss but HINGE.
    bool minimize(Loss loss);

    const Vector<double>& coef() const { return coef_; }
    // The last step, which ended at coef: the remaining error is of its size or smaller.
    const Vector<double>& step() const { return step_; }
    // Largest change of a margin in that step.
    double change() const { return change_; }

 private:
    template <Loss kind>
    bool minimize_kind();
    template <Loss kind>
    double measure(const Vector<double>& coef);
    template <Loss kind>
    bool is_single();
    bool find_step();
    void combine(const Vector<double>& coef, Vector<double>& sums) const;
    double largest(const Vector<double>& values) const;

    // The Hessian is factorized after its columns were divided by the roots of its diagonal, so that units of columns
    // do not matter.
    Cholesky factor_;
    Vector<double> coef_, step_, trial_, gradient_;  // (size)
    Vector<double> root_;                            // (size) one over the roots of the diagonal
    Vector<double> hessian_;                         // (size, size)
    Vector<double> margins_, column_;                // (count)
    Vector<double> slopes_, bends_;                  // (count) times weight
    double change_ = 0.0;
};

}  // namespace cudbound
