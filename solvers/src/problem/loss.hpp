// The surrogate losses as functions of the margin: the counterparts of cudbound/losses/surrogates.py.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "cudbound/draws.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

// The exponential in the loss, if there is one.
template <Loss loss>
inline double exponential_at(double margin) {
    if constexpr (loss == Loss::LOGISTIC) return std::exp(-std::abs(margin));
    return loss == Loss::EXPONENTIAL ? std::exp(-margin) : 0.0;
}

// exp(x) for x from -708 to 0, up to a unit in the last place, and 0 at -709. With the integer k closest to x / log(2),
// it is 2^k exp(r), of whose Taylor series less than 5e-18 is left out: products of k with the first part of log(2) are
// exact, and adding 1.5 * 2^52 rounds to an integer. Compilers vectorize it, unlike that of the standard library.
inline double exponential_of_negative(double x) {
    constexpr double to_integer = 0x1.8p52;
    const double shifted = x * 0x1.71547652b82fep0 + to_integer;
    const double k = shifted - to_integer;
    const double r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    double series = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;  // 1 / 13! and 1 / 12!
    series = (series * r + 1.0 / 39916800.0) * r + 1.0 / 3628800.0;
    series = (series * r + 1.0 / 362880.0) * r + 1.0 / 40320.0;
    series = (series * r + 1.0 / 5040.0) * r + 1.0 / 720.0;
    series = (series * r + 1.0 / 120.0) * r + 1.0 / 24.0;
    series = (series * r + 1.0 / 6.0) * r + 0.5;
    series = (series * r + 1.0) * r + 1.0;
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52) * series;
}

// Without the logarithm of 1 + e that is part of logistic loss.
template <Loss loss>
inline LossAt loss_but_log(double margin, double e) {
    if constexpr (loss == Loss::LOGISTIC) {
        const double share = 1.0 / (1.0 + e);
        return {margin < 0.0 ? -margin : 0.0, (margin >= 0.0 ? e : 1.0) * -share, e * share * share};
    } else if constexpr (loss == Loss::EXPONENTIAL) {
        return {e, -e, e};
    } else if constexpr (loss == Loss::SQUARED_HINGE) {
        const double lack = std::max(0.0, 1.0 - margin);
        return {lack * lack, -2.0 * lack, lack > 0.0 ? 2.0 : 0.0};
    } else if constexpr (loss == Loss::HINGE) {
        return margin < 1.0 ? LossAt{1.0 - margin, -1.0, 0.0} : LossAt{0.0, 0.0, 0.0};
    } else if constexpr (loss == Loss::SQUARED) {
        return {(1.0 - margin) * (1.0 - margin), -2.0 * (1.0 - margin), 2.0};
    } else {
        static_assert(loss == Loss::HUBER);
        if (margin < -1.0) return {-4.0 * margin, -4.0, 0.0};
        const double lack = std::max(0.0, 1.0 - margin);
        return {lack * lack, -2.0 * lack, lack > 0.0 ? 2.0 : 0.0};
    }
}

template <Loss loss>
inline LossAt loss_at(double margin) {
    const double e = exponential_at<loss>(margin);
    LossAt here = loss_but_log<loss>(margin, e);
    if constexpr (loss == Loss::LOGISTIC) here.value = std::log1p(e) + here.value;
    return here;
}

// Least second derivative on [low, high], of a smooth loss.
template <Loss loss>
inline double least_bend(double low, double high) {
    if constexpr (loss == Loss::LOGISTIC) {
        return loss_at<loss>(std::max(std::abs(low), std::abs(high))).bend;
    } else if constexpr (loss == Loss::EXPONENTIAL) {
        return std::exp(-high);
    } else if constexpr (loss == Loss::SQUARED_HINGE) {
        return high < 1.0 ? 2.0 : 0.0;
    } else {
        return high < 1.0 && low >= -1.0 ? 2.0 : 0.0;
    }
}

// Whether the loss falls to 0 without reaching it. Those that do are self-concordant: the third derivative is at most
// the second, in absolute value (Bach 2010, equation 4). The others are piecewise quadratic.
template <Loss loss>
inline constexpr bool vanishes = loss == Loss::LOGISTIC || loss == Loss::EXPONENTIAL;

// What self-concordance says about a loss away from where its quadratic model was taken (Bach 2010, proposition 1): at
// distance t in the metric of the Hessian the loss has risen above its tangent by at least
//   h(t) = (exp(-r t) + r t - 1) / r^2,
// where r is the largest length of a row in the dual metric.
// min_t h(t) - nu t, negated: how much the loss can undercut its quadratic model at a residual of length nu.
inline double undercut(double nu, double r) {
    const double x = r * nu;
    if (x >= 1.0) return infinity;
    if (x < Settings::series) return nu * nu * (0.5 + x / 6.0 * (1.0 + x));  // more than the series
    return (x + (1.0 - x) * std::log1p(-x)) / (r * r);
}

// The t at which h(t) reaches `rise`.
inline double farthest(double rise, double r) {
    const auto h = [r](double t) {
        const double x = r * t;
        return x < Settings::series ? t * t * (0.5 - x / 6.0) : (std::exp(-x) + x - 1.0) / (r * r);
    };
    double high = r * rise + std::sqrt(2.0 * rise) + 1.0 / std::max(r, Settings::least_divisor);
    double low = 0.0;
    for (int k = 0; k < Effort::halvings && high - low > Settings::bisected * high; ++k) {
        const double middle = 0.5 * (low + high);
        (h(middle) < rise ? low : high) = middle;
    }
    return high;
}

// Calls f with the loss as a constant, so that loops over rows need not ask which it is. The only place that lists the
// losses: without a default, the compiler refuses one that is missing.
template <class F>
auto with_loss(Loss loss, const F& f) {
    switch (loss) {
        case Loss::SQUARED:
            return f.template operator()<Loss::SQUARED>();
        case Loss::LOGISTIC:
            return f.template operator()<Loss::LOGISTIC>();
        case Loss::EXPONENTIAL:
            return f.template operator()<Loss::EXPONENTIAL>();
        case Loss::SQUARED_HINGE:
            return f.template operator()<Loss::SQUARED_HINGE>();
        case Loss::HINGE:
            return f.template operator()<Loss::HINGE>();
        case Loss::HUBER:
            return f.template operator()<Loss::HUBER>();
    }
    throw std::invalid_argument("there is no such loss");
}

}  // namespace cudbound
