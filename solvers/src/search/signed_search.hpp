// Branch and bound for one draw and one sign of the deviation: which side of each hyperplane is worth its loss.
#pragma once

#include <deque>
#include <memory>

#include "cones/open_cone.hpp"
#include "control/budget.hpp"
#include "linear_algebra/vector.hpp"
#include "search/apex_gain.hpp"
#include "search/cone_search.hpp"
#include "search/placed_draw.hpp"

namespace cudbound {

// For one sign of the deviation every hyperplane has a preferred side, which adds its gain to the score. A
// node holds the hyperplanes forced onto their preferred sides, and the minimizer of the loss on their closed cone.
// Giving a hyperplane up costs its gain and adds no constraint, so the path to a leaf holds few constraints.
class SignedSearch {
 public:
    // Values up to `floor` do not matter; the first value above `ceiling` ends the search. In units of scores.
    struct Target {
        double floor = 0.0;
        double ceiling = 0.0;
    };

    SignedSearch(PlacedDraw& draw, ApexGain& apex, Budget& budget);

    // Looks for a better incumbent. Returns the largest bound of what was left open, 0 if nothing was.
    double explore(double sign, const Target& target, Incumbent& incumbent);

    // Looks for a better incumbent along one path: starting at the minimizer, the hyperplane with the most gain for its
    // distance is forced repeatedly.
    void dive(double sign, int steps, Incumbent& incumbent);

 private:
    struct Crossed {  // an undecided hyperplane on its wrong side at the point of a node
        int index;
        double rise;      // the loss beyond it exceeds the node's by at least this
        double distance;  // to it from that point
    };
    struct Level {
        std::unique_ptr<Node> node;
        Vector<Crossed> crossed;

        explicit Level(const Relaxation& relaxation) : node(relaxation.make_node()) {}
    };
    enum Mark : char { undecided, forced, given_up };

    double cut() const { return std::max(incumbent_->value, target_.floor); }
    void orient(double sign, double threshold);
    void fix_far_hyperplanes(double threshold);
    void probe(double threshold);
    double nodes_before_cones() const;
    void search_cones();
    void process(int depth, double score);
    double classify(Level& here, double score);
    void expand(int depth, double uncrossed);
    void apex_node(double score);
    double apex_start() const;
    double bound(double score, double loss) const;
    void leave_open(double bound);
    void offer(double score, double value, const Vector<double>& point);
    Sides sides() const;
    Sides sides_of_beta();
    Normals normals() const { return {beta_normal_.data(), hyperplane_.data()}; }
    Level& level(int depth) { return at_depth(levels_, depth, relaxation_); }

    PlacedDraw& draw_;
    ApexGain& apex_;
    Budget& budget_;
    Relaxation& relaxation_;
    OpenCone cone_;
    ConeSearch cone_search_;
    const int p_;

    // the hyperplanes within reach, turned so that the preferred side is positive
    double sign_ = 1.0;
    Vector<int> member_;          // (k) position in the draw
    Vector<int> hyperplane_;      // (k) in the arrangement
    Vector<double> normal_;       // (k, p) unit normals in coordinates of the relaxation
    Vector<double> beta_normal_;  // (k, p) and of beta
    Vector<double> column_;       // (p, k) normal_, transposed
    Vector<double> distance_;     // (k)
    Vector<double> gain_;         // (k)
    Vector<double> curved_;       // (k) curvature
    double fixed_score_ = 0.0;    // score with all of the k on the wrong side
    double score_cap_ = 0.0;      // no open cell scores more

    Target target_;
    Incumbent* incumbent_ = nullptr;
    double open_bound_ = 0.0;     // largest bound of a node that was not fully processed
    double patience_ = 0.0;       // nodes before cones of directions take over
    bool apex_searched_ = false;  // for this sign
    bool apex_proved_ = false;    // no cell is worth more than the incumbent at beta = 0

    Vector<char> mark_;       // (k)
    Vector<int> forced_;      // stack
    Vector<int> dropped_;     // stack: given up because of a conflict
    Vector<double> margins_;  // (k) scratch
    Vector<int> tight_;       // scratch: forced or undecided, through the point of the node
    Vector<double> probe_normal_;
    Vector<double> through_apex_;  // (k) zeros
    std::deque<Level> levels_;
};

}  // namespace cudbound
