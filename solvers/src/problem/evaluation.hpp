// The value of coefficients, computed in plain floating point from the caller's own rows.
#pragma once

#include <cstdint>
#include <vector>

#include "cudbound/draws.hpp"

namespace cudbound {

class Evaluation {
 public:
    explicit Evaluation(const Problem& problem);

    int size() const { return static_cast<int>(p_); }  // of the caller's coefficients
    const double* anchor() const { return anchor_; }

    // The caller's coefficients for those of the problem.
    void from_beta(const double* beta, double* coef) const;

    // Computes the rows times coefficients; the functions below refer to these.
    void measure(const double* coef) { measure(coef, &measured_); }

    // n times the penalized mean loss of a draw, and how much rounding may have lowered that value.
    double loss(std::int64_t draw) const { return loss(draw, measured_); }
    double doubt(std::int64_t draw, double loss) const { return doubt(draw, loss, measured_); }

    // The score sum_i weight_i 1{sign(x_i'coef) != y_i}. Returns false where rounding could change it: the score of a
    // row with a weight is 0 up to rounding, among those listed as strict or among all.
    bool score(std::int64_t draw, double* value, const std::vector<char>* strict = nullptr) const {
        return score(draw, measured_, value, strict);
    }

    // The same of the anchor, whose rows are computed once; the loss is rounded downwards.
    double anchor_loss(std::int64_t draw) const;
    bool anchor_score(std::int64_t draw, double* value) const { return score(draw, of_anchor_, value, nullptr); }

    // How much rounding may have lowered the anchor's loss in the coordinates of the problem.
    double anchor_doubt(std::int64_t draw) const;

 private:
    struct Measured {
        std::vector<double> sides;  // (n) rows times coefficients
        std::vector<double> sizes;  // (n) sums of the absolute terms
        double length = 0.0;        // of the coefficients
        double penalty = 0.0;
    };

    void measure(const double* coef, Measured* measured) const;
    double loss(std::int64_t draw, const Measured& measured) const;
    double doubt(std::int64_t draw, double loss, const Measured& measured) const;
    bool score(std::int64_t draw, const Measured& measured, double* score, const std::vector<char>* strict) const;
    double margin(std::int64_t i, double side) const;
    double margin_error(std::int64_t i, double size) const;
    double penalty(const double* coef) const;
    double slope(double margin, double off) const;

    const Problem& problem_;
    const std::int64_t p_;
    const double* design_;
    const double* anchor_;
    const double rounding_;        // of a row times coefficients, relative to the sum of the absolute terms
    std::vector<double> columns_;  // (p, n) the design, transposed
    std::vector<char> zero_row_;   // (n)
    std::vector<double> lengths_;  // (n) of the rows
    std::vector<double> doubts_;   // (n) of the anchor's loss, for each row
    double largest_doubt_ = 0.0;
    Measured measured_;
    Measured of_anchor_;
};

}  // namespace cudbound
