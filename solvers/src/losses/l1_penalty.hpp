// An l1 penalty as terms with a kink, each a price times the absolute value of a linear function of the coefficients.
#pragma once

#include "cones/active_set.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

// n times the penalty is sum_j price_j |row_j'beta|. With s the price, |t| s = s t + 2 s max(0, -t): a linear part, and
// a soft constraint t >= 0, whose multiplier is that part of the slope by which the term may lean to the other side.
class L1Penalty {
 public:
    explicit L1Penalty(const Problem& problem) : p_(static_cast<int>(problem.p)) {
        if (problem.l1 == nullptr) return;
        const bool raw = problem.raw.design != nullptr;
        const std::int64_t count = problem.callers_p();
        const double* anchor = problem.callers_anchor();
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

    bool exists() const { return !prices_.empty(); }
    int count() const { return static_cast<int>(prices_.size()); }
    const double* row(int j) const { return rows_.row(j, p_); }
    double price(int j) const { return prices_[j]; }

    double at(int j, const double* beta) const { return dot(row(j), beta, p_); }

    double value(const double* beta) const {
        double sum = 0.0;
        for (int j = 0; j < count(); ++j) sum += price(j) * std::abs(at(j, beta));
        return sum;
    }

    // Of the fitted coefficients, rounded upward.
    double of_anchor() const { return of_anchor_; }
    // Whether a coefficient of the anchor is 0 (0.0), or its sign.
    double side_of_anchor(int j) const { return anchor_[j]; }

    // Makes `terms` one soft constraint per term. `normal_of` writes row_j'beta as a linear function of the
    // coordinates, and returns its value at their origin; `unit` is what a unit of squared length costs.
    template <class NormalOf>
    void place(const NormalOf& normal_of, double unit, SoftConstraints& terms) const {
        terms.p = p_;
        terms.count = count();
        for (auto* vector : {&terms.normals, &terms.columns}) vector->resize(rows_.size());
        for (auto* vector : {&terms.levels, &terms.caps}) vector->resize(prices_.size());
        for (int j = 0; j < count(); ++j) {
            double* normal = terms.normals.row(j, p_);
            const double origin = normal_of(j, normal);
            const double length = length_of(normal, p_);
            for (int l = 0; l < p_; ++l) {
                normal[l] /= length;
                terms.columns.row(l, terms.count)[j] = normal[l];
            }
            terms.levels[j] = -origin / length;
            terms.caps[j] = price(j) * length / unit;
        }
    }

 private:
    int p_;
    Vector<double> rows_;    // (count, p)
    Vector<double> prices_;  // (count) positive
    Vector<double> anchor_;  // (count) its coefficients
    double of_anchor_ = 0.0;
};

}  // namespace cudbound
