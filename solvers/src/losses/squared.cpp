#include "losses/squared.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

namespace {

struct SquaredNode final : Node {
    explicit SquaredNode(int p) : Node(p), active(p), center(p) {}

    ActiveSet active;
    double length2 = 0.0;        // of the point
    bool tidy = true;            // whether the point is that of the multipliers, up to rounding
    std::vector<double> center;  // origin of `active`: zero except for the flat coordinates of a proximal step
};

}  // namespace

SquaredRelaxation::SquaredRelaxation(const Problem& problem, const Arrangement& arrangement)
    : Relaxation(problem),
      ball_(problem, arrangement),
      rows_(static_cast<double>(problem.n)),
      combined_(static_cast<std::size_t>(problem.p)) {
    p = ball_.p;
    rate = problem.alpha / static_cast<double>(problem.n);
}

void SquaredRelaxation::set(std::int64_t draw) {
    ball_.set(draw);
    adopt(evaluation_.anchor_doubt(draw));
}

void SquaredRelaxation::adopt(double doubt) {
    anchor = ball_.anchor;
    apex = ball_.apex;
    anchor_loss = ball_.radius2 + doubt;
    apex_loss = ball_.apex2;
    error = ball_.error;
    certain = ball_.certain;
    const double fall = std::isfinite(1.0 / rate) ? 1.0 / rate : 0.0;  // of g, in units of the loss
    slack = (Settings::excess + error) * (ball_.size + fall);
    apex_tolerance = Settings::apex * (apex_loss + slack);
    // rows that weigh much more than 1 lend their rounding errors to all others: those are no reason to miss a value
    const double usual = Settings::usual_size * rows_;
    taken_off = Settings::taken_off * Settings::excess * (std::min(ball_.size, usual) + fall) +
                Settings::apex * std::min(apex_loss, usual);
    if (ball_.rank < p) taken_off += Settings::flat_level * std::min(1.0, fall);
    const double reach = anchor_loss + fall;
    extent = std::sqrt(std::max(reach, std::max(anchor_loss, apex_loss)));
}

double SquaredRelaxation::transform(int hyperplane, double* unit, double* offset) {
    const double curvature = ball_.transform(hyperplane, unit, offset) ? 0.0 : 1.0;
    certain = ball_.certain;
    return curvature;
}

void SquaredRelaxation::transform_all(const std::vector<int>& hyperplanes, double* units, double* offsets,
                                      double* curvatures) {
    if (ball_.rank < p) {
        Relaxation::transform_all(hyperplanes, units, offsets, curvatures);
        return;
    }
    ball_.transform_curved(hyperplanes, units, offsets);
    std::fill_n(curvatures, hyperplanes.size(), 1.0);
}

// A point of the cone is reached from the nearest one, x, by a step e with x'e >= 0. Beyond the hyperplane a'e >= d;
// the least of 2 x'e + |e|^2 is attained with x'e = 0, or where a'e = d alone holds it.
double SquaredRelaxation::rise(const Node& node, double curvature, double distance, double along) const {
    const auto& here = static_cast<const SquaredNode&>(node);
    const double plain = curvature * distance * distance;
    const double length2 = here.length2;  // the loss is less, by what rounding may have done
    if (!here.tidy) return 0.0;
    if (!(length2 > 0.0) || ball_.rank < p) return plain;
    // Next to a hyperplane that is nearly parallel to the point's own, few digits are left: the possible loss is
    // subtracted.
    const double doubt = Settings::excess + error;
    const double length = std::sqrt(length2);
    const double cosine = along / length;
    const double rest = 1.0 - cosine * cosine + Settings::rise_doubt * doubt * (1.0 + extent / length);
    const double sure = std::max(0.0, distance - doubt * extent);
    if (sure * cosine <= rest * length) return std::max(plain, sure * sure / rest);
    const double farther = along + sure;
    return std::max(plain, farther * farther - length2);
}

double SquaredRelaxation::loss(const double* v) const { return dot(v, v, ball_.rank); }

std::unique_ptr<Node> SquaredRelaxation::make_node() const { return std::make_unique<SquaredNode>(p); }

