// What the tree of a sign and the leaves of its cones have in common.
#pragma once

#include "control/prunes.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// For one sign of the deviation every hyperplane has a preferred side, which adds its gain to the score. A node holds
// the hyperplanes forced onto their preferred sides, and the minimizer of the loss on their closed cone. Giving a
// hyperplane up costs its gain and adds no constraint, so the path to a node holds few constraints.
class ForcingTree {
 protected:
    enum Mark : char { undecided, forced, given_up };
    struct Crossed {  // an undecided hyperplane on its wrong side at the point of a node
        int index;
        double rise;      // the loss beyond it exceeds the node's by at least this
        double distance;  // to it from that point
    };
    struct Level {
        std::unique_ptr<Node> node;
        Vector<Crossed> crossed;
        Vector<int> too_far;  // crossed, where the loss beyond them is worth no more than the cut
        Vector<int> members;  // of the conflict that it branches on

        explicit Level(const Relaxation& relaxation) : node(relaxation.make_node()) {}
    };

    virtual ~ForcingTree() = default;
    virtual void process(int depth, double score) = 0;
    virtual double cut() const = 0;  // values up to this do not matter
    virtual void leave_open(double bound) = 0;
    // Whether a child with this bound is to be searched; if not, it is left open or not needed.
    virtual bool may_enter(double bound) = 0;

    Level& level(int depth) { return at_depth(levels_, depth, *relaxation_); }

    // beta = 0 is taken a little closer than it is: a node that close to it is treated as sitting there.
    double apex_start() const { return relaxation_->apex_loss - relaxation_->apex_tolerance; }

    double bound(double score, double loss) const {
        return std::min(score, score_cap_) * relaxation_->g(std::min(loss, apex_start()));
    }

    // The child of a node with one more hyperplane forced, still at the point of its parent.
    Level& force(int depth, int index) {
        Level& next = level(depth + 1);
        relaxation_->copy(*level(depth).node, *next.node);
        marks_[index] = forced;
        forced_.push_back(index);
        return next;
    }

    // Nodes with this score whose loss is beyond this are not worth more than the cut.
    double most_loss(double score) const {
        const double reach = relaxation_->reach(std::min(score, score_cap_), cut());
        return reach < apex_start() ? reach : infinity;
    }

    void cross(Level& here, const Crossed& h, double most) {
        if (exceeds(here.node->loss + h.rise, most)) {
            here.too_far.push_back(h.index);
        } else {
            here.crossed.push_back(h);
        }
    }

    // Moves a node to the minimizer for all that is forced, unless that is worth no more than the cut.
    Relaxation::Settled settle(Node& node, double score) {
        return relaxation_->settle(node, turned_, forced_, relaxation_->reach(std::min(score, score_cap_), cut()));
    }

    // Children: each crossed hyperplane in turn, the most expensive first (without curvature the most distant), is
    // forced and then given up. What is known about the loss beyond it bounds each child before it is solved. Those too
    // far are given up first. Of the others few are needed before what is left of the score is too small.
    void expand(int depth, double uncrossed) {
        Level& here = level(depth);
        double score = uncrossed;
        for (const Crossed& h : here.crossed) score += gains_[h.index];
        if (at_most(score, cut())) return;
        const auto is_cheaper = [](const Crossed& a, const Crossed& b) {
            if (a.rise != b.rise) return a.rise < b.rise;
            return a.distance != b.distance ? a.distance < b.distance : a.index > b.index;
        };
        for (const int j : here.too_far) marks_[j] = given_up;
        const auto first = here.crossed.begin();
        auto last = here.crossed.end();
        std::make_heap(first, last, is_cheaper);
        while (first != last && !at_most(score, cut())) {
            std::pop_heap(first, last--, is_cheaper);
            const double loss = here.node->loss + last->rise;
            const double best = bound(score, loss);
            if (!at_most(best, cut()) && may_enter(best)) {
                Level& next = force(depth, last->index);
                const auto settled = settle(*next.node, score);
                // the same bound after rounding: what a limit leaves open is never less than what would have been found
                next.node->loss = std::max(next.node->loss, loss);
                if (settled == Relaxation::Settled::yes) process(depth + 1, score);
                if (settled == Relaxation::Settled::unresolved) leave_open(best);
                forced_.pop_back();
            }
            marks_[last->index] = given_up;
            score -= gains_[last->index];
        }
        for (const int j : here.too_far) marks_[j] = undecided;
        for (const Crossed& h : here.crossed) marks_[h.index] = undecided;
    }

    Relaxation* relaxation_ = nullptr;
    double score_cap_ = 0.0;         // no open cell scores more
    Sides turned_;                   // the hyperplanes, turned so that the preferred side is positive
    const double* gains_ = nullptr;  // of these
    Vector<char> marks_;             // of these
    Vector<int> forced_;             // stack
    Vector<int> tight_;              // scratch: forced or undecided, through the point of the node
    std::deque<Level> levels_;
};

}  // namespace cudbound
