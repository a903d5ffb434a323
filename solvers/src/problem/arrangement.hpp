// The hyperplanes x_i'beta = 0 of a design, each once.
#pragma once

#include "cudbound/draws.hpp"
#include "problem/exact_rank.hpp"

namespace cudbound {

// Rows that are collinear through the origin share a hyperplane, whose two sides then differ by the sum of their
// weights. Rows of zeros lie on no hyperplane: sign(0) = +1 classifies them regardless of beta. Both are decided on the
// rows as the caller passed them, without rounding.
struct Arrangement {
    int p = 0;
    int count = 0;                         // distinct hyperplanes
    Vector<double> normals;                // (count, p) row-major, unit
    Vector<double> errors;                 // (count) how far rounding may have moved each normal
    Vector<std::int64_t> representatives;  // (count) a row of each hyperplane
    Vector<char> mixed;                    // (count) whether rows point both ways
    Vector<int> of_row;                    // (n) hyperplane of each row, -1 for a zero row
    Vector<int> orientation;               // (n) +1 if the row points along the normal, -1 if against it

    const double* normal(int h) const { return normals.row(h, p); }
    // A new one for each thread.
    ExactRank exact_rows() const { return {rows_, p, exact_}; }

    std::int64_t rows_ = 0;  // shape (rows_, p): the rows that decide
    const double* exact_ = nullptr;
};

Arrangement merge_rows(const Problem& problem);

// What the two sides of a hyperplane contribute to the score S of one draw.
struct SideScores {
    double fixed = 0.0;      // contribution of the zero rows
    Vector<double> of_side;  // (count, 2) where normal'beta < 0, and where it is positive

    double negative(int h) const { return of_side[2 * h]; }
    double positive(int h) const { return of_side[2 * h + 1]; }
    void tally(const Arrangement& arrangement, const double* labels, const double* weights);
};

}  // namespace cudbound
