#include "losses/lasso.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

struct LassoRelaxation::LassoNode final : Node {
    explicit LassoNode(int p) : Node(p), active(p), center(p) {}

    BoundedActiveSet active;
    bool tidy = true;            // whether the point is that of the multipliers, up to rounding
    std::vector<double> center;  // zero except for the flat coordinates of a proximal step
};

LassoRelaxation::LassoRelaxation(const Problem& problem, const Arrangement& arrangement)
    : Relaxation(problem), ball_(problem, arrangement), l1_(problem), rows_(static_cast<double>(problem.n)) {
    p = ball_.p;
    rate = problem.alpha / rows_;
    for (auto* vector : {&pull_, &scratch_, &combined_}) vector->resize(static_cast<std::size_t>(p));
    violations_.resize(static_cast<std::size_t>(l1_.count()));
    root_ = make_node();
}

void LassoRelaxation::set(std::int64_t draw) {
    ball_.set(draw);
    anchor = ball_.anchor;
    apex = ball_.apex;
    error = ball_.error;
    certain = ball_.certain;
    l1_.place([this](int j, double* normal) { return ball_.normal_from_beta(l1_.row(j), normal); }, 1.0, terms_);
    std::fill(pull_.begin(), pull_.end(), 0.0);
    moved_ = 0.0;
    double load = 0.0;
    for (int j = 0; j < terms_.count; ++j) {
        const double cap = terms_.caps[static_cast<std::size_t>(j)];
        load += cap;
        moved_ -= cap * terms_.levels[static_cast<std::size_t>(j)];
        for (int l = 0; l < p; ++l) pull_[static_cast<std::size_t>(l)] -= 0.5 * cap * terms_.normal(j)[l];
    }
    moved_ -= dot(pull_.data(), pull_.data(), p);

    anchor_loss = ball_.radius2 + l1_.of_anchor() + evaluation_.anchor_doubt(draw);
    apex_loss = ball_.apex2;
    const double size = ball_.size + l1_.of_anchor();
    const double fall = std::isfinite(1.0 / rate) ? 1.0 / rate : 0.0;  // of g, in units of the loss
    extent = std::sqrt(std::max(anchor_loss + fall, apex_loss));
    // points are sums of the normals of the terms, which may be long and cancel
    const double lost = 2.0 * extent * Settings::unit_error * p * load;
    slack = (Settings::excess + error) * (size + fall) + lost;
    apex_tolerance = Settings::apex * (apex_loss + slack);
    // as under squared loss
    const double usual = Settings::usual_size * rows_;
    const double level = Settings::flat_level * std::min(1.0, fall);
    taken_off = Settings::taken_off * Settings::excess * (std::min(size, usual) + fall) +
                Settings::apex * std::min(apex_loss, usual) + std::min(Settings::taken_off * lost, level);
    if (ball_.rank < p) taken_off += level;
    minimize_freely();
}

// From the signs of the anchor, which most draws share.
void LassoRelaxation::minimize_freely() {
    auto& root = static_cast<LassoNode&>(*root_);
    const Sides nothing{p, nullptr, nullptr, 0.0};
    const Constraints all{terms_, nothing};
    for (int k = 0; k < p; ++k) root.center[k] = k < ball_.rank ? 0.0 : anchor[k];
    root.active.reset(terms_.count);
    root.loss = 0.0;
    for (int j = 0; j < terms_.count; ++j) {
        if (l1_.side_of_anchor(j) == 0.0) {
            root.active.activate(all, j);
        } else if (l1_.side_of_anchor(j) < 0.0) {
            root.active.rest(j, BoundedActiveSet::at_cap);
        }
    }
    restore(root, all);
    const double allowed = Settings::tie * extent;
    found = minimize(root, nothing, {}, std::numeric_limits<double>::infinity(), Settings::left_of_tie * allowed,
                     allowed) == Settled::yes;
}

double LassoRelaxation::transform(int hyperplane, double* unit, double* offset) {
    const double curvature = ball_.transform(hyperplane, unit, offset) ? 0.0 : 1.0;
    certain = ball_.certain;
    return curvature;
}

double LassoRelaxation::rise(const Node& node, double curvature, double distance, double along) const {
    if (!static_cast<const LassoNode&>(node).tidy) return 0.0;
    return Relaxation::rise(node, curvature, distance, along);
}

double LassoRelaxation::loss(const double* v) const {
    double sum = dot(v, v, ball_.rank);
    for (int j = 0; j < terms_.count; ++j) {
        const auto at = static_cast<std::size_t>(j);
        sum += terms_.caps[at] * std::abs(dot(terms_.normal(j), v, p) - terms_.levels[at]);
    }
    return sum;
}

std::unique_ptr<Node> LassoRelaxation::make_node() const {
    auto node = std::make_unique<LassoNode>(p);
    node->active.reserve(l1_.count());
    return node;
}

void LassoRelaxation::copy(const Node& from, Node& to) const {
    const auto& source = static_cast<const LassoNode&>(from);
    auto& target = static_cast<LassoNode&>(to);
    target.active.copy_from(source.active);
    target.center = source.center;
    target.point = source.point;
    target.loss = source.loss;
    target.tidy = source.tidy;
}

Relaxation::Settled LassoRelaxation::settle(Node& node, const Sides& sides, const std::vector<int>& forced,
                                            double limit) {
    return minimize(static_cast<LassoNode&>(node), sides, forced, limit, Settings::left_of_tie * sides.tie, sides.tie);
}

void LassoRelaxation::restore(LassoNode& here, const Constraints& all) {
    for (int k = 0; k < p; ++k) scratch_[k] = here.center[k] + pull_[k];
    here.active.restore(all, scratch_.data());
}

