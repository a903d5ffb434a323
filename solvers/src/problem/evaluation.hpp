// The value of coefficients, computed in plain floating point from the caller's own rows.
#pragma once

#include "linear_algebra/vector_math.hpp"
#include "problem/loss.hpp"

namespace cudbound {

class Evaluation {
 public:
    explicit Evaluation(const Problem& problem)
        : problem_(problem),
          p_(problem.callers_p()),
          rounding_(Settings::side_rounding * static_cast<double>(p_ + 2)),
          columns_(problem.n * p_),
          zero_row_(problem.n, 1),
          lengths_(problem.n),
          doubts_(problem.n) {
        const double* design = problem.raw.design == nullptr ? problem.design : problem.raw.design;
        for (std::int64_t i = 0; i < problem.n; ++i) {
            for (std::int64_t j = 0; j < p_; ++j) {
                const double x = design[i * p_ + j];
                columns_[j * problem.n + i] = x;
                if (x != 0.0) zero_row_[i] = 0;
                lengths_[i] += x * x;
            }
            lengths_[i] = std::sqrt(lengths_[i]);
        }
        measure(problem.callers_anchor());
        of_anchor_.penalty = penalty_;
        for (std::int64_t i = 0; i < problem.n; ++i) {
            of_anchor_.losses.push_back(loss_at(problem.loss, margin(i)).value);
            of_anchor_.doubts.push_back(doubt_of_row(i, margin_error(i)));
            if (is_wrong(i)) of_anchor_.wrong.push_back(i);
            if (!zero_row_[i] && !is_clear(i)) of_anchor_.unclear.push_back(i);
            double in_problem = 0.0;
            for (std::int64_t k = 0; k < problem.p; ++k)
                in_problem += problem.design[i * problem.p + k] * problem.anchor[k];
            doubts_[i] = doubt_of_row(i, std::abs(sides_[i] - in_problem) + margin_error(i));
            largest_doubt_ = std::max(largest_doubt_, doubts_[i]);
        }
    }

    int size() const { return static_cast<int>(p_); }  // of the caller's coefficients

