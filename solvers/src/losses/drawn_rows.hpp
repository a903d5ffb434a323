// The rows of one draw under a smooth loss: its value and its derivatives.
#pragma once

#include <array>
#include <numeric>

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
        : problem_(problem),
          arrangement_(arrangement),
          p_(static_cast<int>(problem.p)),
          compared_(p_),
          ratio_(p_ * p_),
          square_(p_ * p_),
          row_(p_) {
        ridge_.assign(p_ * p_, 0.0);
        for (int k = 0; k < p_ * p_ && problem.penalty != nullptr; ++k) {
            ridge_[k] = 2.0 * static_cast<double>(problem.n) * problem.penalty[k];
        }
        columns_.reserve(problem.n * p_);
        turned_.reserve(problem.n * p_);
        for (auto* vector : {&mass_, &offset_, &margins_, &slopes_, &bends_, &losses_, &weighted_, &lengths_,
                             &dual_lengths2_, &compared_lengths2_}) {
            vector->reserve(problem.n);
        }
        order_.resize(problem.n);
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
        if (kind == Loss::LOGISTIC && problem.sample_weight != nullptr) {
            std::ranges::sort(order_, {}, [&](std::int64_t i) { return std::pair(problem.sample_weight[i], i); });
        }
        drawn_.reserve(problem.n);
        grouped_.reserve(problem.n);
        ends_.reserve(problem.n);
        by_length_.reserve(problem.n);
        gone_.reserve(problem.n);
    }

    void set(std::int64_t draw) {
        constant_ = 0.0;
        drawn_.clear();
        mass_.clear();
        offset_.clear();
        for (const std::int64_t i : order_) {
            const double mass = problem_.mass(draw, i);
            if (mass == 0.0) continue;
            const double offset = problem_.shift(i);
            if (arrangement_.of_row[i] < 0) {
                constant_ += mass * loss_at<kind>(offset).value;
                continue;
            }
            drawn_.push_back(i);
        }
        if constexpr (kind == Loss::LOGISTIC) group_drawn(draw);
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
        is_compared_ = false;
        for (auto* vector : {&margins_, &slopes_, &bends_, &losses_, &weighted_, &dual_lengths2_}) vector->resize(k);
        gone_.assign(k, 0);
        any_gone_ = false;
        ends_.clear();
        std::size_t begin = 0;
        for (std::size_t i = 1; i <= k; ++i) {
            if (i < k && mass_[i] == mass_[begin] && i - begin < Settings::most_factors) continue;
            ends_.push_back(i);
            begin = i;
        }
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
        any_gone_ = false;
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

    // The largest length of a curved row in the metric dual to that of R'R. Rows are compared by their lengths in the
    // metric of the first call for a draw: those that are short there are so here, unless the metric has changed more.
    double longest(const Cholesky& factor) {
        if (!is_compared_ || count() < Effort::rows_to_compare * static_cast<std::size_t>(p_)) {
            return std::sqrt(longest_of_all(factor));
        }
        const double stretch = stretched2(factor);
        double most = 0.0;
        for (std::size_t k = 0; k < count(); ++k) {
            if (k == sorted_) sort_one_more();
            const std::size_t i = by_length_[count() - 1 - k];
            if (compared_lengths2_[i] * stretch <= most) break;
            if (!(bends_[i] > 0.0)) continue;
            for (int l = 0; l < p_; ++l) row_[l] = column(l)[i];
            factor.solve_transposed(row_.data(), row_.data());
            most = std::max(most, dot(row_.data(), row_.data(), p_));
        }
        return std::sqrt(most);
    }

    void penalty_slope(const double* beta, double* result) const {
        for (int a = 0; a < p_; ++a) result[a] = dot(&ridge_[at(a, 0)], beta, p_);
    }

    // The loss, and its derivatives row by row.
    Value measure(const double* beta) {
        set_margins(beta);
        Value value{constant_ + penalty(beta), 0.0};
        const std::size_t k = mass_.size();
        measure_rows(k, mass_.data(), margins_.data(), weighted_.data(), losses_.data(), slopes_.data(), bends_.data());
        const double* losses = losses_.data();
        value.total += sum_in_fours(k, [losses](std::size_t i) { return losses[i]; });
        if constexpr (kind == Loss::LOGISTIC) {
            value.total += sum_of_logs();
            for (std::size_t i = 0; i < k; ++i) losses_[i] += mass_[i] * weighted_[i];  // more than the logarithm
        }
        if constexpr (vanishes<kind>) value.dropped = leave_rows_out();
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
    // Their exponentials, and their losses but for the logarithms, slopes and curvatures, with their masses: loops that
    // compilers vectorize.
    static void measure_rows(std::size_t count, const double* mass, const double* margins, double* __restrict e,
                             double* __restrict losses, double* __restrict slopes, double* __restrict bends) {
        if constexpr (kind == Loss::LOGISTIC) {
            for (std::size_t i = 0; i < count; ++i) e[i] = std::abs(margins[i]);
            for (std::size_t i = 0; i < count; ++i) e[i] = e[i] > 709.0 ? -709.0 : -e[i];
            for (std::size_t i = 0; i < count; ++i) e[i] = exponential_of_negative(e[i]);
        } else {
            for (std::size_t i = 0; i < count; ++i) e[i] = exponential_at<kind>(margins[i]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const LossAt here = loss_but_log<kind>(margins[i], e[i]);
            losses[i] = mass[i] * here.value;
            slopes[i] = mass[i] * here.slope;
            bends[i] = mass[i] * here.bend;
        }
    }

    // Rows of the same mass next to each other, for their logarithms: by how often they are drawn, and in that by
    // weight.
    void group_drawn(std::int64_t draw) {
        const std::int32_t* counts = problem_.counts + draw * problem_.n;
        constexpr std::int32_t often = 16;  // too rare to matter
        std::array<std::size_t, often + 1> places{};
        for (const std::int64_t i : drawn_) ++places[static_cast<std::size_t>(std::min(counts[i], often))];
        std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
        grouped_.resize(drawn_.size());
        for (const std::int64_t i : drawn_) {
            grouped_[places[static_cast<std::size_t>(std::min(counts[i], often))]++] = i;
        }
        drawn_.swap(grouped_);
    }

    // Sum of mass * log(1 + e): rows of the same mass that follow each other need one logarithm, of a product.
    double sum_of_logs() const {
        double sum = 0.0;
        std::size_t begin = 0;
        for (const std::size_t end : ends_) {
            const double* e = &weighted_[begin];
            sum += mass_[begin] * std::log(product_in_fours(end - begin, [e](std::size_t i) { return 1.0 + e[i]; }));
            begin = end;
        }
        return sum;
    }

    // Leaves rows out whose loss, or a little more, is negligible. Returns what they lose together.
    double leave_rows_out() {
        const double *losses = losses_.data(), most = vanished_;
        const auto is_below = [losses, most](std::size_t i) { return losses[i] < most ? 1.0 : 0.0; };
        if (!any_gone_ && sum_in_fours(count(), is_below) == 0.0) return 0.0;
        any_gone_ = false;
        double dropped = 0.0;
        for (std::size_t i = 0; i < count(); ++i) {
            gone_[i] = losses_[i] < (gone_[i] ? Settings::returned : vanished_);
            if (!gone_[i]) continue;
            any_gone_ = true;
            dropped += losses_[i];
            slopes_[i] = 0.0;
            bends_[i] = 0.0;
        }
        return dropped;
    }

    double longest_of_all(const Cholesky& factor) {
        measure_lengths(factor);
        double most = 0.0;
        for (std::size_t i = 0; i < count(); ++i) {
            if (bends_[i] > 0.0) most = std::max(most, dual_lengths2_[i]);
        }
        const auto is_known = [](double length2) { return std::isfinite(length2); };
        if (is_compared_ || !std::ranges::all_of(dual_lengths2_, is_known)) return most;
        is_compared_ = true;
        compared_ = factor;
        compared_lengths2_ = dual_lengths2_;
        by_length_.resize(count());
        std::iota(by_length_.begin(), by_length_.end(), std::size_t{0});
        std::ranges::make_heap(by_length_, {}, [this](std::size_t i) { return compared_lengths2_[i]; });
        sorted_ = 0;
        return most;
    }

    // The longest rows come last, from shorter to longer, as far as that was asked for.
    void sort_one_more() {
        std::ranges::pop_heap(by_length_.begin(), by_length_.end() - static_cast<std::ptrdiff_t>(sorted_), {},
                              [this](std::size_t i) { return compared_lengths2_[i]; });
        ++sorted_;
    }

    // No squared length is more times that in the metric of comparison, of factor S: with M = S R^{-1}, the largest
    // eigenvalue of M'M, which is at most the fourth root of the length of (M'M)^4.
    double stretched2(const Cholesky& factor) {
        std::fill(ratio_.begin(), ratio_.end(), 0.0);
        for (int a = 0; a < p_; ++a) {
            std::copy(compared_.row(a) + a, compared_.row(a) + p_, &ratio_[at(a, a)]);
            factor.solve_transposed(&ratio_[at(a, 0)], &ratio_[at(a, 0)]);
        }
        for (int squaring = 0; squaring < 3; ++squaring) {
            std::fill(square_.begin(), square_.end(), 0.0);
            for (int a = 0; a < p_; ++a) {
                for (int k = 0; k < p_; ++k) {
                    const double* row = &ratio_[at(k, 0)];
                    for (int b = 0; b < p_; ++b) square_[at(a, b)] += row[a] * row[b];
                }
            }
            ratio_.swap(square_);
        }
        const double length = length_of(ratio_.data(), p_ * p_);
        if (!(length > Settings::least_growth)) return infinity;  // unknown
        return Settings::grown_rounding * std::sqrt(std::sqrt(length));
    }

    int at(int row, int column) const { return row * p_ + column; }

    const Problem& problem_;
    const Arrangement& arrangement_;
    const int p_;
    double constant_ = 0.0;  // loss of the zero rows
    Vector<double> ridge_;
    Vector<std::int64_t> order_;  // all rows, those of the same sample weight next to each other under logistic loss
    Vector<std::int64_t> drawn_;
    Vector<std::int64_t> grouped_;  // scratch
    Vector<double> columns_;
    Vector<double> turned_;   // scratch
    Vector<double> lengths_;  // of the rows
    Vector<double> dual_lengths2_;
    Cholesky compared_;  // of the metric in which rows are compared, if `is_compared_`
    bool is_compared_ = false;
    Vector<double> compared_lengths2_;
    Vector<std::size_t> by_length_;  // heap of the rows but for the last `sorted_`
    std::size_t sorted_ = 0;
    Vector<double> ratio_, square_;  // (p, p) scratch
    Vector<double> row_;             // (p) scratch
    Vector<double> mass_;
    Vector<double> offset_;
    Vector<double> margins_;
    Vector<double> slopes_;
    Vector<double> bends_;
    Vector<double> losses_;
    Vector<double> weighted_;
    Vector<std::size_t> ends_;  // of rows of the same mass that follow each other
    Vector<char> gone_;         // rows that are left out
    bool any_gone_ = false;
    double vanished_ = Settings::vanished;
};

}  // namespace cudbound
