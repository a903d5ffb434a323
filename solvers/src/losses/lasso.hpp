// Squared loss with an l1 penalty: the minimizer on a cone is a nearest point where kinks may be crossed at a price.
#pragma once

#include <memory>
#include <vector>

#include "cones/bounded_active_set.hpp"
#include "losses/ball.hpp"
#include "losses/l1_penalty.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// The coordinates are those of the ball of the squares. Along its flat directions proximal steps supply the curvature,
// as they do without the l1 penalty.
class LassoRelaxation final : public Relaxation {
 public:
    LassoRelaxation(const Problem& problem, const Arrangement& arrangement);

    void set(std::int64_t draw) override;
    double transform(int hyperplane, double* unit, double* offset) override;
    double rise(const Node& node, double curvature, double distance, double along) const override;
    void to_beta(const double* v, double* beta) const override { ball_.to_beta(v, beta); }
    void direction_from_beta(const double* beta, double* v) const override { ball_.direction_from_beta(beta, v); }
    double loss(const double* v) const override;
    std::unique_ptr<Node> make_node() const override;
    void copy(const Node& from, Node& to) const override;
    void start(Node& node) const override { copy(*root_, node); }
    Settled settle(Node& node, const Sides& sides, const std::vector<int>& forced, double limit) override;

 private:
    struct LassoNode;

    void minimize_freely();
    void restore(LassoNode& here, const Constraints& all);
    Settled minimize(LassoNode& here, const Sides& sides, const std::vector<int>& forced, double limit, double allowed,
                     double most_allowed);
    double proved_loss(const LassoNode& here, const Constraints& all, bool entering, double reach) const;

    Ball ball_;
    const L1Penalty l1_;
    const double rows_;
    SoftConstraints terms_;     // of the penalty, in the coordinates of the draw
    std::vector<double> pull_;  // (p) how far its linear parts move the center
    double moved_ = 0.0;        // by how much they change the objective of the active set
    std::unique_ptr<Node> root_;
    std::vector<double> violations_;        // (terms) scratch
    std::vector<double> scratch_;           // (p)
    mutable std::vector<double> combined_;  // (p)
};

}  // namespace cudbound
