// Squared loss: its sublevel sets are balls, and the minimiser on a cone is the point nearest to their centre.
#pragma once

#include "active_set.hpp"
#include "ball.hpp"
#include "relaxation.hpp"

namespace cudbound {

class SquaredRelaxation final : public Relaxation {
 public:
    SquaredRelaxation(const Problem& problem, const Arrangement& arrangement);

    void set(std::int64_t draw) override;
    double transform(const double* normal, double* unit, double* offset) const override;
    void to_beta(const double* v, double* beta) const override { ball_.to_beta(v, beta); }
    void direction_from_beta(const double* beta, double* v) const override { ball_.direction_from_beta(beta, v); }
    double loss(const double* v) const override;
    std::unique_ptr<Node> make_node() const override;
    void copy(const Node& from, Node& to) const override;
    void start(Node& node) const override;
    Settled settle(Node& node, const Sides& sides, const std::vector<int>& forced, double limit) override;

 private:
    Ball ball_;
};

}  // namespace cudbound
