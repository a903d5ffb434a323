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
    std::vector<int>
        sides;  // +-(position in the placed draw + 1): hyperplanes through the point and the side that counts

    // Takes over a value; the point, and how its cell is reached from there, are set by the caller.
    void take(double its_value, double its_sign, double its_score) {
        value = its_value;
        sign = its_sign;
        score = its_score;
        is_anchor = false;
        inward.clear();
        sides.clear();
    }
    void clear(const double* beta, int p) {
        take(0.0, 1.0, 0.0);
        point.assign(beta, beta + p);
    }
};

}  // namespace cudbound
