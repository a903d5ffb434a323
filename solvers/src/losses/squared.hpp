// Squared loss: its sublevel sets are balls, and the minimizer on a cone is the point nearest to their center.
#pragma once

#include "cones/active_set.hpp"
#include "losses/ball.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

class SquaredRelaxation : public Relaxation {
 public:
    SquaredRelaxation(const Problem& problem, const Arrangement& arrangement);

    void set(std::int64_t draw) override;
    double transform(int hyperplane, double* unit, double* offset) override;
    void transform_all(const std::vector<int>& hyperplanes, double* units, double* offsets,
                       double* curvatures) override;
    double rise(const Node& node, double curvature, double distance, double along) const override;
    void to_beta(const double* v, double* beta) const override { ball_.to_beta(v, beta); }
    void direction_from_beta(const double* beta, double* v) const override { ball_.direction_from_beta(beta, v); }
    double loss(const double* v) const override;
    std::unique_ptr<Node> make_node() const override;
    void copy(const Node& from, Node& to) const override;
    void start(Node& node) const override;
    Settled settle(Node& node, const Sides& sides, const std::vector<int>& forced, double limit) override;

 protected:
    // Takes over what the ball knows; rounding may have lowered the anchor's loss by `doubt`.
    void adopt(double doubt);

    Ball ball_;

 private:
    double proved_loss(const Node& node, const Sides& sides, int entering) const;

    const double rows_;
    mutable std::vector<double> combined_;  // (p) scratch
};

}  // namespace cudbound
