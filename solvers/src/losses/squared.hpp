// Squared loss, with an l1 penalty or without: its sublevel sets are balls, and the minimizer on a cone is the point
// nearest to their center, where the kinks of the penalty may be crossed at a price.
#pragma once

#include "cones/active_set.hpp"
#include "linear_algebra/vector.hpp"
#include "losses/ball.hpp"
#include "losses/l1_penalty.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

struct SquaredNode final : Node {
    explicit SquaredNode(int p) : Node(p), active(p), center(p) {}

    ActiveSet active;
    double length2 = 0.0;   // of the point
    bool tidy = true;       // whether the point is that of the multipliers, up to rounding
    Vector<double> center;  // zero except for the flat coordinates of a proximal step
};

// Along the flat directions of the ball proximal steps supply the curvature.
class SquaredRelaxation : public RelaxationWith<SquaredNode> {
 public:
    SquaredRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget);

    void set(std::int64_t draw) override;
    void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override;
    double rise(const Node& node, double curvature, double distance, double along) const override;
    void to_beta(const double* v, double* beta) const override { ball_.to_beta(v, beta); }
    Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) override;

 protected:
    // Takes over what the ball knows, and adds the l1 penalty; rounding may have lowered the anchor's loss by `doubt`.
    void adopt(double doubt);

    Ball ball_;
    const L1Penalty l1_;

 private:
    void place_terms();
    void minimize_freely();
    void restore(SquaredNode& here, const Constraints& all);
    Settled minimize(SquaredNode& here, const Sides& sides, const Vector<int>& forced, double limit, double allowed,
                     double most_allowed);
    double proved_loss(const SquaredNode& here, const Constraints& all, bool entering, double reach);

    const double rows_;
    SoftConstraints terms_;      // of the penalty, in the coordinates of the draw
    Vector<double> pull_;        // (p) how far its linear parts move the center
    double moved_ = 0.0;         // by how much they change the objective of the active set
    double load_ = 0.0;          // sum of the prices
    Vector<double> violations_;  // (terms) scratch
    Vector<double> center_;      // (p)
    Vector<double> combined_;    // (p)
};

}  // namespace cudbound
