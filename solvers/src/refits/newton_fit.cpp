#include "refits/newton_fit.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"
#include "problem/loss.hpp"

namespace cudbound {

namespace {

// sums = sum_j coef_j column_j
void combine(const SignedRows& rows, const std::vector<double>& coef, std::vector<double>& sums) {
    std::fill_n(sums.begin(), rows.count, 0.0);
    for (int j = 0; j < rows.size; ++j) {
        const double* column = rows.columns + static_cast<std::size_t>(j) * rows.count;
        const double factor = coef[j];
        for (std::size_t i = 0; i < rows.count; ++i) sums[i] += factor * column[i];
    }
}

double largest(const std::vector<double>& values, std::size_t count) {
    double most = 0.0;
    for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::abs(values[i]));
    return most;
}

}  // namespace

NewtonFit::NewtonFit(std::size_t count, int size) : factor_(size) {
    const auto coefficients = static_cast<std::size_t>(size);
    for (auto* vector : {&coef_, &step_, &trial_, &gradient_, &root_}) vector->resize(coefficients);
    for (auto* vector : {&margins_, &slopes_, &bends_, &column_}) vector->resize(count);
    hessian_.resize(coefficients * coefficients);
}

bool NewtonFit::minimize(Loss loss, const SignedRows& rows) {
    factor_.set_order(rows.size);
    return with_loss(loss, [&]<Loss kind>() {
        if constexpr (kind == Loss::HINGE) {
            return false;  // a kink is not for Newton's method
        } else {
            return minimize_kind<kind>(rows);
        }
    });
}

// The penalized loss; fills in margins, slopes and bends.
template <Loss kind>
double NewtonFit::measure(const SignedRows& rows, const std::vector<double>& coef) {
    combine(rows, coef, margins_);
    double value = 0.0;
    for (std::size_t i = 0; i < rows.count; ++i) {
        const LossAt here = loss_at<kind>(margins_[i]);
        value += rows.weights[i] * here.value;
        slopes_[i] = rows.weights[i] * here.slope;
        bends_[i] = rows.weights[i] * here.bend;
    }
    for (int j = 0; j < rows.size; ++j) value += rows.penalty[j] * coef[j] * coef[j];
    return value;
}

template <Loss kind>
bool NewtonFit::minimize_kind(const SignedRows& rows) {
    std::fill_n(coef_.begin(), rows.size, 0.0);
    double value = measure<kind>(rows, coef_);
    for (int iteration = 0; iteration < Settings::fit_steps; ++iteration) {
        if (!find_step(rows)) return false;
        combine(rows, step_, column_);
        change_ = largest(column_, rows.count);
        if (change_ <= Settings::fit_settled * (1.0 + largest(margins_, rows.count))) {
            // steps shrink quadratically, or are exact once every row keeps its piece of the loss
            for (int j = 0; j < rows.size; ++j) coef_[j] += step_[j];
            return is_single<kind>(rows);
        }
        const double descent = dot(gradient_.data(), step_.data(), rows.size);
        if (!(descent < 0.0) || !std::isfinite(change_)) return false;
        double share = 1.0;
        while (true) {
            for (int j = 0; j < rows.size; ++j) trial_[j] = coef_[j] + share * step_[j];
            const double found = measure<kind>(rows, trial_);
            const double promised = -share * descent;
            // a decrease this small is lost in the rounding errors of the two values
            if (value - found >= Settings::armijo * promised ||
                promised <= Settings::fit_level * (1.0 + std::abs(value))) {
                value = found;
                break;
            }
            share *= 0.5;
            if (share < Settings::fit_least_share) return false;
        }
        coef_.swap(trial_);
    }
    return false;
}

// Whether the minimizer found is the only one. A row on the edge of a curved piece of the loss may owe its curvature to
// rounding: beyond the edge other minimizers may lie.
template <Loss kind>
bool NewtonFit::is_single(const SignedRows& rows) {
    if constexpr (kind == Loss::SQUARED_HINGE || kind == Loss::HUBER) {
        bool on_edge = false;
        for (std::size_t i = 0; i < rows.count; ++i) {
            const double place = kind == Loss::HUBER ? std::abs(margins_[i]) : margins_[i];
            if (bends_[i] == 0.0 || std::abs(place - 1.0) > Settings::fit_edge) continue;
            bends_[i] = 0.0;
            on_edge = true;
        }
        if (!on_edge) return true;
        trial_ = step_;
        const bool single = find_step(rows);
        step_.swap(trial_);
        return single;
    }
    return true;
}

// step = -H^{-1} gradient where the rows were measured; false if H is singular up to rounding.
bool NewtonFit::find_step(const SignedRows& rows) {
    const auto size = static_cast<std::size_t>(rows.size);
    for (std::size_t j = 0; j < size; ++j) {
        const double* column = rows.columns + j * rows.count;
        gradient_[j] = sum_of_products(slopes_.data(), column, rows.count) + 2.0 * rows.penalty[j] * coef_[j];
        for (std::size_t i = 0; i < rows.count; ++i) column_[i] = bends_[i] * column[i];
        for (std::size_t k = 0; k <= j; ++k) {
            hessian_[k * size + j] = sum_of_products(column_.data(), rows.columns + k * rows.count, rows.count);
        }
        hessian_[j * size + j] += 2.0 * rows.penalty[j];
        if (!(hessian_[j * size + j] > 0.0)) return false;
        root_[j] = 1.0 / std::sqrt(hessian_[j * size + j]);
    }
    for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t j = k; j < size; ++j) hessian_[k * size + j] *= root_[k] * root_[j];
    }
    if (!factor_.factorize(hessian_, Settings::fit_pivot)) return false;
    for (std::size_t j = 0; j < size; ++j) step_[j] = -root_[j] * gradient_[j];
    factor_.solve_transposed(step_.data(), step_.data());
    factor_.solve(step_.data(), step_.data());
    for (std::size_t j = 0; j < size; ++j) step_[j] *= root_[j];
    return true;
}

}  // namespace cudbound
