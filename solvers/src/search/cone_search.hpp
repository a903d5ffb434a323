// Which side of each hyperplane is worth its loss, by subdividing the directions from beta = 0; squared loss.
#pragma once

#include <deque>
#include <memory>

#include "cones/active_set.hpp"
#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "control/budget.hpp"
#include "linear_algebra/vector.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// One sign of one draw, in coordinates in which the loss is |v|^2 and all directions are curved.
struct SignedDraw {
    CentralHyperplanes hyperplanes;     // unit normals turned to the preferred side, gains
    Normals in_beta;                    // the same hyperplanes for coefficients, and which they are
    const double* distances = nullptr;  // (count) side j of a point v is normal_j'v + distance_j
    const double* apex = nullptr;       // (p) where all hyperplanes meet: beta = 0
    double fixed_score = 0.0;           // score with none of them on its preferred side
    double cap = 0.0;                   // no open cell scores more
    double tie = 0.0;                   // sides up to this may be rounding errors
    Relaxation* relaxation = nullptr;   // that of the draw
};

// Branch and bound on simplicial cones with their apex at beta = 0. The point of a cone is the one nearest to v = 0, so
// that reaching a hyperplane at some distance from it costs at least the square of that distance. This bounds the value
// of the cone and removes hyperplanes that no improving point of the cone can cross. Where few hyperplanes are left
// that cut the cone, they are forced or given up one at a time, as in the tree.
class ConeSearch {
 public:
    explicit ConeSearch(const Arrangement& arrangement);

    // Searches for an open cell with a value above `incumbent`. Nearest points at beta = 0 have at most the cap as
    // value there: where that is more than the best value, it is left open.
    void search(const SignedDraw& draw, double incumbent, Budget& budget);

    bool improved() const { return improved_; }
    double best() const { return best_; }              // value found, or the incumbent
    double open_bound() const { return open_bound_; }  // all cells not proved to be worth at most best()
    // Where the value is approached: next to the point, on the positive sides of the tight hyperplanes listed.
    double score() const { return score_; }
    const Vector<double>& point() const { return point_; }
    const Vector<int>& sides() const { return sides_; }

 private:
    struct Level {
        SimplicialCone cone;
        ActiveSet nearest;      // its point is that of the cone
        double loss = 0.0;      // nothing in the cone has less
        Vector<double> facets;  // (p, p): facet v is the coordinate of vertex v, as a linear function of v - apex

        explicit Level(int p) : nearest(p), facets(p * p) {}
    };
    struct Crossed {
        int index;
        double distance;
    };
    struct Leaf {
        std::unique_ptr<Node> node;
        Vector<Crossed> crossed;
        Vector<int> members;

        explicit Leaf(const Relaxation& relaxation) : node(relaxation.make_node()) {}
    };
    enum Mark : char { undecided, forced, given_up };

    void process(int depth);
    bool squeeze(Level& here, double* bound);
    void descend(int depth, int which);
    void approach_apex(Level& level);
    void raise(Level& level) const;
    void search_leaf(const Level& level);
    void branch(int depth, double score);
    void give_up_one(int depth, double score);
    void force_crossed(int depth, double uncrossed);
    Relaxation::Settled move_to_forced(Node& node, double score);
    double value(double score, double loss) const;
    void offer(const double* point, double loss, const Vector<int>& tight);
    void leave_open(double bound);
    Level& level(int depth) { return at_depth(levels_, depth, p_); }
    Leaf& leaf(int depth) { return at_depth(leaves_, depth, *draw_.relaxation); }

    int p_;
    const SoftConstraints nothing_;
    SimplicialCones cones_;
    OpenCone open_;
    SignedDraw draw_;
    Budget* budget_ = nullptr;
    bool improved_ = false;
    double best_ = 0.0;
    double open_bound_ = 0.0;
    double rounding_ = 0.0;  // by how much values of the same cell may differ
    double score_ = 0.0;
    Vector<double> point_;
    Vector<int> sides_;
    std::deque<Level> levels_;
    std::deque<Leaf> leaves_;

    Vector<double> margins_;    // (k) scratch: of the hyperplanes that cut a cone, at its point
    Vector<double> steps_;      // (k) scratch
    Vector<std::size_t> kept_;  // scratch: those that stay
    Vector<double> shares_;     // (p) scratch: coordinates in a cone

    Vector<double> normals_;    // (count + p, p): hyperplanes, then the facets of the leaf
    Vector<double> distances_;  // (count + p)
    Vector<char> marks_;        // (count)
    Vector<int> cut_;           // (k) the leaf's hyperplanes
    Vector<int> forced_;        // stack: facets first
    Vector<int> tight_;         // scratch
};

}  // namespace cudbound
