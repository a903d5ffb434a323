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
    PlacedDraw(const Problem& the_problem, const Arrangement& the_arrangement,
               std::unique_ptr<Relaxation> the_relaxation)
        : problem(the_problem),
          arrangement(the_arrangement),
          p(static_cast<int>(the_problem.p)),
          relaxation(std::move(the_relaxation)),
          weights_(the_problem.n),
          anchor_sides_(the_arrangement.count),
          beta_(p) {
        const double length = length_of(problem.anchor, p);
        for (int h = 0; h < arrangement.count; ++h) {
            const double side = dot(arrangement.normal(h), problem.anchor, p);
            anchor_sides_[h] = length > 0.0 ? side / length : 0.0;
        }
    }

    // The scores, and the minimizer of the loss: enough to score classifiers.
    void tally(std::int64_t which) {
        number = which;
        divisor = problem.divisor();  // whole numbers: scores are exact, and equal scores compare equal
        for (std::int64_t i = 0; i < problem.n; ++i) weights_[i] = problem.weight(number, i);
        range_ = problem.score_range(number);
        total = range_.most - range_.least;
        rounding = problem.weights != nullptr ? Settings::score * total : 0.0;

        relaxation->set(number);
        scores_.tally(arrangement, problem.labels, weights_.data());
        constant = scores_.fixed;
        double left_out = 0.0;
        std::size_t kept = 0;
        id.resize(arrangement.count);
        difference.resize(arrangement.count);
        // no branches that are hard to predict: which hyperplanes count is random
        for (int h = 0; h < arrangement.count; ++h) {
            const double positive_side = scores_.positive(h);
            const double apart = positive_side - scores_.negative(h);
            id[kept] = h;
            difference[kept] = apart;
            // one that counts nothing is left out; all of these together count at most half the error of sums
            bool counts = apart != 0.0;
            if (rounding > 0.0 && left_out + std::abs(apart) <= 0.5 * rounding) {
                left_out += std::abs(apart);
                counts = false;
            }
            kept += counts;
            constant += static_cast<double>(!counts) * positive_side;
        }
        id.resize(kept);
        difference.resize(kept);
    }

    // The hyperplanes in the coordinates of the relaxation: what a search needs.
    void place() {
        const std::size_t m = id.size();
        units.resize(size() * p);
        for (auto* vector : {&offset, &curvature, &at_minimizer, &crossing}) vector->resize(m);
        probed.assign(m, 0);
        relaxation->place(id, units.data(), offset.data(), curvature.data());
        tie = (Settings::tie + relaxation->error) * relaxation->extent;
        near_tie = relaxation->near_ties * tie;
        const Node& minimizer = relaxation->root();
        for (std::size_t i = 0; i < m; ++i) {
            at_minimizer[i] = dot(unit(static_cast<int>(i)), minimizer.point.data(), p) + offset[i];
            // the minimizer may be closer by a tie, which is long where the coefficients are
            const double sure = std::max(0.0, std::abs(at_minimizer[i]) - tie);
            crossing[i] = minimizer.loss + curvature[i] * sure * sure;
        }
    }

    int size() const { return static_cast<int>(id.size()); }
    double positive(int i) const { return scores_.positive(id[i]); }
    double negative(int i) const { return scores_.negative(id[i]); }
    const double* unit(int i) const { return units.row(i, p); }
    const double* normal(int i) const { return arrangement.normal(id[i]); }

    // The score (for the positive sign) of the cell that holds the anchor, or the draw's minimizer. Returns false if
    // the point lies on a hyperplane that counts, up to rounding.
    bool score_anchor(double* score) const {
        return score_by([this](int i) { return anchor_sides_[id[i]]; }, Settings::clear, score);
    }

    bool score_minimizer(double* score) const {
        double* beta = beta_.data();
        relaxation->to_beta(relaxation->root().point.data(), beta);
        const double near = Settings::clear * length_of(beta, p);
        return score_by([&](int i) { return dot(normal(i), beta, p); }, near, score);
    }

    // Lists (n) rows whose side must be beyond doubt for a score to be known. Those of a hyperplane whose sides count
    // the same change sides together, unless they point both ways: sign(0) = +1.
    void list_strict(Vector<char>* strict) const {
        const std::int64_t n = problem.n;
        strict->assign(n, 0);
        for (std::int64_t i = 0; i < n; ++i) {
            const int h = arrangement.of_row[i];
            if (h < 0 || weights_[i] == 0.0) continue;
            const double apart = scores_.positive(h) - scores_.negative(h);
            (*strict)[i] = std::abs(apart) > 0.5 * rounding || arrangement.mixed[h];
        }
    }

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
    Vector<double> curvature;     // (m) see Relaxation::place
    Vector<double> at_minimizer;  // (m) side of the minimizer
    Vector<double> crossing;      // (m) the loss is at least this on the other side
    Vector<char> probed;          // (m) whether that is exact
    double tie = 0.0;             // sides up to this may be rounding errors
    double near_tie = 0.0;        // and up to this, errors of Newton's method

 private:
    template <class SideOf>
    bool score_by(const SideOf& side_of, double near, double* score) const {
        int clear = 0;
        double sum = constant;
        for (int i = 0; i < size(); ++i) {
            const double side = side_of(i);
            clear += std::abs(side) > near;
            sum += scores_.of_side[2 * id[i] + (side > 0.0)];  // no branch: sides are random
        }
        *score = sum;
        return clear == size();
    }

    SideScores scores_;
    Problem::ScoreRange range_;
    Vector<double> weights_;
    Vector<double> anchor_sides_;  // (hyperplanes of the arrangement), relative to the anchor's length
    mutable Vector<double> beta_;  // (p) scratch
};

}  // namespace cudbound
