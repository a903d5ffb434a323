// The best value found for a draw, and where it is approached.
#pragma once

#include <vector>

namespace cudbound {

struct Incumbent {
    double value = 0.0;          // score * g, in the units of the scores
    double sign = 1.0;           // of the deviation
    double score = 0.0;          // for that sign
    bool is_anchor = false;      // whether the point is the anchor itself
    std::vector<double> point;   // (p) beta: a point of the closed cell
    std::vector<double> inward;  // (p) a direction from there into the cell; empty if `sides` give it
    std::vector<int> sides;      // +-(position in the view + 1): hyperplanes through the point and the side that counts

    void clear(const double* beta, int p) {
        value = 0.0;
        sign = 1.0;
        score = 0.0;
        is_anchor = false;
        point.assign(beta, beta + p);
        inward.clear();
        sides.clear();
    }
};

}  // namespace cudbound
