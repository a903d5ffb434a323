// An l1 penalty as terms with a kink, each a price times the absolute value of a linear function of the coefficients.
#pragma once

#include "cones/active_set.hpp"
#include "cudbound/draws.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// n times the penalty is sum_j price_j |row_j'beta|. With s the price, |t| s = s t + 2 s max(0, -t): a linear part, and
// a soft constraint t >= 0, whose multiplier is that part of the slope by which the term may lean to the other side.
class L1Penalty {
 public:
    explicit L1Penalty(const Problem& problem);

    bool exists() const { return !prices_.empty(); }
    int count() const { return static_cast<int>(prices_.size()); }
    const double* row(int j) const { return rows_.row(j, p_); }
    double price(int j) const { return prices_[j]; }

    double at(int j, const double* beta) const;
    double value(const double* beta) const;
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
            scale(j, origin, unit, normal, terms);
        }
    }

 private:
    void scale(int j, double origin, double unit, double* normal, SoftConstraints& terms) const;

    int p_;
    Vector<double> rows_;    // (count, p)
    Vector<double> prices_;  // (count) positive
    Vector<double> anchor_;  // (count) its coefficients
    double of_anchor_ = 0.0;
};

}  // namespace cudbound