// Violations of forced sides up to `allowed` stay; they may grow to `most_allowed` where rounding keeps them.
Relaxation::Settled LassoRelaxation::minimize(LassoNode& here, const Sides& sides, const std::vector<int>& forced,
                                              double limit, double allowed, double most_allowed) {
    const Constraints all{terms_, sides};
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    const bool curved = ball_.rank == p;
    const double before = here.loss;  // a bound in the smaller cone too
    const double* point = here.active.point();
    double stop = curved ? limit - moved_ : unlimited;
    double value = before - moved_;
    double kink = Settings::lasso_kink * extent;
    bool restored = false;
    int steps = 0;
    const int most =
        Effort::node_moves + Effort::node_moves_per_constraint * (p + static_cast<int>(forced.size()) + terms_.count);
    for (int moves = 0;;) {
        if (!may_go_on()) return Settled::unresolved;
        const int side = sides.most_violated(forced, point, allowed);
        int next = -1;
        double violation = 0.0;
        if (side >= 0) {
            next = all.label_of_side(side);
            violation = -sides.side(side, point);
        } else {
            next = here.active.most_violated(terms_, kink, violations_.data());
            if (next >= 0) violation = violations_[static_cast<std::size_t>(next)];
        }
        if (next >= 0) {
            if (++moves == most) return Settled::unresolved;
            if (moves % Effort::kink_moves == 0) kink *= Settings::lasso_wider;
            const auto outcome = here.active.move(all, next, violation, &value, stop);
            restored = false;
            if (outcome == BoundedActiveSet::Outcome::moved) continue;
            if (outcome == BoundedActiveSet::Outcome::too_far) {
                if (exceeds(proved_loss(here, all, true, 0.0), limit)) return Settled::too_far;
                stop = unlimited;  // rounding: it is not proved, so the point is needed
            } else {
                // A cone is never empty: the violation is a rounding error. Within the tolerance of ties it may stay.
                if (violation > most_allowed || allowed == most_allowed) return Settled::unresolved;
                allowed = most_allowed;
            }
            here.active.reset(terms_.count);
            restore(here, all);
            value = -unlimited;
            continue;
        }
        if (!restored) {
            restore(here, all);
            restored = true;
            continue;
        }
        std::copy_n(point, p, here.point.data());
        double flat2 = 0.0;  // squared length of the last proximal step
        double size = 1.0;
        for (int l = ball_.rank; l < p; ++l) {
            const double step = here.point[l] - here.center[l];
            flat2 += step * step;
            size += here.point[l] * here.point[l];
        }
        // what the normals of active constraints add up to has their rounding errors
        double pull = 0.0;
        for (int k = 0; k < here.active.size(); ++k) pull += here.active.multiplier(k);
        const double still = std::max(Settings::proximal * std::sqrt(size), Settings::unit_error * pull);
        if (curved || flat2 <= still * still) {
            here.loss = std::max(before, proved_loss(here, all, false, Settings::proximal_reach * std::sqrt(size)));
            double apart = 0.0;
            for (int l = 0; l < ball_.rank; ++l) apart = std::max(apart, std::abs(combined_[l] - here.point[l]));
            here.tidy = apart <= Settings::tie * extent;
            return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
        }
        if (++steps == Settings::proximal_steps) return Settled::unresolved;
        for (int l = ball_.rank; l < p; ++l) here.center[l] = here.point[l];
        restore(here, all);
        restored = false;
    }
}

// A lower bound of the loss on the cone, however rounding affected the multipliers. Each term is at least a slope of it
// times its linear function, for any slope between minus and plus its price, and a forced side times a multiplier is
// not negative: what is left is a quadratic with the minimizer `combined_`. Along flat directions points are taken to
// be no longer than `reach`.
double LassoRelaxation::proved_loss(const LassoNode& here, const Constraints& all, bool entering, double reach) const {
    std::fill(combined_.begin(), combined_.end(), 0.0);
    double linear = 0.0;
    double sum = 0.0;
    const auto add = [&](int label, double multiplier) {
        linear += multiplier * all.level(label);
        sum += std::abs(multiplier);
        const double* normal = all.normal(label);
        for (int l = 0; l < p; ++l) combined_[l] += multiplier * normal[l];
    };
    const auto slope = [&](int label, double multiplier) {
        const double cap = all.cap(label);
        return all.is_soft(label) ? std::clamp(multiplier, 0.0, cap) - 0.5 * cap : std::max(0.0, multiplier);
    };
    for (int j = 0; j < terms_.count; ++j) {
        if (entering && j == here.active.entering()) continue;
        const double place = here.active.place(j);
        if (place != 0.0) add(j, slope(j, place == BoundedActiveSet::at_cap ? all.cap(j) : 0.0));
    }
    for (int k = 0; k < here.active.size(); ++k) {
        add(here.active.label(k), slope(here.active.label(k), here.active.multiplier(k)));
    }
    if (entering) add(here.active.entering(), slope(here.active.entering(), here.active.entering_multiplier()));
    const double length2 = dot(combined_.data(), combined_.data(), ball_.rank);
    const double rest = std::sqrt(dot(combined_.data() + ball_.rank, combined_.data() + ball_.rank, p - ball_.rank));
    const double doubt = (ball_.rank < p ? Settings::flat_doubt * Settings::unit_error : Settings::excess) + error;
    const double off = rest * reach + doubt * sum * (std::sqrt(apex_loss) + std::sqrt(length2));
    const double bound = 2.0 * (linear - off) - length2;
    return bound > 0.0 ? bound : 0.0;
}

}  // namespace cudbound
