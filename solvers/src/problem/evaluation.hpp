// The value of coefficients, computed in plain floating point from the caller's own rows.
#pragma once

#include "cudbound/draws.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

class Evaluation {
 public:
    explicit Evaluation(const Problem& problem);

    int size() const { return static_cast<int>(p_); }  // of the caller's coefficients

    // The caller's coefficients for those of the problem.
    void from_beta(const double* beta, double* coef) const;

    // Computes the rows times coefficients; the functions below refer to these.
    void measure(const double* coef);

    // n times the penalized mean loss of a draw, and how much rounding may have lowered that value.
    double loss(std::int64_t draw) const;
    double doubt(std::int64_t draw, double loss) const;

    // The score sum_i weight_i 1{sign(x_i'coef) != y_i}. Returns false where rounding could change it: the score of a
    // row with a weight is 0 up to rounding, among those listed as strict or among all.
    bool score(std::int64_t draw, double* value, const Vector<char>* strict = nullptr) const;

    // The same of the anchor, whose rows are computed once; the loss is rounded downwards.
    double anchor_loss(std::int64_t draw) const;
    bool anchor_score(std::int64_t draw, double* value) const;

    // How much rounding may have lowered the anchor's loss in the coordinates of the problem.
    double anchor_doubt(std::int64_t draw) const;

 private:
    double margin(std::int64_t i) const;
    double margin_error(std::int64_t i) const;  // from rounding
    bool is_clear(std::int64_t i) const;        // whether rounding cannot change the side of the row
    bool is_wrong(std::int64_t i) const;
    double doubt_of_row(std::int64_t i, double off) const;
    double penalty(const double* coef) const;
    template <class Term>
    double with_drawn(std::int64_t draw, double sum, const Term& term) const;

    struct OfAnchor {
        Vector<double> losses;         // (n)
        Vector<double> doubts;         // (n) how much rounding may have lowered them
        Vector<std::int64_t> wrong;    // rows
        Vector<std::int64_t> unclear;  // rows
        double penalty = 0.0;
    };

    const Problem& problem_;
    const std::int64_t p_;
    const double* design_;
    const double rounding_;   // of a row times coefficients, relative to the sum of the absolute terms
    Vector<double> columns_;  // (p, n) the design, transposed
    Vector<char> zero_row_;   // (n)
    Vector<double> lengths_;  // (n) of the rows
    Vector<double> doubts_;   // (n) of the anchor's loss, for each row
    double largest_doubt_ = 0.0;
    OfAnchor of_anchor_;
    // of the coefficients that were measured last
    Vector<double> sides_;  // (n) rows times coefficients
    Vector<double> sizes_;  // (n) sums of the absolute terms
    double length_ = 0.0;
    double penalty_ = 0.0;
};

}  // namespace cudbound
