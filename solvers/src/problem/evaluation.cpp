#include "problem/evaluation.hpp"

#include "linear_algebra/vector_math.hpp"
#include "problem/loss.hpp"

namespace cudbound {

LossAt loss_at(Loss loss, double margin) {
    return with_loss(loss, [margin]<Loss kind>() { return loss_at<kind>(margin); });
}

Evaluation::Evaluation(const Problem& problem)
    : problem_(problem),
      p_(problem.callers_p()),
      design_(problem.raw.design == nullptr ? problem.design : problem.raw.design),
      rounding_(Settings::side_rounding * static_cast<double>(p_ + 2)),
      columns_(problem.n * p_),
      zero_row_(problem.n, 1),
      lengths_(problem.n),
      doubts_(problem.n) {
    for (std::int64_t i = 0; i < problem.n; ++i) {
        for (std::int64_t j = 0; j < p_; ++j) {
            const double x = design_[i * p_ + j];
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

void Evaluation::from_beta(const double* beta, double* coef) const {
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

void Evaluation::measure(const double* coef) {
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

double Evaluation::margin(std::int64_t i) const {
    return problem_.labels[i] * (problem_.offset == nullptr ? sides_[i] : sides_[i] + problem_.offset[i]);
}

double Evaluation::margin_error(std::int64_t i) const {
    const double offset = problem_.offset == nullptr ? 0.0 : std::abs(problem_.offset[i]);
    return rounding_ * sizes_[i] + Settings::unit_error * offset;
}

bool Evaluation::is_clear(std::int64_t i) const {
    return std::abs(sides_[i]) > std::max(rounding_ * sizes_[i], Settings::side_clear * lengths_[i] * length_);
}

bool Evaluation::is_wrong(std::int64_t i) const { return (sides_[i] >= 0.0) != (problem_.labels[i] > 0.0); }

// The steepest slope of the loss within `off` of the margin, times that.
double Evaluation::doubt_of_row(std::int64_t i, double off) const {
    return with_loss(problem_.loss, [&]<Loss kind>() {
        const double below = std::abs(loss_at<kind>(margin(i) - off).slope);
        const double above = std::abs(loss_at<kind>(margin(i) + off).slope);
        return std::max(below, above) * off;
    });
}

double Evaluation::penalty(const double* coef) const {
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
double Evaluation::with_drawn(std::int64_t draw, double sum, const Term& term) const {
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double mass = problem_.mass(draw, i);
        if (mass > 0.0) sum += mass * term(i);
    }
    return sum;
}

double Evaluation::loss(std::int64_t draw) const {
    return with_loss(problem_.loss, [&]<Loss kind>() {
        return with_drawn(draw, penalty_, [&](auto i) { return loss_at<kind>(margin(i)).value; });
    });
}

double Evaluation::doubt(std::int64_t draw, double value) const {
    return with_drawn(draw, Settings::unit_error * (penalty_ + value),
                      [&](auto i) { return doubt_of_row(i, margin_error(i)); });
}

double Evaluation::anchor_loss(std::int64_t draw) const {
    double value = with_drawn(draw, of_anchor_.penalty, [&](auto i) { return of_anchor_.losses[i]; });
    const double doubt = with_drawn(draw, 0.0, [&](auto i) { return of_anchor_.doubts[i]; });
    value -= Settings::unit_error * (of_anchor_.penalty + value) + doubt;
    return problem_.raw.design != nullptr ? value : value + problem_.beyond_penalty(of_anchor_.penalty);
}

bool Evaluation::anchor_score(std::int64_t draw, double* value) const {
    for (const std::int64_t i : of_anchor_.unclear) {
        if (problem_.weight(draw, i) != 0.0) return false;
    }
    *value = 0.0;
    for (const std::int64_t i : of_anchor_.wrong) *value += problem_.weight(draw, i);
    return std::isfinite(*value);
}

double Evaluation::anchor_doubt(std::int64_t draw) const {
    const std::int32_t* counts = problem_.counts + draw * problem_.n;
    if (problem_.sample_weight == nullptr && problem_.draw_scale == nullptr &&
        largest_doubt_ < Settings::negligible_doubt) {
        std::int64_t rows = 0;
        for (std::int64_t i = 0; i < problem_.n; ++i) rows += counts[i];
        return largest_doubt_ * static_cast<double>(rows);
    }
    return with_drawn(draw, 0.0, [&](auto i) { return doubts_[i]; });
}

bool Evaluation::score(std::int64_t draw, double* value, const Vector<char>* strict) const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double weight = problem_.weight(draw, i);
        if (weight == 0.0) continue;
        const bool must = strict == nullptr ? !zero_row_[i] : (*strict)[i] != 0;
        if (must && !is_clear(i)) return false;
        if (is_wrong(i)) sum += weight;
    }
    *value = sum;
    return std::isfinite(sum);
}

}  // namespace cudbound
