// Which side of each hyperplane is worth its loss, by subdividing the directions from beta = 0; squared loss.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "cones/active_set.hpp"
#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "control/budget.hpp"
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
    const std::vector<double>& point() const { return point_; }
    const std::vector<int>& sides() const { return sides_; }

 private:
    struct Level {
        SimplicialCone cone;
        ActiveSet nearest;           // its point is that of the cone
        double loss = 0.0;           // nothing in the cone has less
        std::vector<double> facets;  // (p, p): facet v is the coordinate of vertex v, as a linear function of v - apex

        explicit Level(int p) : nearest(p), facets(static_cast<std::size_t>(p) * p) {}
    };
    struct Crossed {
        int index;
        double distance;
    };
    struct Leaf {
        std::unique_ptr<Node> node;
        std::vector<Crossed> crossed;
        std::vector<int> members;

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
    void offer(const double* point, double loss, const std::vector<int>& tight);
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
    std::vector<double> point_;
    std::vector<int> sides_;
    std::deque<Level> levels_;
    std::deque<Leaf> leaves_;

    std::vector<double> margins_;    // (k) scratch: of the hyperplanes that cut a cone, at its point
    std::vector<double> steps_;      // (k) scratch
    std::vector<std::size_t> kept_;  // scratch: those that stay
    std::vector<double> shares_;     // (p) scratch: coordinates in a cone

    std::vector<double> normals_;    // (count + p, p): hyperplanes, then the facets of the leaf
    std::vector<double> distances_;  // (count + p)
    std::vector<char> marks_;        // (count)
    std::vector<int> cut_;           // (k) the leaf's hyperplanes
    std::vector<int> forced_;        // stack: facets first
    std::vector<int> tight_;         // scratch
};

}  // namespace cudbound
