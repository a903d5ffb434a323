#include "losses/l1_penalty.hpp"

#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

L1Penalty::L1Penalty(const Problem& problem) : p_(static_cast<int>(problem.p)) {
    if (problem.l1 == nullptr) return;
    const bool raw = problem.raw.design != nullptr;
    const std::int64_t count = raw ? problem.raw.p : problem.p;
    const double* anchor = raw ? problem.raw.anchor : problem.anchor;
    for (std::int64_t j = 0; j < count; ++j) {
        const double price = static_cast<double>(problem.n) * problem.l1[j];
        of_anchor_ += price * std::abs(anchor[j]);
        if (!(price > 0.0)) continue;
        double length2 = 0.0;
        for (std::int64_t k = 0; k < problem.p; ++k) {
            rows_.push_back(raw ? problem.raw.map[j * problem.p + k] : (j == k ? 1.0 : 0.0));
            length2 += rows_.back() * rows_.back();
        }
        if (length2 == 0.0) {  // a coefficient that is 0 in all of the problem's coordinates
            rows_.resize(std::ssize(rows_) - problem.p);
            continue;
        }
        prices_.push_back(price);
        anchor_.push_back(anchor[j]);
    }
    of_anchor_ *= 1.0 + Settings::unit_error * static_cast<double>(count + 2);
}

double L1Penalty::at(int j, const double* beta) const { return dot(row(j), beta, p_); }

double L1Penalty::value(const double* beta) const {
    double sum = 0.0;
    for (int j = 0; j < count(); ++j) sum += price(j) * std::abs(at(j, beta));
    return sum;
}

void L1Penalty::scale(int j, double origin, double unit, double* normal, SoftConstraints& terms) const {
    const double length = std::sqrt(dot(normal, normal, p_));
    for (int l = 0; l < p_; ++l) {
        normal[l] /= length;
        terms.columns.row(l, terms.count)[j] = normal[l];
    }
    terms.levels[j] = -origin / length;
    terms.caps[j] = price(j) * length / unit;
}

}  // namespace cudbound
