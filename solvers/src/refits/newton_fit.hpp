// One fit of a linear classifier: Newton's method with a line search on the penalized loss.
#pragma once

#include "linear_algebra/cholesky.hpp"
#include "problem/loss.hpp"

namespace cudbound {

class NewtonFit {
 public:
    // Capacity in rows and coefficients.
    NewtonFit(std::int64_t most_rows, int most_coefficients) : factor_(most_coefficients) {
        for (auto* vector : {&strength, &coef_, &step_, &trial_, &gradient_, &root_}) vector->resize(most_coefficients);
        for (auto* vector : {&weights, &margins_, &slopes_, &bends_, &column_}) vector->resize(most_rows);
        columns.resize(most_rows * most_coefficients);
        hessian_.resize(most_coefficients * most_coefficients);
    }

    // The weighted rows of one fit, written by the caller. Columns are multiplied by the labels, so that a row's
    // product with the coefficients is its margin.
    std::size_t count = 0;    // rows
    int size = 0;             // coefficients
    Vector<double> columns;   // (size, count)
    Vector<double> weights;   // (count) positive
    Vector<double> strength;  // (size) r_j of the penalty sum_j r_j beta_j^2

    // Minimizes; returns false where there is no unique minimizer or rounding hides it. Any loss but HINGE.
    bool minimize(Loss loss) {
        factor_.set_order(size);
        return with_loss(loss, [this]<Loss kind>() {
            if constexpr (kind == Loss::HINGE) {
                return false;  // a kink is not for Newton's method
            } else {
                return minimize_kind<kind>();
            }
        });
    }

    const Vector<double>& coef() const { return coef_; }
    // The last step, which ended at coef: the remaining error is of its size or smaller.
    const Vector<double>& step() const { return step_; }
    // Largest change of a margin in that step.
    double change() const { return change_; }

 private:
    // sums = sum_j coef_j column_j
    void combine(const Vector<double>& coef, Vector<double>& sums) const {
        std::fill_n(sums.begin(), count, 0.0);
        add_columns(columns.data(), coef.data(), size, sums.data(), count);
    }

    double largest(const Vector<double>& values) const {
        double most = 0.0;
        for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::abs(values[i]));
        return most;
    }

    // The penalized loss; fills in margins, slopes and bends.
    template <Loss kind>
    double measure(const Vector<double>& coef) {
        combine(coef, margins_);
        double value = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            const LossAt here = loss_at<kind>(margins_[i]);
            value += weights[i] * here.value;
            slopes_[i] = weights[i] * here.slope;
            bends_[i] = weights[i] * here.bend;
        }
        for (int j = 0; j < size; ++j) value += strength[j] * coef[j] * coef[j];
        return value;
    }

    template <Loss kind>
    bool minimize_kind() {
        std::fill_n(coef_.begin(), size, 0.0);
        double value = measure<kind>(coef_);
        for (int iteration = 0; iteration < Settings::fit_steps; ++iteration) {
            if (!find_step()) return false;
            combine(step_, column_);
            change_ = largest(column_);
            if (change_ <= Settings::fit_settled * (1.0 + largest(margins_))) {
                // steps shrink quadratically, or are exact once every row keeps its piece of the loss
                for (int j = 0; j < size; ++j) coef_[j] += step_[j];
                return is_single<kind>();
            }
            const double descent = dot(gradient_.data(), step_.data(), size);
            if (!(descent < 0.0) || !std::isfinite(change_)) return false;
            for (double share = 1.0;; share *= 0.5) {
                if (share < Settings::fit_least_share) return false;
                for (int j = 0; j < size; ++j) trial_[j] = coef_[j] + share * step_[j];
                const double reached = measure<kind>(trial_);
                const double promised = -share * descent;
                // a decrease this small is lost in the rounding errors of the two values
                if (value - reached >= Settings::armijo * promised ||
                    promised <= Settings::fit_level * (1.0 + std::abs(value))) {
                    value = reached;
                    break;
                }
            }
            coef_.swap(trial_);
        }
        return false;
    }

    // Whether the minimizer found is the only one. A row on the edge of a curved piece of the loss may owe its
    // curvature to rounding: beyond the edge other minimizers may lie.
    template <Loss kind>
    bool is_single() {
        if constexpr (kind == Loss::SQUARED_HINGE || kind == Loss::HUBER) {
            bool on_edge = false;
            for (std::size_t i = 0; i < count; ++i) {
                const double place = kind == Loss::HUBER ? std::abs(margins_[i]) : margins_[i];
                if (bends_[i] == 0.0 || std::abs(place - 1.0) > Settings::fit_edge) continue;
                bends_[i] = 0.0;
                on_edge = true;
            }
            if (!on_edge) return true;
            trial_ = step_;
            const bool single = find_step();
            step_.swap(trial_);
            return single;
        }
        return true;
    }

    // step = -H^{-1} gradient where the rows were measured; false if H is singular up to rounding.
    bool find_step() {
        for (int j = 0; j < size; ++j) {
            const double* column = columns.row(j, count);
            gradient_[j] = sum_of_products(slopes_.data(), column, count) + 2.0 * strength[j] * coef_[j];
            for (std::size_t i = 0; i < count; ++i) column_[i] = bends_[i] * column[i];
            for (int k = 0; k <= j; ++k) {
                hessian_.row(k, size)[j] = sum_of_products(column_.data(), columns.row(k, count), count);
            }
            double& diagonal = hessian_.row(j, size)[j];
            diagonal += 2.0 * strength[j];
            if (!(diagonal > 0.0)) return false;
            root_[j] = 1.0 / std::sqrt(diagonal);
        }
        for (int k = 0; k < size; ++k) {
            for (int j = k; j < size; ++j) hessian_.row(k, size)[j] *= root_[k] * root_[j];
        }
        if (!factor_.factorize(hessian_, Settings::fit_pivot)) return false;
        for (int j = 0; j < size; ++j) step_[j] = -root_[j] * gradient_[j];
        factor_.solve_transposed(step_.data(), step_.data());
        factor_.solve(step_.data(), step_.data());
        for (int j = 0; j < size; ++j) step_[j] *= root_[j];
        return true;
    }

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
