// What coefficients are worth in a draw, from the definitions, with every rounding error of this evaluation on either
// side: a value that leaves the interval is a contradiction, however badly the numbers are scaled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cudbound/draws.hpp"
#include "oracles.hpp"

struct Enclosed {
    long double low = 0.0L;
    long double high = 0.0L;
};

class EnclosedValue {
 public:
    EnclosedValue(const cudbound::Problem& problem, std::int64_t draw, cudbound::Side side)
        : problem_(problem),
          draw_(draw),
          side_(side),
          n_(static_cast<long double>(problem.n)),
          anchor_loss_(loss(problem.anchor, true)) {}

    // Coefficients on a hyperplane, or within rounding of it, may belong to the cell on either side, and so may each
    // row on its own: `low` is at most the value of every open cell that they touch. Losses that are no number tell
    // nothing.
    //
    // `excess` is a loss, in units of n L, that is not held against the coefficients in `high`.
    Enclosed at(const double* coef, long double excess = 0.0L) const {
        const Enclosed here = loss(coef, false);
        Enclosed g{0.0L, 1.0L};
        if (std::isfinite(here.high) && std::isfinite(anchor_loss_.high)) {
            g = {falling(here.high - anchor_loss_.low), falling(here.low - anchor_loss_.high - excess)};
        }
        const Enclosed sum = score(coef);
        Enclosed best;
        if (side_ != cudbound::Side::NEGATIVE) best = {std::max(best.low, sum.low), std::max(best.high, sum.high)};
        if (side_ != cudbound::Side::POSITIVE) best = {std::max(best.low, -sum.high), std::max(best.high, -sum.low)};
        return {best.low * g.low, best.high * g.high};
    }

    // Of the absolute weights.
    long double total() const {
        long double sum = 0.0L;
        for (std::int64_t i = 0; i < problem_.n; ++i) sum += std::abs(weight(i));
        return sum;
    }

    // n L at beta = 0, which scales the rounding errors of losses.
    long double loss_at_zero() const {
        const double zeros[8] = {};
        return loss(zeros, false).high;
    }

    long double anchor_loss() const { return anchor_loss_.high; }

 private:
    static constexpr long double eps = std::numeric_limits<long double>::epsilon();

    struct Side {
        long double value = 0.0L;
        long double error = 0.0L;
        bool zero_row = true;
    };

    Side side(std::int64_t i, const double* coef, double offset) const {
        Side sum{offset, std::abs(static_cast<long double>(offset)), true};
        for (std::int64_t k = 0; k < problem_.p; ++k) {
            const double x = problem_.design[i * problem_.p + k];
            sum.zero_row = sum.zero_row && x == 0.0;
            const long double term = static_cast<long double>(x) * coef[k];
            sum.value += term;
            sum.error += std::abs(term);
        }
        sum.error *= static_cast<long double>(problem_.p + 2) * eps;
        return sum;
    }

    long double weight(std::int64_t i) const {
        if (problem_.weights != nullptr) return problem_.weights[draw_ * problem_.n + i];
        return (problem_.counts[draw_ * problem_.n + i] - 1) / n_;
    }

    Enclosed score(const double* coef) const {
        Enclosed sum;
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const Side here = side(i, coef, 0.0);
            const long double added = weight(i);
            const bool certain = here.zero_row || std::abs(here.value) > here.error;
            const bool wrong = (here.value >= 0.0L) != (problem_.labels[i] > 0.0);
            sum.low += certain ? (wrong ? added : 0.0L) : std::min(0.0L, added);
            sum.high += certain ? (wrong ? added : 0.0L) : std::max(0.0L, added);
        }
        const long double error = (n_ + 2.0L) * eps * total();
        return {sum.low - error, sum.high + error};
    }

    // n L, and the interval that rounding leaves.
    Enclosed loss(const double* coef, bool is_anchor) const {
        long double sum = 0.0L;
        long double error = 0.0L;
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            long double mass = problem_.counts[draw_ * problem_.n + i];
            if (problem_.sample_weight != nullptr) mass *= problem_.sample_weight[i];
            if (problem_.draw_scale != nullptr) mass *= problem_.draw_scale[draw_];
            if (!(mass > 0.0L)) continue;
            const Side here = side(i, coef, problem_.offset != nullptr ? problem_.offset[i] : 0.0);
            const long double margin = problem_.labels[i] * here.value;
            const long double steepest =
                std::max(std::abs(oracle::surrogate(problem_.loss, margin - here.error).slope),
                         std::abs(oracle::surrogate(problem_.loss, margin + here.error).slope));
            const long double value = mass * oracle::surrogate(problem_.loss, margin).value;
            sum += value;
            error += mass * steepest * here.error + 8.0L * eps * value;
        }
        long double penalty = 0.0L;
        long double terms = 0.0L;
        for (std::int64_t a = 0; problem_.penalty != nullptr && a < problem_.p; ++a) {
            for (std::int64_t b = 0; b < problem_.p; ++b) {
                const long double term = n_ * coef[a] * problem_.penalty[a * problem_.p + b] * coef[b];
                penalty += term;
                terms += std::abs(term);
            }
        }
        // the penalty of the anchor that a problem states may be larger, or smaller by the rounding of the caller
        const long double stated = n_ * problem_.anchor_penalty;
        const bool is_stated = is_anchor && problem_.penalty != nullptr;
        const long double more = is_stated ? std::max(0.0L, stated - penalty) : 0.0L;
        const long double less = is_stated ? std::min(0.0L, stated - penalty) : 0.0L;
        terms += more;
        for (std::int64_t a = 0; problem_.l1 != nullptr && a < problem_.p; ++a) {
            const long double term = n_ * problem_.l1[a] * std::abs(coef[a]);
            penalty += term;
            terms += term;
        }
        error += eps * (static_cast<long double>(problem_.p * problem_.p + 4) * terms + (n_ + 2.0L) * sum);
        return {sum + penalty + less - error, sum + penalty + more + error};
    }

    long double falling(long double excess) const {
        if (excess <= 0.0L) return 1.0L;
        if (std::isinf(problem_.alpha)) return 0.0L;
        return std::clamp(1.0L - problem_.alpha / n_ * excess, 0.0L, 1.0L);
    }

    const cudbound::Problem& problem_;
    const std::int64_t draw_;
    const cudbound::Side side_;
    const long double n_;
    const Enclosed anchor_loss_;
};
