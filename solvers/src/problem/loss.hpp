// The surrogate losses as functions of the margin: the counterparts of cudbound/losses/surrogates.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cudbound/draws.hpp"

namespace cudbound {

template <Loss loss>
inline LossAt loss_at(double margin) {
    if constexpr (loss == Loss::LOGISTIC) {
        const double e = std::exp(-std::abs(margin));
        const double share = 1.0 / (1.0 + e);
        return {std::log1p(e) + std::max(0.0, -margin), margin >= 0.0 ? -e * share : -share, e * share * share};
    } else if constexpr (loss == Loss::EXPONENTIAL) {
        const double e = std::exp(-margin);
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
