// One draw as the search sees it: the hyperplanes that matter, where they lie, and what their sides score.
#pragma once

#include "losses/relaxation.hpp"

namespace cudbound {

// The best value found for a draw, and where it is approached.
struct Incumbent {
    double value = 0.0;      // score * g, in the units of the scores
    double sign = 1.0;       // of the deviation
    double score = 0.0;      // for that sign
    bool is_anchor = false;  // whether the point is the anchor itself
    Vector<double> point;    // (p) beta: a point of the closed cell
    Vector<double> inward;   // (p) a direction from there into the cell; empty if `sides` give it
    Vector<int> sides;  // +-(position in the placed draw + 1): hyperplanes through the point and the side that counts

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

class PlacedDraw {
 public:
    PlacedDraw(const Problem& problem, const Arrangement& arrangement, std::unique_ptr<Relaxation> relaxation);

    // The scores, and the minimizer of the loss: enough to score classifiers.
    void tally(std::int64_t draw);
    // The hyperplanes in the coordinates of the relaxation: what a search needs.
    void place();

    int size() const { return static_cast<int>(id.size()); }
    double positive(int i) const { return scores_.positive[id[i]]; }
    double negative(int i) const { return scores_.negative[id[i]]; }
    const double* unit(int i) const { return units.row(i, p); }
    const double* normal(int i) const { return arrangement.normal(id[i]); }

    // The score (for the positive sign) of the cell that holds the anchor, or the draw's minimizer. Returns false if
    // the point lies on a hyperplane that counts, up to rounding.
    bool score_anchor(double* score) const;
    bool score_minimizer(double* score) const;

    // Lists (n) rows whose side must be beyond doubt for a score to be known.
    void list_strict(Vector<char>* strict) const;

    // A score as a value of Q, rounded upwards.
    double in_q(double score) const { return (score + rounding) / divisor; }

    // Above every score of either sign: the weights of that sign.
    double most(double sign) const { return sign > 0.0 ? range_.most : -range_.least; }

    const Problem& problem;
    const Arrangement& arrangement;
    const int p;
    const std::unique_ptr<Relaxation> relaxation;

    std::int64_t number = -1;
    Vector<int> id;             // (m) hyperplanes with a score that differs between their sides
    Vector<double> difference;  // (m) score on the positive side minus score on the negative side
    double constant = 0.0;      // score of everything else
    double divisor = 1.0;       // scores are in units of 1 / divisor
    double rounding = 0.0;      // error that sums of weights may carry
    double total = 0.0;         // sum of the absolute weights

    Vector<double> units;         // (m, p) unit normals in coordinates of the relaxation
    Vector<double> offset;        // (m)
    Vector<double> curvature;     // (m) see Relaxation::transform
    Vector<double> at_minimizer;  // (m) side of the minimizer
    Vector<double> crossing;      // (m) the loss is at least this on the other side
    Vector<char> probed;          // (m) whether that is exact
    double tie = 0.0;             // sides up to this may be rounding errors
    double near_tie = 0.0;        // and up to this, errors of Newton's method

 private:
    template <class SideOf>
    bool score_by(const SideOf& side_of, double near, double* score) const;

    SideScores scores_;
    Problem::ScoreRange range_;
    Vector<double> weights_;
    Vector<double> anchor_sides_;  // (hyperplanes of the arrangement), relative to the anchor's length
    mutable Vector<double> beta_;  // (p) scratch
};

}  // namespace cudbound
