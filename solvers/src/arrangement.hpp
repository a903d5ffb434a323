// The hyperplanes x_i'beta = 0 of a design, each once.
#pragma once

#include <cstdint>
#include <vector>

namespace cudbound {

// Rows that are equal or collinear through the origin share a hyperplane, whose two sides then differ by the
// sum of their weights. Zero rows lie on no hyperplane: sign(0) = +1 classifies them whatever beta is.
struct Arrangement {
    int p = 0;
    int count = 0;                 // distinct hyperplanes
    std::vector<double> normals;   // (count, p) row-major, unit
    std::vector<int> of_row;       // (n) hyperplane of each row, -1 for a zero row
    std::vector<int> orientation;  // (n) +1 if the row points along the normal, -1 if against it
};

Arrangement merge_rows(std::int64_t n, std::int64_t p, const double* design);

// What the two sides of a hyperplane contribute to the score S of one draw.
struct SideScores {
    double fixed = 0.0;            // contribution of the zero rows
    std::vector<double> positive;  // (count) where normal'beta > 0
    std::vector<double> negative;  // (count) where normal'beta < 0

    void tally(const Arrangement& arrangement, const double* labels, const double* weights);
};

}  // namespace cudbound
