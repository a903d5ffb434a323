// The convex relaxation of a node: the least loss on the cone of the forced hyperplanes. One class per kind of loss.
#pragma once

#include <memory>

#include "cones/active_set.hpp"
#include "control/budget.hpp"
#include "losses/ball.hpp"
#include "problem/evaluation.hpp"

namespace cudbound {

// A node's minimizer, with what its relaxation needs to continue from there.
struct Node {
    explicit Node(int p) : point(p) {}
    virtual ~Node() = default;

    Vector<double> point;  // (p)
    double loss = 0.0;     // lower bound of the loss on the node's closed cone, attained at `point` up to rounding
};

// What is known of a draw. Losses are n times its penalized mean loss, up to a constant of the draw.
struct DrawFacts {
    int p = 0;
    Vector<double> anchor;        // (p) the fitted coefficients
    Vector<double> apex;          // (p) beta = 0
    double anchor_loss = 0.0;     // n L(anchor), rounded upwards
    double apex_loss = 0.0;       // of beta = 0
    double apex_tolerance = 0.0;  // nodes whose loss is this close to apex_loss count as lying at beta = 0
    double extent = 0.0;          // length: rounding errors of points are relative to it
    bool found = true;            // whether the minimizer of the draw was found: rounding may prevent it
    bool has_minimizer = true;    // whether the loss has a minimizer
    bool certain = true;          // whether the directions along which the loss is flat are certain
    double error = 0.0;           // possible rounding error of unit normals and points, relative to their size
    double rate = 0.0;            // alpha / n: g falls from 1 to 0 over an increase 1 / rate of the loss
    double slack = 0.0;           // rounding allowance on losses
    bool is_ball = false;         // whether the loss of v is |v|^2 but for flat directions
    bool is_cheap = false;        // whether conflicts, of ties above all, can take longer than nodes
    double near_ties = 1.0;       // points may be wrong by so many ties
    double taken_off = 0.0;       // how much losses may be understated on purpose, slack included

    // g as a function of the loss, rounded upwards. At rate = infinity any excess makes it 0.
    double g(double loss) const {
        const double excess = loss - anchor_loss - slack;
        if (excess <= 0.0) return 1.0;
        const double falling = 1.0 - rate * excess;
        return falling < 0.0 ? 0.0 : falling;  // NaN stays, which prunes nothing
    }

    // Losses beyond this have score * g <= value, for score > 0. NaN stays: no loss exceeds it.
    double reach(double score, double value) const {
        if (rate == 0.0) return infinity;
        const double fall = 1.0 - value / score;
        return anchor_loss + slack + (fall < 0.0 ? 0.0 : fall) / rate;
    }

    // Losses beyond this have g = 0.
    double horizon() const { return reach(1.0, 0.0); }
};

class Relaxation : public DrawFacts {
 public:
    enum class Settled { yes, too_far, unresolved };

    // Long minimizations ask the budget of the search whether they may go on.
    Relaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget)
        : problem_(problem), arrangement_(arrangement), evaluation_(problem), budget_(budget) {
        p = static_cast<int>(problem.p);
        rate = problem.alpha / static_cast<double>(problem.n);
    }
    virtual ~Relaxation() = default;

    // Sets up draw `draw`; afterwards the members below describe it.
    virtual void set(std::int64_t draw) = 0;

    // Unit normals (k, p) and offsets of hyperplanes of the arrangement: side(v) = unit'v + offset has the sign of the
    // original. And their curvatures: among points of a node's cone where g > 0, the loss at distance d beyond one
    // exceeds that of the node's minimizer by at least the curvature times d^2; 0 if nothing is known.
    virtual void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) = 0;

    // The same, or more where more is known: `along` is the hyperplane's unit normal times the node's point.
    virtual double rise(const Node&, double curvature, double distance, double /*along*/) const {
        return curvature * distance * distance;
    }

    virtual void to_beta(const double* v, double* beta) const = 0;

    virtual std::unique_ptr<Node> make_node() const = 0;
    virtual void copy(const Node& from, Node& to) const = 0;
    // The node without forced hyperplanes: the minimizer of the draw.
    const Node& root() const { return *root_; }

    // Moves the node to the minimizer for `forced`, whose last member was added and is violated. Ends with too_far when
    // the loss must exceed `limit`, and with unresolved when rounding prevents an answer; the node is then unusable.
    virtual Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) = 0;

    // A lower bound of the loss on the closed cone of `forced` that may be better than the node's: where the relaxation
    // is a quadratic below the loss, that of the loss itself. `sides` are those of beta.
    virtual double confirm(const Node& node, const Sides&, const Vector<int>&, double /*limit*/) { return node.loss; }

    // The loss that the node's point has: its least on the cone, or more if the relaxation is a quadratic below it.
    virtual double loss_at_point(const Node& node) { return node.loss; }

    // If the relaxation is a model of the loss: takes it anew at these coefficients.
    virtual void take_at(const double* /*beta*/) {}

 protected:
    const Problem& problem_;
    const Arrangement& arrangement_;
    const Evaluation evaluation_;
    Budget& budget_;
    std::unique_ptr<Node> root_;
};

// A relaxation with nodes of a type of its own: the only place that knows which type a node of it has.
template <class OwnNode>
class RelaxationWith : public Relaxation {
 public:
    RelaxationWith(const Problem& problem, const Arrangement& arrangement, Budget& budget)
        : Relaxation(problem, arrangement, budget) {
        root_ = std::make_unique<OwnNode>(p);
    }
    std::unique_ptr<Node> make_node() const final { return std::make_unique<OwnNode>(p); }
    void copy(const Node& from, Node& to) const final { own(to) = own(from); }

 protected:
    static OwnNode& own(Node& node) { return static_cast<OwnNode&>(node); }
    static const OwnNode& own(const Node& node) { return static_cast<const OwnNode&>(node); }
};

// What is kept of all draws from one search to the next. Threads work on different draws.
struct KeptDraw {
    Vector<double> minimizer;                          // of a smooth loss, empty as long as it is not known
    double least = 0.0;                                // its loss
    std::unique_ptr<const Ball::Quadratic> quadratic;  // below the loss
};
using KeptDraws = Vector<KeptDraw>;

// Null keeps nothing.
std::unique_ptr<Relaxation> make_relaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget,
                                            KeptDraws* kept = nullptr);

// A quadratic below the loss wherever g > 0, if there is one; an l1 penalty is not part of it, but of its tree. Its
// minimizer, cells and values are those of the quadratic: they bound Q from above, and no more. A draw without it has
// `found` false.
bool has_minorant(const Problem& problem);
std::unique_ptr<Relaxation> make_minorant(const Problem& problem, const Arrangement& arrangement, KeptDraws& kept,
                                          Budget& budget);

// A quadratic model of the loss, with the minimizer of the draw. It bounds nothing: dives look there for classifiers.
// Follows `loss`, which has to be set to the draw before. Where the model is singular, `found` is false.
std::unique_ptr<Relaxation> make_model(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss,
                                       Budget& budget);

}  // namespace cudbound
