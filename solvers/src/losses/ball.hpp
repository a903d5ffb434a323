// Squared loss in the coordinates where its sublevel sets are balls.
#pragma once

#include "linear_algebra/cholesky.hpp"
#include "problem/arrangement.hpp"

namespace cudbound {

// For one draw, beta = minimizer + map * v, and n (L(beta) - min L) = |u|^2 with v = (u, z): u in R^rank are
// the curved directions, z the flat ones, along which the loss is constant (none unless the weighted Gram
// matrix is singular). z is scaled so that |z| is small against |u| for moves of the same length in beta.
class Ball {
 public:
    Ball(const Problem& problem, const Arrangement& arrangement);

    // Any quadratic in place of that of a draw.
    struct Quadratic {
        Vector<double> gram;       // (p, p) half of the Hessian, its upper triangle
        Vector<double> center;     // (p) where it is least
        double least = 0.0;        // its value there
        double anchor_rise = 0.0;  // the anchor's loss less that value
        bool exists = true;
    };

    // Sets up draw `draw`; afterwards the members below describe it.
    void set(std::int64_t draw);
    // The same for a quadratic; false if it is singular up to rounding.
    bool set(const Quadratic& quadratic);

    // The same for many hyperplanes of a draw of full rank at once; `units` has shape (hyperplanes, p).
    void place_curved(const Vector<int>& hyperplanes, double* units, double* offsets);

    // Unit normal (p, contiguous) and offset of a hyperplane of the arrangement: side(v) = normal'v + offset has
    // the sign of the original. Returns whether the hyperplane can be reached along flat directions alone.
    bool place(int hyperplane, double* unit, double* offset);

    // The linear function row'beta as normal'v; returns its value at v = 0.
    double normal_from_beta(const double* row, double* normal) const;

    void to_beta(const double* v, double* beta) const;  // (p) -> (p)
    void direction_to_beta(const double* v, double* beta) const;

    int p;
    int rank = 0;
    Vector<double> anchor;  // (p) v of the anchor
    Vector<double> apex;    // (p) v of beta = 0
    double radius2 = 0.0;   // n (L(anchor) - min L), the squared radius within which g = 1
    double apex2 = 0.0;     // |u|^2 of beta = 0
    double size = 0.0;      // of the losses: rounding errors are relative to this
    double error = 0.0;     // relative rounding error of the map: grows with the condition of the draw
    bool certain = true;    // whether it is proved that the flat directions are flat

 private:
    void accumulate(std::int64_t draw);
    bool factorize_gram(double least);
    void measure_condition(bool squared);
    void place_anchor();
    void direction_from_beta(const double* beta, double* v) const;
    void list_products();
    void factorize_rows(std::int64_t draw);
    void factorize_penalty();
    void finish();
    void list_drawn(std::int64_t draw);
    bool lies_in_drawn(int hyperplane);

    const Problem& problem_;
    const Arrangement& arrangement_;
    ExactRank exact_;
    Vector<char> is_drawn_;           // (hyperplanes) of a rank-deficient draw: whether a row of it is drawn
    Vector<std::int64_t> drawn_;      // one row of each of these
    Vector<double> products_;         // (n, p (p + 3) / 2) what each row adds to the Gram matrix and the moments
    Vector<double> sums_;             // (p (p + 3) / 2) of them, scratch
    Vector<double> gram_;             // (p, p), its upper triangle
    Vector<double> moment_;           // (p)
    Vector<int> order_;               // (p) pivot order
    Cholesky factor_;                 // rows and columns permuted
    Vector<double> minimizer_;        // (p)
    Vector<double> flat_;             // (p, p - rank) column-major, permuted: basis of the null space
    Vector<double> rows_;             // (drawn rows, p + 1) row-major, weighted, with their labels
    Vector<double> penalty_rows_;     // (rank of the penalty, p + 1) likewise
    Vector<double> columns_;          // (p, hyperplanes) scratch
    Vector<double> lengths_;          // (hyperplanes) scratch
    Vector<double> apart_;            // (p) the anchor less the minimizer
    mutable Vector<double> scratch_;  // (p)
};

}  // namespace cudbound
