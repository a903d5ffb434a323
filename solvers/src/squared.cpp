#include "squared.hpp"

#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

namespace {

struct SquaredNode final : Node {
    explicit SquaredNode(int p) : Node(p), active(p), centre(p) {}

    ActiveSet active;
    std::vector<double> centre;  // origin of `active`: zero but for the flat coordinates of a proximal step
};

}  // namespace

SquaredRelaxation::SquaredRelaxation(const Problem& problem, const Arrangement& arrangement)
    : ball_(problem, arrangement) {
    p = ball_.p;
    rate = problem.alpha / static_cast<double>(problem.n);
}

void SquaredRelaxation::set(std::int64_t draw) {
    ball_.set(draw);
    anchor = ball_.anchor;
    apex = ball_.apex;
    anchor_loss = ball_.radius2;
    apex_loss = ball_.apex2;
    slack = ball_.slack;
    apex_tolerance = Settings::apex * (apex_loss + slack);
    const double reach = std::isfinite(1.0 / rate) ? anchor_loss + 1.0 / rate : 0.0;
    extent = std::sqrt(std::max(reach, std::max(anchor_loss, apex_loss)));
}

double SquaredRelaxation::transform(const double* normal, double* unit, double* offset) const {
    return ball_.transform(normal, unit, offset) ? 0.0 : 1.0;
}

double SquaredRelaxation::loss(const double* v) const { return dot(v, v, ball_.rank); }

std::unique_ptr<Node> SquaredRelaxation::make_node() const { return std::make_unique<SquaredNode>(p); }

void SquaredRelaxation::copy(const Node& from, Node& to) const {
    const auto& source = static_cast<const SquaredNode&>(from);
    auto& target = static_cast<SquaredNode&>(to);
    target.active.copy_from(source.active);
    target.centre = source.centre;
    target.point = source.point;
    target.loss = source.loss;
}

void SquaredRelaxation::start(Node& node) const {
    auto& root = static_cast<SquaredNode&>(node);
    root.active.reset();
    std::fill(root.centre.begin(), root.centre.end(), 0.0);
    std::fill(root.point.begin(), root.point.end(), 0.0);
    root.loss = 0.0;
}

Relaxation::Settled SquaredRelaxation::settle(Node& node, const Sides& sides, const std::vector<int>& forced,
                                              double limit) {
    auto& here = static_cast<SquaredNode&>(node);
    const bool curved = ball_.rank == p;
    double allowed = 0.01 * sides.tie;
    int patience = 100 + 50 * (p + static_cast<int>(forced.size()));
    for (int next = forced.back();;) {
        while (next >= 0) {
            if (--patience == 0) return Settled::unresolved;
            const double violation = sides.side(next, here.point.data());
            const auto outcome = here.active.add(next, sides.normal(next), violation,
                                                 curved ? limit : std::numeric_limits<double>::infinity());
            if (outcome == ActiveSet::Outcome::too_far) return Settled::too_far;
            if (outcome == ActiveSet::Outcome::infeasible) {
                // A cone is never empty: the violation is a rounding error, larger than is usual. Within the tolerance
                // of ties it may stay.
                if (violation < -sides.tie || allowed == sides.tie) return Settled::unresolved;
                allowed = sides.tie;
                here.active.reset();
            }
            for (int l = 0; l < p; ++l) here.point[l] = here.centre[l] + here.active.point()[l];
            next = sides.most_violated(forced, here.point.data(), allowed);
        }
        here.loss = loss(here.point.data());
        const Settled settled = here.loss > limit ? Settled::too_far : Settled::yes;
        if (curved) return settled;
        // Proximal step: take the flat coordinates reached as the new centre, until they stay. Until then |u| only
        // falls, so that it says nothing about the limit.
        double moved = 0.0;
        double size = 1.0;
        for (int l = ball_.rank; l < p; ++l) {
            moved += here.active.point()[l] * here.active.point()[l];
            size += here.point[l] * here.point[l];
        }
        if (moved <= Settings::proximal * Settings::proximal * size) return settled;
        for (int l = ball_.rank; l < p; ++l) here.centre[l] = here.point[l];
        here.point = here.centre;
        here.active.reset();
        next = sides.most_violated(forced, here.point.data(), allowed);
    }
}

}  // namespace cudbound
