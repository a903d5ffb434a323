// Squared loss in the coordinates where its sublevel sets are balls.
#pragma once

#include <cstdint>
#include <vector>

#include "arrangement.hpp"
#include "cudbound/draws.hpp"

namespace cudbound {

// For one draw, beta = minimiser + map * v, and n (L(beta) - min L) = |u|^2 with v = (u, z): u in R^rank are
// the curved directions, z the flat ones, along which the loss is constant (none unless the weighted Gram
// matrix is singular). z is scaled so that |z| is small against |u| for moves of the same length in beta.
class Ball {
 public:
    Ball(const Problem& problem, const Arrangement& arrangement);

    // Sets up draw `draw`; afterwards the members below describe it.
    void set(std::int64_t draw);

    // Unit normal (p, contiguous) and offset of the hyperplane normal'beta = 0: side(v) = normal'v + offset has
    // the sign of the original. Returns whether the hyperplane can be reached along flat directions alone.
    bool transform(const double* normal, double* unit, double* offset) const;

    void to_beta(const double* v, double* beta) const;  // (p) -> (p)
    void direction_to_beta(const double* v, double* beta) const;
    void direction_from_beta(const double* beta, double* v) const;

    int p;
    int rank = 0;
    std::vector<double> anchor;  // (p) v of the anchor
    std::vector<double> apex;    // (p) v of beta = 0
    double radius2 = 0.0;        // n (L(anchor) - min L), the squared radius within which g = 1
    double apex2 = 0.0;          // |u|^2 of beta = 0
    double slack = 0.0;          // rounding allowance on |u|^2

 private:
    bool factorise_gram();
    void factorise_rows(std::int64_t draw);
    void factorise_penalty();
    void finish();

    const Problem& problem_;
    const Arrangement& arrangement_;
    std::vector<double> gram_;    // (p, p), its upper triangle is overwritten by the factor, rows and columns permuted
    std::vector<double> moment_;  // (p)
    std::vector<int> order_;      // (p) pivot order
    std::vector<double> reciprocal_;       // (rank) of the factor's diagonal
    std::vector<double> minimiser_;        // (p)
    std::vector<double> flat_;             // (p, p - rank) column-major, permuted: basis of the null space
    std::vector<double> rows_;             // (drawn rows, p + 1) row-major, weighted, with their labels
    std::vector<double> penalty_rows_;     // (rank of the penalty, p + 1) likewise
    mutable std::vector<double> scratch_;  // (p)
};

}  // namespace cudbound