void SquaredRelaxation::copy(const Node& from, Node& to) const {
    const auto& source = static_cast<const SquaredNode&>(from);
    auto& target = static_cast<SquaredNode&>(to);
    target.active.copy_from(source.active);
    target.center = source.center;
    target.point = source.point;
    target.loss = source.loss;
    target.length2 = source.length2;
    target.tidy = source.tidy;
}

void SquaredRelaxation::start(Node& node) const {
    auto& root = static_cast<SquaredNode&>(node);
    root.active.reset();
    std::fill(root.center.begin(), root.center.end(), 0.0);
    std::fill(root.point.begin(), root.point.end(), 0.0);
    root.loss = 0.0;
    root.length2 = 0.0;
    root.tidy = true;
}

double SquaredRelaxation::proved_loss(const Node& node, const Sides& sides, int entering) const {
    return static_cast<const SquaredNode&>(node).active.dual_bound(sides.normals, sides.distances, entering,
                                                                   Settings::excess + error, std::sqrt(apex_loss), p,
                                                                   0.0, combined_.data());
}

Relaxation::Settled SquaredRelaxation::settle(Node& node, const Sides& sides, const std::vector<int>& forced,
                                              double limit) {
    auto& here = static_cast<SquaredNode&>(node);
    const bool curved = ball_.rank == p;
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    double allowed = Settings::left_of_tie * sides.tie;
    double stop = curved ? limit : unlimited;
    int steps = 0;
    int patience = Effort::node_moves + Effort::node_moves_per_constraint * (p + static_cast<int>(forced.size()));
    for (int next = forced.back();;) {
        while (next >= 0) {
            if (--patience == 0 || !may_go_on()) return Settled::unresolved;
            const double violation = sides.side(next, here.point.data());
            const auto outcome = here.active.add(next, sides.normal(next), violation, stop);
            if (outcome == ActiveSet::Outcome::too_far) {
                if (exceeds(proved_loss(here, sides, next), limit)) return Settled::too_far;
                stop = unlimited;  // rounding: it is not proved, so the point is needed
                here.active.reset();
            } else if (outcome == ActiveSet::Outcome::stuck) {
                return Settled::unresolved;
            } else if (outcome == ActiveSet::Outcome::infeasible) {
                // A cone is never empty: the violation is a rounding error, larger than is usual. Within the tolerance
                // of ties it may stay.
                if (violation < -sides.tie || allowed == sides.tie) return Settled::unresolved;
                allowed = sides.tie;
                here.active.reset();
            }
            for (int l = 0; l < p; ++l) here.point[l] = here.center[l] + here.active.point()[l];
            next = sides.most_violated(forced, here.point.data(), allowed);
        }
        if (curved) {
            here.loss = proved_loss(here, sides, -1);
            double apart = 0.0;
            for (int l = 0; l < p; ++l) apart = std::max(apart, std::abs(combined_[l] - here.point[l]));
            here.tidy = apart <= sides.tie;
            here.length2 = dot(here.point.data(), here.point.data(), p);
            return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
        }
        // Proximal step: take the resulting flat coordinates as the new center, until they no longer move. Until then
        // |u| only falls, so that it says nothing about the limit.
        double moved = 0.0;
        double size = 1.0;
        for (int l = ball_.rank; l < p; ++l) {
            moved += here.active.point()[l] * here.active.point()[l];
            size += here.point[l] * here.point[l];
        }
        double pull = 0.0;  // large where normals nearly cancel, and so are their rounding errors
        for (int k = 0; k < here.active.size(); ++k) pull += here.active.multiplier(k);
        const double still = std::max(Settings::proximal * std::sqrt(size), Settings::unit_error * pull);
        if (moved <= still * still) {
            // the remaining move is a slope, along which the loss may fall further
            here.loss = here.active.dual_bound(
                sides.normals, sides.distances, -1, Settings::flat_doubt * Settings::unit_error + error,
                std::sqrt(apex_loss), ball_.rank, Settings::proximal_reach * std::sqrt(size), combined_.data());
            here.tidy = true;
            return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
        }
        // slow where the cone only opens far away: what the loss is there is not known
        if (++steps == Settings::proximal_steps) return Settled::unresolved;
        for (int l = ball_.rank; l < p; ++l) here.center[l] = here.point[l];
        here.point = here.center;
        here.active.reset();
        next = sides.most_violated(forced, here.point.data(), allowed);
    }
}

}  // namespace cudbound
