#include "problem/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "problem/loss.hpp"

namespace cudbound {

Evaluation::Evaluation(const Problem& problem)
    : problem_(problem),
      p_(problem.raw.design == nullptr ? problem.p : problem.raw.p),
      design_(problem.raw.design == nullptr ? problem.design : problem.raw.design),
      anchor_(problem.raw.design == nullptr ? problem.anchor : problem.raw.anchor),
      rounding_(Settings::side_rounding * static_cast<double>(p_ + 2)),
      columns_(static_cast<std::size_t>(problem.n * p_)),
      zero_row_(static_cast<std::size_t>(problem.n), 1),
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
    measure(anchor_, &of_anchor_);
    measured_ = of_anchor_;
    for (std::int64_t i = 0; i < problem.n; ++i) {
        double in_problem = 0.0;
        for (std::int64_t k = 0; k < problem.p; ++k)
            in_problem += problem.design[i * problem.p + k] * problem.anchor[k];
        const double off = std::abs(of_anchor_.sides[i] - in_problem) + margin_error(i, of_anchor_.sizes[i]);
        doubts_[i] = slope(margin(i, of_anchor_.sides[i]), off) * off;
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

void Evaluation::measure(const double* coef, Measured* measured) const {
    const auto n = static_cast<std::size_t>(problem_.n);
    measured->sides.assign(n, 0.0);
    measured->sizes.assign(n, 0.0);
    for (std::int64_t j = 0; j < p_; ++j) {
        const double* column = &columns_[static_cast<std::size_t>(j) * n];
        for (std::size_t i = 0; i < n; ++i) {
            const double term = column[i] * coef[j];
            measured->sides[i] += term;
            measured->sizes[i] += std::abs(term);
        }
    }
    measured->length = 0.0;
    for (std::int64_t j = 0; j < p_; ++j) measured->length += coef[j] * coef[j];
    measured->length = std::sqrt(measured->length);
    measured->penalty = penalty(coef);
}

double Evaluation::margin(std::int64_t i, double side) const {
    return problem_.labels[i] * (problem_.offset == nullptr ? side : side + problem_.offset[i]);
}

// Rounding error of a margin, given the sum of the absolute terms of its side.
double Evaluation::margin_error(std::int64_t i, double size) const {
    const double offset = problem_.offset == nullptr ? 0.0 : std::abs(problem_.offset[i]);
    return rounding_ * size + Settings::unit_error * offset;
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

double Evaluation::loss(std::int64_t draw, const Measured& measured) const {
    return with_loss(problem_.loss, [&]<Loss kind>() {
        double sum = measured.penalty;
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double mass = problem_.mass(draw, i);
            if (!(mass > 0.0)) continue;  // a loss with zero weight may be infinite
            sum += mass * loss_at<kind>(margin(i, measured.sides[i])).value;
        }
        return sum;
    });
}

double Evaluation::doubt(std::int64_t draw, double value, const Measured& measured) const {
    double sum = Settings::unit_error * (measured.penalty + value);
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double mass = problem_.mass(draw, i);
        if (!(mass > 0.0)) continue;
        const double off = margin_error(i, measured.sizes[i]);
        sum += mass * slope(margin(i, measured.sides[i]), off) * off;
    }
    return sum;
}

// The steepest slope of the loss that close to a margin.
double Evaluation::slope(double margin, double off) const {
    return with_loss(problem_.loss, [&]<Loss kind>() {
        return std::max(std::abs(loss_at<kind>(margin - off).slope), std::abs(loss_at<kind>(margin + off).slope));
    });
}

double Evaluation::anchor_loss(std::int64_t draw) const {
    const double rounded = loss(draw, of_anchor_);
    const double value = rounded - doubt(draw, rounded, of_anchor_);
    return problem_.raw.design != nullptr ? value : value + problem_.beyond_penalty(of_anchor_.penalty);
}

double Evaluation::anchor_doubt(std::int64_t draw) const {
    const std::int32_t* counts = problem_.counts + draw * problem_.n;
    if (problem_.sample_weight == nullptr && problem_.draw_scale == nullptr &&
        largest_doubt_ < Settings::negligible_doubt) {
        std::int64_t rows = 0;
        for (std::int64_t i = 0; i < problem_.n; ++i) rows += counts[i];
        return largest_doubt_ * static_cast<double>(rows);
    }
    double sum = 0.0;
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double mass = problem_.mass(draw, i);
        if (mass > 0.0) sum += mass * doubts_[i];
    }
    return sum;
}

bool Evaluation::score(std::int64_t draw, const Measured& measured, double* value,
                       const std::vector<char>* strict) const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double weight = problem_.weight(draw, i);
        if (weight == 0.0) continue;
        const double side = measured.sides[i];
        const double near =
            std::max(rounding_ * measured.sizes[i], Settings::side_clear * lengths_[i] * measured.length);
        const bool must = strict == nullptr ? !zero_row_[i] : (*strict)[i] != 0;
        if (must && !(std::abs(side) > near)) return false;
        if ((side >= 0.0) != (problem_.labels[i] > 0.0)) sum += weight;
    }
    *value = sum;
    return std::isfinite(sum);
}

}  // namespace cudbound