    // The caller's coefficients for those of the problem.
    void from_beta(const double* beta, double* coef) const {
        if (problem_.raw.design == nullptr) {
            std::copy_n(beta, p_, coef);
            return;
        }
        for (std::int64_t j = 0; j < p_; ++j) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < problem_.p; ++k) sum += problem_.raw.map[j * problem_.p + k] * beta[k];
            coef[j] = sum;
        }
    }

    // Computes the rows times coefficients; the functions below refer to these.
    void measure(const double* coef) {
        const auto n = static_cast<std::size_t>(problem_.n);
        sides_.assign(n, 0.0);
        sizes_.assign(n, 0.0);
        for (std::int64_t j = 0; j < p_; ++j) {
            const double* column = columns_.row(j, n);
            for (std::size_t i = 0; i < n; ++i) {
                const double term = column[i] * coef[j];
                sides_[i] += term;
                sizes_[i] += std::abs(term);
            }
        }
        length_ = length_of(coef, size());
        penalty_ = penalty(coef);
    }

    // n times the penalized mean loss of a draw, and how much rounding may have lowered that value.
    double loss(std::int64_t draw) const {
        return with_loss(problem_.loss, [&]<Loss kind>() {
            return with_drawn(draw, penalty_, [&](auto i) { return loss_at<kind>(margin(i)).value; });
        });
    }

    double doubt(std::int64_t draw, double value) const {
        return with_drawn(draw, Settings::unit_error * (penalty_ + value),
                          [&](auto i) { return doubt_of_row(i, margin_error(i)); });
    }

    // The score sum_i weight_i 1{sign(x_i'coef) != y_i}. Returns false where rounding could change it: the score of a
    // row with a weight is 0 up to rounding, among those listed as strict or among all.
    bool score(std::int64_t draw, double* value, const Vector<char>* strict = nullptr) const {
        double sum = 0.0;
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double weight = problem_.weight(draw, i);
            const bool must = strict == nullptr ? !zero_row_[i] : (*strict)[i] != 0;
            if (must && !is_clear(i) && weight != 0.0) return false;
            sum += static_cast<double>(is_wrong(i)) * weight;  // no branch: sides are random
        }
        *value = sum;
        return std::isfinite(sum);
    }

    // The same of the anchor, whose rows are computed once; the loss is rounded downwards.
    double anchor_loss(std::int64_t draw) const {
        double value = with_drawn(draw, of_anchor_.penalty, [&](auto i) { return of_anchor_.losses[i]; });
        const double doubt = with_drawn(draw, 0.0, [&](auto i) { return of_anchor_.doubts[i]; });
        value -= Settings::unit_error * (of_anchor_.penalty + value) + doubt;
        return problem_.raw.design != nullptr ? value : value + problem_.beyond_penalty(of_anchor_.penalty);
    }

    bool anchor_score(std::int64_t draw, double* value) const {
        for (const std::int64_t i : of_anchor_.unclear) {
            if (problem_.weight(draw, i) != 0.0) return false;
        }
        *value = 0.0;
        for (const std::int64_t i : of_anchor_.wrong) *value += problem_.weight(draw, i);
        return std::isfinite(*value);
    }

    // How much rounding may have lowered the anchor's loss in the coordinates of the problem.
    double anchor_doubt(std::int64_t draw) const {
        const std::int32_t* counts = problem_.counts + draw * problem_.n;
        if (problem_.sample_weight == nullptr && problem_.draw_scale == nullptr &&
            largest_doubt_ < Settings::negligible_doubt) {
            std::int64_t rows = 0;
            for (std::int64_t i = 0; i < problem_.n; ++i) rows += counts[i];
            return largest_doubt_ * static_cast<double>(rows);
        }
        return with_drawn(draw, 0.0, [&](auto i) { return doubts_[i]; });
    }

 private:
    double margin(std::int64_t i) const {
        return problem_.labels[i] * (problem_.offset == nullptr ? sides_[i] : sides_[i] + problem_.offset[i]);
    }

    // From rounding.
    double margin_error(std::int64_t i) const {
        const double offset = problem_.offset == nullptr ? 0.0 : std::abs(problem_.offset[i]);
        return rounding_ * sizes_[i] + Settings::unit_error * offset;
    }

    // Whether rounding cannot change the side of the row.
    bool is_clear(std::int64_t i) const {
        return std::abs(sides_[i]) > std::max(rounding_ * sizes_[i], Settings::side_clear * lengths_[i] * length_);
    }

    bool is_wrong(std::int64_t i) const { return (sides_[i] >= 0.0) != (problem_.labels[i] > 0.0); }

    // The steepest slope of the loss within `off` of the margin, times that.
    double doubt_of_row(std::int64_t i, double off) const {
        return with_loss(problem_.loss, [&]<Loss kind>() {
            const double below = std::abs(loss_at<kind>(margin(i) - off).slope);
            const double above = std::abs(loss_at<kind>(margin(i) + off).slope);
            return std::max(below, above) * off;
        });
    }

    double penalty(const double* coef) const {
        double sum = 0.0;
        if (problem_.raw.design != nullptr) {
            for (std::int64_t j = 0; problem_.raw.penalty != nullptr && j < p_; ++j) {
                sum += problem_.raw.penalty[j] * coef[j] * coef[j];
            }
        } else if (problem_.penalty != nullptr) {
            for (std::int64_t a = 0; a < p_; ++a) {
                for (std::int64_t b = 0; b < p_; ++b) sum += coef[a] * problem_.penalty[a * p_ + b] * coef[b];
            }
        }
        for (std::int64_t j = 0; problem_.l1 != nullptr && j < p_; ++j) sum += problem_.l1[j] * std::abs(coef[j]);
        return static_cast<double>(problem_.n) * sum;
    }

    // Adds mass_i term(i) of every drawn row: the loss of one without weight may be infinite.
    template <class Term>
    double with_drawn(std::int64_t draw, double sum, const Term& term) const {
        if (draw != listed_) list_drawn(draw);
        for (const auto& [row, mass] : drawn_) sum += mass * term(row);
        return sum;
    }

    // No branch: which rows are drawn is random.
    void list_drawn(std::int64_t draw) const {
        std::size_t drawn = 0;
        drawn_.resize(problem_.n);
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double mass = problem_.mass(draw, i);
            drawn_[drawn] = {i, mass};
            drawn += mass > 0.0;
        }
        drawn_.resize(drawn);
        listed_ = draw;
    }

    struct DrawnRow {
        std::int64_t row;
        double mass;
    };

    struct OfAnchor {
        Vector<double> losses;         // (n)
        Vector<double> doubts;         // (n) how much rounding may have lowered them
        Vector<std::int64_t> wrong;    // rows
        Vector<std::int64_t> unclear;  // rows
        double penalty = 0.0;
    };

    const Problem& problem_;
    const std::int64_t p_;
    const double rounding_;   // of a row times coefficients, relative to the sum of the absolute terms
    Vector<double> columns_;  // (p, n) the design, transposed
    Vector<char> zero_row_;   // (n)
    Vector<double> lengths_;  // (n) of the rows
    Vector<double> doubts_;   // (n) of the anchor's loss, for each row
    double largest_doubt_ = 0.0;
    OfAnchor of_anchor_;
    mutable std::int64_t listed_ = -1;  // the draw whose rows are listed
    mutable Vector<DrawnRow> drawn_;
    // of the coefficients that were measured last
    Vector<double> sides_;  // (n) rows times coefficients
    Vector<double> sizes_;  // (n) sums of the absolute terms
    double length_ = 0.0;
    double penalty_ = 0.0;
};

}  // namespace cudbound
