// The rows of one draw under a smooth loss: its value and its derivatives.
#pragma once

#include "linear_algebra/cholesky.hpp"
#include "problem/arrangement.hpp"
#include "problem/loss.hpp"

namespace cudbound {

// n L(beta) = sum_i mass_i loss(margin_i) + n beta'P beta, with margin_i = y_i (x_i'beta + offset_i).
template <Loss kind>
class DrawnRows {
 public:
    // A vanishing loss leaves rows out whose share is negligible.
    struct Value {
        double total = 0.0;
        double dropped = 0.0;  // contribution of the rows left out
    };

    DrawnRows(const Problem& problem, const Arrangement& arrangement)
        : problem_(problem), arrangement_(arrangement), p_(static_cast<int>(problem.p)) {
        ridge_.assign(p_ * p_, 0.0);
        for (int k = 0; k < p_ * p_ && problem.penalty != nullptr; ++k) {
            ridge_[k] = 2.0 * static_cast<double>(problem.n) * problem.penalty[k];
        }
        columns_.reserve(problem.n * p_);
        turned_.reserve(problem.n * p_);
        for (auto* vector :
             {&mass_, &offset_, &margins_, &slopes_, &bends_, &losses_, &weighted_, &lengths_, &dual_lengths2_}) {
            vector->reserve(problem.n);
        }
        drawn_.reserve(problem.n);
        gone_.reserve(problem.n);
    }

    void set(std::int64_t draw) {
        constant_ = 0.0;
        drawn_.clear();
        mass_.clear();
        offset_.clear();
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double mass = problem_.mass(draw, i);
            if (mass == 0.0) continue;
            const double offset = problem_.shift(i);
            if (arrangement_.of_row[i] < 0) {
                constant_ += mass * loss_at<kind>(offset).value;
                continue;
            }
            drawn_.push_back(i);
        }
        if constexpr (kind == Loss::LOGISTIC) {
            // rows of the same mass next to each other, for their logarithms
            std::ranges::sort(drawn_, {}, [&](std::int64_t i) { return std::pair(problem_.mass(draw, i), i); });
        }
        for (const std::int64_t i : drawn_) {
            mass_.push_back(problem_.mass(draw, i));
            offset_.push_back(problem_.shift(i));
        }
        const std::size_t k = mass_.size();
        columns_.resize(std::ssize(mass_) * p_);
        lengths_.resize(k);
        for (std::size_t i = 0; i < k; ++i) {
            const double label = problem_.labels[drawn_[i]];
            const double* row = problem_.design + drawn_[i] * p_;
            for (int l = 0; l < p_; ++l) columns_.row(l, k)[i] = label * row[l];
            lengths_[i] = length_of(row, p_);
        }
        for (auto* vector : {&margins_, &slopes_, &bends_, &losses_, &weighted_, &dual_lengths2_}) vector->resize(k);
        gone_.assign(k, 0);
    }

    std::size_t count() const { return mass_.size(); }
    const double* column(int l) const { return columns_.row(l, count()); }  // (count) y_i x_il
    const Vector<double>& ridge() const { return ridge_; }                  // (p, p) Hessian of the penalty
    double bend(std::size_t i) const { return bends_[i]; }                  // curvature of row i where it was measured
    const Vector<double>& margins() const { return margins_; }              // where they were measured
    double mass(std::size_t i) const { return mass_[i]; }
    double offset(std::size_t i) const { return offset_[i]; }  // y_i times that of the row
    double constant() const { return constant_; }              // loss of the rows that are zero
    void set_bend(std::size_t i, double bend) { bends_[i] = mass_[i] * bend; }
    void readmit() {
        std::fill(gone_.begin(), gone_.end(), 0);
        vanished_ = Settings::vanished;
    }
    // Rows stay out until their loss exceeds the higher threshold: otherwise some would come and go forever.
    void coarsen() { vanished_ = Settings::returned; }
    // From here on no row is left out.
    void keep_all() { vanished_ = 0.0; }
    double vanished() const { return vanished_; }

    void set_margins(const double* beta) {
        std::copy(offset_.begin(), offset_.end(), margins_.begin());
        add_columns(columns_.data(), beta, p_, margins_.data(), mass_.size());
    }

    double loss(const double* beta) {
        set_margins(beta);
        double sum = constant_ + penalty(beta);
        for (std::size_t i = 0; i < mass_.size(); ++i) sum += mass_[i] * loss_at<kind>(margins_[i]).value;
        return sum;
    }

    // The same for coefficients that are those of every draw: `of_rows` keeps the losses of all rows.
    double loss_at_same(const double* beta, Vector<double>& of_rows) const {
        for (std::int64_t i = std::ssize(of_rows); i < problem_.n; ++i) {
            double margin = problem_.shift(i);
            for (int l = 0; l < p_; ++l) margin += beta[l] * (problem_.labels[i] * problem_.design[i * p_ + l]);
            of_rows.push_back(loss_at<kind>(margin).value);
        }
        double sum = constant_ + penalty(beta);
        for (std::size_t i = 0; i < mass_.size(); ++i) sum += mass_[i] * of_rows[drawn_[i]];
        return sum;
    }

