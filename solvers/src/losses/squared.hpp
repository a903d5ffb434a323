// Squared loss, with an l1 penalty or without: its sublevel sets are balls, and the minimizer on a cone is the point
// nearest to their center, where the kinks of the penalty may be crossed at a price.
#pragma once

#include "control/prunes.hpp"
#include "losses/l1_penalty.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

struct SquaredNode final : Node {
    explicit SquaredNode(int p) : Node(p), active(p), center(p) {}

    ActiveSet active;
    double length2 = 0.0;  // of the point
    double length = 0.0;
    double doubt = 0.0;     // of cosines with the point
    bool tidy = true;       // whether the point is that of the multipliers, up to rounding
    Vector<double> center;  // zero except for the flat coordinates of a proximal step
};

// Along the flat directions of the ball proximal steps supply the curvature.
class SquaredRelaxation : public RelaxationWith<SquaredNode> {
 public:
    SquaredRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget)
        : RelaxationWith(problem, arrangement, budget), ball_(problem, arrangement), l1_(problem) {
        is_ball = problem.loss == Loss::SQUARED && !l1_.exists();
        is_cheap = true;
        near_ties = problem.loss == Loss::SQUARED ? 1.0 : Settings::near_ties;
        for (auto* vector : {&pull_, &center_, &combined_}) vector->resize(p);
        violations_.resize(l1_.count());
    }

    void set(std::int64_t draw) override {
        ball_.set(draw);
        adopt(evaluation_.anchor_doubt(draw));
    }

    void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override {
        std::fill_n(curvatures, hyperplanes.size(), 1.0);
        if (ball_.rank == p) {
            ball_.place_curved(hyperplanes, units, offsets);
            return;
        }
        for (int i = 0; i < std::ssize(hyperplanes); ++i) {
            if (ball_.place(hyperplanes[i], units + std::ptrdiff_t{i} * p, offsets + i)) curvatures[i] = 0.0;
        }
        certain = ball_.certain;
    }

    // A point of the cone is reached from the nearest one, x, by a step e with x'e >= 0. Beyond the hyperplane a'e >=
    // d; the least of 2 x'e + |e|^2 is attained with x'e = 0, or where a'e = d alone holds it.
    double rise(const Node& node, double curvature, double distance, double along) const override {
        const SquaredNode& here = own(node);
        const double plain = curvature * distance * distance;
        const double length2 = here.length2;  // the loss is less, by what rounding may have done
        if (!here.tidy) return 0.0;
        if (!(length2 > 0.0) || ball_.rank < p || terms_.count > 0) return plain;
        // Next to a hyperplane that is nearly parallel to the point's own, few digits are left: the possible loss is
        // subtracted.
        const double length = here.length;
        const double cosine = along / length;
        const double rest = 1.0 - cosine * cosine + here.doubt;
        const double sure = std::max(0.0, distance - (Settings::excess + error) * extent);
        if (sure * cosine <= rest * length) return std::max(plain, sure * sure / rest);
        const double farther = along + sure;
        return std::max(plain, farther * farther - length2);
    }

    void to_beta(const double* v, double* beta) const override { ball_.to_beta(v, beta); }

    Relaxation::Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) override {
        return minimize(own(node), sides, forced, limit, Settings::left_of_tie * sides.tie, sides.tie);
    }

 protected:
    // Takes over what the ball knows, and adds the l1 penalty; rounding may have lowered the anchor's loss by `doubt`.
    void adopt(double doubt) {
        if (l1_.exists()) place_terms();
        anchor = ball_.anchor;
        apex = ball_.apex;
        anchor_loss = ball_.radius2 + l1_.of_anchor() + doubt;
        apex_loss = ball_.apex2;
        error = ball_.error;
        certain = ball_.certain;
        const double size = ball_.size + l1_.of_anchor();
        const double fall = std::isfinite(1.0 / rate) ? 1.0 / rate : 0.0;  // of g, in units of the loss
        extent = std::sqrt(std::max(anchor_loss + fall, apex_loss));
        // points are sums of the normals of the terms, which may be long and cancel
        const double lost = 2.0 * extent * Settings::unit_error * p * load_;
        slack = (Settings::excess + error) * (size + fall) + lost;
        apex_tolerance = Settings::apex * (apex_loss + slack);
        // rows that weigh much more than 1 lend their rounding errors to all others: those are no reason to miss a
        // value
        const double usual = Settings::usual_size * static_cast<double>(problem_.n);
        const double level = Settings::flat_level * std::min(1.0, fall);
        taken_off = Settings::taken_off * Settings::excess * (std::min(size, usual) + fall) +
                    Settings::apex * std::min(apex_loss, usual) + std::min(Settings::taken_off * lost, level);
        if (ball_.rank < p) taken_off += level;
        if (l1_.exists()) minimize_freely();
    }

    Ball ball_;
    const L1Penalty l1_;

 private:
    void place_terms() {
        l1_.place([this](int j, double* normal) { return ball_.normal_from_beta(l1_.row(j), normal); }, 1.0, terms_);
        std::fill(pull_.begin(), pull_.end(), 0.0);
        moved_ = 0.0;
        load_ = 0.0;
        for (int j = 0; j < terms_.count; ++j) {
            load_ += terms_.caps[j];
            moved_ -= terms_.caps[j] * terms_.levels[j];
            for (int l = 0; l < p; ++l) pull_[l] -= 0.5 * terms_.caps[j] * terms_.normal(j)[l];
        }
        moved_ -= dot(pull_.data(), pull_.data(), p);
    }

    // From the signs of the anchor, which most draws share.
    void minimize_freely() {
        SquaredNode& root = own(*root_);
        const Sides nothing{p, nullptr, nullptr, 0.0};
        const Constraints all{terms_, nothing};
        for (int k = 0; k < p; ++k) root.center[k] = k < ball_.rank ? 0.0 : anchor[k];
        root.loss = 0.0;
        root.active.start(all, 0.0, [this](int j) { return -l1_.side_of_anchor(j); });
        restore(root, all);
        const double allowed = Settings::tie * extent;
        found = minimize(root, nothing, {}, infinity, Settings::left_of_tie * allowed, allowed) == Settled::yes;
    }

    void restore(SquaredNode& here, const Constraints& all) {
        for (int k = 0; k < p; ++k) center_[k] = here.center[k] + pull_[k];
        here.active.restore(all, center_.data());
    }

    // Violations of forced sides up to `allowed` stay; they may grow to `most_allowed` where rounding keeps them.
    Relaxation::Settled minimize(SquaredNode& here, const Sides& sides, const Vector<int>& forced, double limit,
                                 double allowed, double most_allowed) {
        const Constraints all{terms_, sides};
        const bool curved = ball_.rank == p;
        const double before = here.loss;  // a bound in the smaller cone too
        const double* point = here.active.point();
        double stop = curved ? limit - moved_ : infinity;
        double value = before - moved_;
        double kink = Settings::lasso_kink * extent;
        bool restored = curved && !l1_.exists();
        int steps = 0;
        const int most = Effort::node_moves +
                         Effort::node_moves_per_constraint * (p + static_cast<int>(forced.size()) + terms_.count);
        for (int moves = 0;;) {
            if (!budget_.go_on()) return Settled::unresolved;
            const int side = sides.most_violated(forced, point, allowed);
            int next = -1;
            double violation = 0.0;
            if (side >= 0) {
                next = all.label_of_side(side);
                violation = -sides.side(side, point);
            } else {
                next = here.active.most_violated(terms_, kink, violations_.data());
                if (next >= 0) violation = violations_[next];
            }
            if (next >= 0) {
                if (++moves == most) return Settled::unresolved;
                if (moves % Effort::kink_moves == 0) kink *= Settings::lasso_wider;
                const auto outcome = here.active.move(all, next, violation, &value, stop);
                restored = curved && !l1_.exists();
                if (outcome == ActiveSet::Outcome::moved) continue;
                if (outcome == ActiveSet::Outcome::too_far) {
                    if (exceeds(proved_loss(here, all, true, 0.0), limit)) return Settled::too_far;
                    stop = infinity;  // rounding: it is not proved, so the point is needed
                } else {
                    // A cone is never empty: the violation is a rounding error. Within the tolerance of ties it may
                    // stay.
                    if (violation > most_allowed || allowed == most_allowed) return Settled::unresolved;
                    allowed = most_allowed;
                }
                here.active.reset(terms_.count);
                restore(here, all);
                value = -infinity;
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
                here.tidy = apart <= most_allowed;
                here.length2 = dot(here.point.data(), here.point.data(), p);
                here.length = std::sqrt(here.length2);
                here.doubt = Settings::rise_doubt * (Settings::excess + error) * (1.0 + extent / here.length);
                return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
            }
            if (++steps == Settings::proximal_steps) return Settled::unresolved;
            for (int l = ball_.rank; l < p; ++l) here.center[l] = here.point[l];
            restore(here, all);
            restored = false;
        }
    }

    double proved_loss(const SquaredNode& here, const Constraints& all, bool entering, double reach) {
        const double doubt = (ball_.rank < p ? Settings::flat_doubt * Settings::unit_error : Settings::excess) + error;
        return here.active.dual_bound(all, entering, doubt, std::sqrt(apex_loss), ball_.rank, reach, combined_.data());
    }

    SoftConstraints terms_;      // of the penalty, in the coordinates of the draw
    Vector<double> pull_;        // (p) how far its linear parts move the center
    double moved_ = 0.0;         // by how much they change the objective of the active set
    double load_ = 0.0;          // sum of the prices
    Vector<double> violations_;  // (terms) scratch
    Vector<double> center_;      // (p)
    Vector<double> combined_;    // (p)
};

}  // namespace cudbound
