// What self-concordance says about a loss away from where its quadratic model was taken (Bach 2010, proposition 1): at
// distance t in the metric of the Hessian the loss has risen above its tangent by at least
//   h(t) = (exp(-r t) + r t - 1) / r^2,
// where r is the largest length of a row in the dual metric.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"

namespace cudbound {

// min_t h(t) - nu t, negated: how much the loss can undercut its quadratic model at a residual of length nu.
inline double undercut(double nu, double r) {
    const double x = r * nu;
    if (x >= 1.0) return std::numeric_limits<double>::infinity();
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

}  // namespace cudbound