    double penalty(const double* beta) const {
        if (problem_.penalty == nullptr) return 0.0;
        double sum = 0.0;
        for (int a = 0; a < p_; ++a) sum += beta[a] * dot(&ridge_[at(a, 0)], beta, p_);
        return 0.5 * sum;
    }

    // The squared lengths of the rows in the metric dual to that of R'R.
    const Vector<double>& measure_lengths(const Cholesky& factor) {
        turned_ = columns_;
        factor.solve_transposed(turned_.data(), static_cast<int>(count()), dual_lengths2_.data());
        return dual_lengths2_;
    }
    const Vector<double>& lengths2() const { return dual_lengths2_; }  // where they were measured last

    void penalty_slope(const double* beta, double* result) const {
        for (int a = 0; a < p_; ++a) result[a] = dot(&ridge_[at(a, 0)], beta, p_);
    }

    // The loss, and its derivatives row by row.
    Value measure(const double* beta) {
        set_margins(beta);
        Value value{constant_ + penalty(beta), 0.0};
        const std::size_t k = mass_.size();
        for (std::size_t i = 0; i < k; ++i) weighted_[i] = exponential_at<kind>(margins_[i]);
        for (std::size_t i = 0; i < k; ++i) {
            const LossAt here = loss_but_log<kind>(margins_[i], weighted_[i]);
            losses_[i] = mass_[i] * here.value;
            slopes_[i] = mass_[i] * here.slope;
            bends_[i] = mass_[i] * here.bend;
        }
        SumOfLogs logs;
        for (std::size_t i = 0; i < k; ++i) {
            double share = losses_[i];
            value.total += share;
            if constexpr (kind == Loss::LOGISTIC) {
                logs.add(mass_[i], weighted_[i]);
                share += mass_[i] * weighted_[i];  // more than the logarithm
            }
            if constexpr (vanishes<kind>) {
                gone_[i] = share < (gone_[i] ? Settings::returned : vanished_);
                if (!gone_[i]) continue;
                value.dropped += share;
                slopes_[i] = 0.0;
                bends_[i] = 0.0;
            }
        }
        value.total += logs.total();
        return value;
    }

    // The least of what single rows add to the slope for each unit of the slope of their loss.
    double least_pull() const {
        double least = infinity;
        for (std::size_t i = 0; i < mass_.size(); ++i) least = std::min(least, mass_[i] * lengths_[i]);
        return least;
    }

    // What the margins lose by rounding is worth this times the length of the coefficients, in units of a rounding
    // error.
    double steepness() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < mass_.size(); ++i) sum += std::abs(slopes_[i]) * lengths_[i];
        return sum;
    }

    // What the rows lose together that lose no more than `most` each where they were measured, without those left out.
    double lost_by_rows_below(double most) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < mass_.size(); ++i) {
            const double share = mass_[i] * loss_at<kind>(margins_[i]).value;
            if (!gone_[i] && share <= most) sum += share;
        }
        return sum;
    }

    // Whether a step from `beta` leaves every curved row on its piece of the loss.
    bool keep_pieces(const double* beta, const double* step) {
        const std::size_t k = mass_.size();
        set_margins(beta);
        std::copy(margins_.begin(), margins_.end(), weighted_.begin());
        add_columns(columns_.data(), step, p_, weighted_.data(), k);
        for (std::size_t i = 0; i < k; ++i) {
            if (loss_at<kind>(margins_[i]).bend > 0.0 && !(loss_at<kind>(weighted_[i]).bend > 0.0)) return false;
        }
        return true;
    }

    // Gradient (p) where it was measured.
    void gradient(const double* beta, double* result) const {
        const std::size_t k = mass_.size();
        for (int a = 0; a < p_; ++a) {
            result[a] = sum_of_products(slopes_.data(), column(a), k);
            if (problem_.penalty != nullptr) result[a] += dot(&ridge_[at(a, 0)], beta, p_);
        }
    }

    // Hessian (p, p), the upper triangle, from the rows' curvatures.
    void hessian(Vector<double>& result) {
        const std::size_t k = mass_.size();
        for (int a = 0; a < p_; ++a) {
            const double* left = column(a);
            for (std::size_t i = 0; i < k; ++i) weighted_[i] = bends_[i] * left[i];
            for (int b = a; b < p_; ++b) {
                result[at(a, b)] = ridge_[at(a, b)] + sum_of_products(weighted_.data(), column(b), k);
            }
        }
    }

 private:
    int at(int row, int column) const { return row * p_ + column; }

    const Problem& problem_;
    const Arrangement& arrangement_;
    const int p_;
    double constant_ = 0.0;  // loss of the zero rows
    Vector<double> ridge_;
    Vector<std::int64_t> drawn_;
    Vector<double> columns_;
    Vector<double> turned_;   // scratch
    Vector<double> lengths_;  // of the rows
    Vector<double> dual_lengths2_;
    Vector<double> mass_;
    Vector<double> offset_;
    Vector<double> margins_;
    Vector<double> slopes_;
    Vector<double> bends_;
    Vector<double> losses_;
    Vector<double> weighted_;
    Vector<char> gone_;  // rows that are left out
    double vanished_ = Settings::vanished;
};

}  // namespace cudbound
