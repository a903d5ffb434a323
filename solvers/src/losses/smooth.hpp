// Smooth losses: the minimizer on a cone by Newton steps, each a least-distance problem.
#pragma once

#include "control/prunes.hpp"
#include "losses/drawn_rows.hpp"
#include "losses/l1_penalty.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// A minimizer, and the quadratic model of the loss close to it from which it was found and the next step starts.
struct SmoothNode final : Node {
    explicit SmoothNode(int p) : Node(p), base(p), gradient(p), factor(p) {}

    Vector<double> base;   // where the model was taken
    double value = 0.0;    // the loss there
    double kinked = 0.0;   // the l1 penalty in it
    double dropped = 0.0;  // contribution of the rows that the model leaves out
    Vector<double> gradient;
    Cholesky factor;      // of the Hessian
    bool curved = false;  // whether the Hessian was factorized as it is
    double added = 0.0;   // if not, the multiple of I that was added
    double spread = 0.0;  // largest |R^{-T} x_i|: how fast the curvature can change
};

// The relaxation of a logistic, exponential, squared hinge or Huber loss. Coordinates are the coefficients themselves.
template <Loss kind>
class SmoothRelaxation final : public RelaxationWith<SmoothNode> {
 public:
    SmoothRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget, KeptDraws* kept)
        : RelaxationWith(problem, arrangement, budget),
          kept_(kept),
          rows_(problem, arrangement),
          l1_(problem),
          active_(p),
          minorant_(p) {
        near_ties = Settings::near_ties;
        anchor.assign(problem.anchor, problem.anchor + p);
        apex.assign(p, 0.0);
        hessian_.resize(p * p);
        for (auto* vector : {&newton_, &scaled_, &pull_, &trial_, &unit_, &shift_}) vector->resize(p);
        reach_.resize(problem.n);
        double longest = 0.0;
        for (std::int64_t i = 0; i < problem.n; ++i) {
            const double* row = problem.design + i * p;
            longest = std::max(longest, dot(row, row, p));
        }
        if (longest > 0.0) least_extent_ = Settings::least_extent / std::sqrt(longest);
        violations_.resize(l1_.count());
    }

    void set(std::int64_t draw) override {
        rows_.set(draw);
        minorised_ = false;  // what is known belongs to the draw before
        anchor_loss =
            rows_.loss_at_same(anchor.data(), of_anchor_) + problem_.beyond_penalty(rows_.penalty(anchor.data()));
        anchor_loss += l1_.of_anchor() + evaluation_.anchor_doubt(draw);
        certain = std::isfinite(anchor_loss);  // exp(-m) overflows where an offset makes m < -709: g is not known
        apex_loss = rows_.loss_at_same(apex.data(), of_apex_);
        extent = length_of(anchor.data(), p);
        extent = extent == 0.0 ? 1.0 : std::max(extent, least_extent_);
        slack = Settings::newton_slack * Settings::newton_gap * (1.0 + apex_loss);
        minimize_freely(kept_ == nullptr ? nullptr : &(*kept_)[draw]);
        extent = std::max(extent, length_of(root_->point.data(), p));
        apex_tolerance = slack;
        taken_off = slack + apex_tolerance + (vanishes<kind> ? 0.0 : Settings::pieces_gap * (1.0 + apex_loss));
    }

    void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override {
        bound_curvature();
        std::fill_n(offsets, hyperplanes.size(), 0.0);
        for (std::size_t i = 0; i < hyperplanes.size(); ++i, units += p) {
            std::copy_n(arrangement_.normal(hyperplanes[i]), p, units);
            if (minorised_) minorant_.solve_transposed(units, unit_.data());
            curvatures[i] = minorised_ ? 0.5 / dot(unit_.data(), unit_.data(), p) : 0.0;
        }
    }

    void to_beta(const double* v, double* beta) const override { std::copy_n(v, p, beta); }

    Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) override {
        return descend(own(node), sides, forced, limit, false);
    }

 private:
    static constexpr double pivot = vanishes<kind> ? Settings::vanishing_pivot : Settings::pieces_pivot;
    static constexpr double ridge = vanishes<kind> ? Settings::vanishing_ridge : Settings::pieces_ridge;

    double size_of(const Vector<double>& point) const { return std::max(extent, length_of(point.data(), p)); }

    void measure(SmoothNode& node) {
        const auto value = rows_.measure(node.base.data());
        node.kinked = l1_.value(node.base.data());
        node.value = value.total + node.kinked;
        node.dropped = value.dropped;
        rows_.gradient(node.base.data(), node.gradient.data());
    }

    // The quadratic model of the loss where it was measured.
    void model(SmoothNode& node) {
        rows_.hessian(hessian_);
        factorize(node);
        if constexpr (vanishes<kind>) node.spread = rows_.longest(node.factor);
    }

    void factorize(SmoothNode& node) {
        const double longest = longest_ * size_of(node.base);
        node.added = 0.0;
        node.curved = node.factor.factorize(hessian_, l1_.exists() ? Settings::pieces_pivot : pivot);
        // kinks hold a step back that would be long without them
        if (node.curved && lent_ == 1.0 && (l1_.exists() || free_step(node) <= longest)) return;
        node.curved = false;
        double largest = 0.0;
        const auto diagonal = static_cast<std::size_t>(p) + 1;
        for (std::size_t k = 0; k < hessian_.size(); k += diagonal) largest = std::max(largest, hessian_[k]);
        double added = largest > 0.0 ? lent_ * ridge * largest : length_of(node.gradient.data(), p) / longest;
        if (added == 0.0) added = 1.0;  // neither curvature nor slope: any metric will do
        for (int round = 0; round < Effort::lendings; ++round) {
            for (std::size_t k = 0; k < hessian_.size(); k += diagonal) hessian_[k] += added;
            node.added += added;
            if (node.factor.factorize(hessian_, 0.0) && free_step(node) <= longest) return;
            added *= Settings::lend_step;
        }
    }

    double free_step(const SmoothNode& node) {
        node.factor.solve_transposed(node.gradient.data(), newton_.data());
        node.factor.solve(newton_.data(), newton_.data());
        return length_of(newton_.data(), p);
    }

    void minimize_freely(KeptDraw* kept) {
        SmoothNode& root = own(*root_);
        lent_ = 1.0;
        longest_ = Settings::longest_step;
        rows_.readmit();  // the threshold may still be that of the draw before
        const bool known = kept != nullptr && !kept->minimizer.empty();
        if (known) {
            root.point = kept->minimizer;
            root.loss = kept->least;
            found = true;
        } else {
            root.base = anchor_loss <= apex_loss ? anchor : apex;
            measure(root);
            model(root);
            root.point = root.base;
            root.loss = 0.0;
            found = descend(root, {p, nullptr, nullptr, 0.0}, {}, infinity, true) == Settled::yes;
            if (!found) root.loss = 0.0;
        }
        if (known || (found && root.curved)) {
            // crossings start from here, and the model is as good as the minimizer
            root.base = root.point;
            measure(root);
            model(root);
            // where rows were left out, or more curvature was lent, the way there counts
            if (kept != nullptr && root.curved && root.dropped == 0.0 && longest_ == Settings::longest_step) {
                kept->minimizer = root.point;
                kept->least = root.loss;
            }
        }
        has_minimizer = !all_but_vanished(root) && (root.curved || root.dropped == 0.0);
    }

    // Newton's method: each step minimizes the quadratic model on the cone. The model's minimum, lowered by how much
    // the loss can undercut the model, bounds the loss on the cone from below: the multipliers of the constraints are
    // those of a dual feasible point. The base need not lie in the cone at first (`inside` is false); then the whole
    // step is taken. The last step is taken without evaluating the loss there: it leaves almost nothing of the
    // gradient.
    Settled descend(SmoothNode& here, const Sides& sides, const Vector<int>& forced, double limit, bool inside) {
        rows_.readmit();
        lent_ = 1.0;
        longest_ = Settings::longest_step;
        double last_gap = infinity;
        for (int iteration = 0; iteration < Settings::newton_steps; ++iteration) {
            if (iteration == Settings::newton_steps / Effort::coarsen_part) rows_.coarsen();
            if (!budget_.go_on()) return Settled::unresolved;
            if (!find_step(here, sides, forced)) {
                // Next to flat directions stretch the metric until normals look alike. More curvature is lent, from
                // beta = 0, which is on no wrong side.
                lent_ *= Settings::lend_more;
                if (lent_ * ridge > Settings::lend_most) return Settled::unresolved;
                inside = true;
                here.base = apex;
                measure(here);
                model(here);
                continue;
            }
            // newton_ is the step, scaled_ the same in the metric of the Hessian
            double descent = dot(here.gradient.data(), newton_.data(), p);
            if (l1_.exists()) descent += kinked_after_step(here) - here.kinked;
            const double length2 = dot(scaled_.data(), scaled_.data(), p);
            const double lost = rounding(here);
            const double bound =
                here.value - here.dropped + descent + length2 - lost - model_error(here, std::sqrt(length2));
            here.loss = std::max(0.0, std::min(bound, apex_loss));  // beta = 0 lies in every cone
            if (here.curved && proved_ && exceeds(here.loss, limit)) return Settled::too_far;
            const bool whole = here.curved && here.dropped == 0.0 && !l1_.exists();  // nothing is missing in the model
            if (whole && exceeds(bound_before_step(here) - lost, limit)) return Settled::too_far;
            const double gap = here.value - here.dropped - here.loss;
            const bool stalled = -descent <= (vanishes<kind> ? Settings::vanishing_still : Settings::pieces_still) *
                                                 (1.0 + here.value) &&
                                 gap > Settings::still_gap * last_gap;
            last_gap = gap;
            const double allowed = (stalled ? Settings::newton_stall : Settings::newton_gap) * (1.0 + here.value);
            const bool arrived = inside && (gap <= allowed || all_but_vanished(here));
            if (arrived && !bridged(here) && longest_ < Settings::longest_last_step) {
                longest_ *= Settings::lend_more;  // less curvature is lent, and less slope left
                model(here);
                continue;
            }
            if (arrived && bridged(here)) {
                // Without curvature the step may lead far, and where the loss has all but vanished, to where it has
                // not: the model knows nothing of rows that count as vanished.
                const double share = here.curved && !all_but_vanished(here) ? 1.0 : 0.0;
                for (int l = 0; l < p; ++l) here.point[l] = here.base[l] + share * newton_[l];
                return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
            }
            bool within_step = true;
            if (inside) {
                if (!step_down(here, descent, sides, forced)) return Settled::unresolved;
            } else {
                within_step = step_inside(here);
                inside = true;
            }
            if (whole && within_step && here.dropped == 0.0 && exceeds(bound_after_step(here) - lost, limit)) {
                return Settled::too_far;
            }
            model(here);
        }
        return Settled::unresolved;
    }

    // Whether what depends on where the minimizer lies is within the slack. No loss is below 0, wherever that is.
    bool bridged(const SmoothNode& here) const {
        if (here.loss == 0.0) return true;
        if (!(assumed_ <= slack)) return false;
        const double size = size_of(here.base);
        const double slope = assumed_ / (Settings::residual_reach * size);
        const double doubt = Settings::slope_doubt * Settings::unit_error * p * rows_.steepness();
        // the slope may be that of a row which pulls as little
        if (slope <= doubt && Settings::slope_of_row * doubt <= rows_.least_pull()) return true;
        // Rows that weigh next to nothing have slopes as small, which the edge of a thin cone makes smaller still: what
        // they lose may end far out.
        return rows_.lost_by_rows_below(slope * size / Settings::tie) <= slack;
    }

    bool all_but_vanished(const SmoothNode& here) const {
        return vanishes<kind> && here.value <= rows_.vanished() * static_cast<double>(rows_.count());
    }

    // The minimizer of the node's quadratic model on the cone: in the metric of the Hessian, where the step has its
    // origin at the base, the point of the cone that is nearest to the free minimizer of the model. Kinks of an l1
    // penalty are soft constraints there.
    bool find_step(const SmoothNode& here, const Sides& sides, const Vector<int>& forced) {
        l1_.place(
            [&](int j, double* normal) {
                here.factor.solve_transposed(l1_.row(j), normal);
                return l1_.at(j, here.base.data());
            },
            0.5, kinks_);
        here.factor.solve_transposed(here.gradient.data(), shift_.data());
        for (int l = 0; l < p; ++l) shift_[l] = -shift_[l];
        for (int j = 0; j < kinks_.count; ++j) {
            for (int l = 0; l < p; ++l) shift_[l] -= 0.5 * kinks_.caps[j] * kinks_.normal(j)[l];
        }
        place_forced(here, sides, forced);
        const Constraints all{kinks_, {p, forced_normals_.data(), forced_distances_.data(), 0.0}};
        here.factor.multiply(here.base.data(), unit_.data());
        double close = Settings::lasso_kink * (length_of(unit_.data(), p) + length_of(shift_.data(), p));
        double allowed =
            Settings::left_of_tie * Settings::tie;  // relative to the length of the point: cones have no scale
        lean(all, close);
        double value = 0.0;
        bool restored = true;
        const int most =
            Effort::moves + Effort::moves_per_constraint * (p + static_cast<int>(forced.size()) + kinks_.count);
        for (int moves = 1; moves < most; ++moves) {
            for (int l = 0; l < p; ++l) scaled_[l] = active_.point()[l] + (l1_.exists() ? 0.0 : shift_[l]);
            here.factor.solve(scaled_.data(), newton_.data());
            for (int l = 0; l < p; ++l) trial_[l] = here.base[l] + newton_[l];
            const double length = size_of(trial_);
            const int next = sides.most_violated(forced, trial_.data(), allowed * length);
            int label = -1;
            double violation = 0.0;
            if (next >= 0) {
                const int place = static_cast<int>(std::find(forced.begin(), forced.end(), next) - forced.begin());
                label = all.label_of_side(place);
                violation = -sides.side(next, trial_.data()) * forced_scales_[place];
            } else {
                label = active_.most_violated(kinks_, close, violations_.data());
                if (label >= 0) violation = violations_[label];
            }
            if (label < 0) {
                if (restored) return true;
                active_.restore(all, shift_.data());
                restored = true;
                continue;
            }
            if (moves % Effort::kink_moves == 0) close *= Settings::lasso_wider;
            restored = !l1_.exists();
            const auto outcome = active_.move(all, label, violation, &value, infinity);
            if (outcome == ActiveSet::Outcome::moved) continue;
            // a cone is never empty: the violation is a rounding error
            const double most_allowed = here.curved ? Settings::tie : Settings::singular_tie;
            if (next < 0 || -sides.side(next, trial_.data()) > most_allowed * length || allowed == most_allowed)
                return false;
            allowed = most_allowed;
            lean(all, close);
            restored = true;
        }
        return false;
    }

    // The forced sides in the metric of the Hessian.
    void place_forced(const SmoothNode& here, const Sides& sides, const Vector<int>& forced) {
        forced_normals_.resize(std::ssize(forced) * p);
        forced_distances_.resize(forced.size());
        forced_scales_.resize(forced.size());
        for (std::size_t k = 0; k < forced.size(); ++k) {
            double* normal = forced_normals_.row(k, p);
            here.factor.solve_transposed(sides.normal(forced[k]), normal);
            forced_scales_[k] = 1.0 / length_of(normal, p);
            for (int l = 0; l < p; ++l) normal[l] *= forced_scales_[k];
            forced_distances_[k] = forced_scales_[k] * sides.side(forced[k], here.base.data());
        }
    }

    // Kinks start where they are at the base: at it, or on either side.
    void lean(const Constraints& all, double close) {
        active_.start(all, close, [this](int j) { return kinks_.levels[j]; });
        if (l1_.exists()) active_.restore(all, shift_.data());
    }

    // The least value that the slopes of the step give the l1 penalty at its end.
    double kinked_after_step(const SmoothNode& here) {
        for (int l = 0; l < p; ++l) trial_[l] = here.base[l] + newton_[l];
        double sum = 0.0;
        for (int j = 0; j < kinks_.count; ++j) {
            const double at = l1_.at(j, trial_.data());
            const double place = active_.place(j);
            sum += l1_.price(j) * (place == 0.0 ? -std::abs(at) : place * at);
        }
        return sum;
    }

    // How much the loss on the cone can lie below the minimum of the model there, given the length of the step;
    // `proved_` tells whether that is certain, `assumed_` how much of it holds only if the minimizer is not too far
    // away.
    double model_error(const SmoothNode& here, double length) {
        proved_ = true;
        const double lent = Settings::residual_reach * size_of(here.base) * here.added * length_of(newton_.data(), p);
        assumed_ = lent;
        if constexpr (vanishes<kind>) return undercut(length, here.spread) + lent;
        // If no row leaves its piece, the model, except for the multiple of I, touches the loss at the end of the step,
        // and its gradient there is that of a dual feasible point except for what the multiple of I adds.
        if (rows_.keep_pieces(here.base.data(), newton_.data())) {
            const double step = length_of(newton_.data(), p);
            proved_ = here.curved;
            return 0.5 * (length * length + here.added * step * step) + lent;
        }
        // Otherwise the change of the gradient by the step is the error.
        here.factor.multiply_transposed(scaled_.data(), unit_.data());
        if (minorised_ && here.value <= horizon()) {
            minorant_.solve_transposed(unit_.data(), unit_.data());
            assumed_ = 0.0;
            return 0.5 * dot(unit_.data(), unit_.data(), p);
        }
        proved_ = false;
        assumed_ = Settings::residual_reach * size_of(here.base) * length_of(unit_.data(), p);
        return assumed_;
    }

    // A lower bound of the loss on the cone that needs no model where the loss was measured last: the multipliers of
    // the last step stay feasible, also all times the same factor. `undercut_by` tells how much the loss can lie below
    // its tangent there, less these multipliers, whose slope has this length in the metric of `factor`.
    template <class F>
    double bound_by_pull(const SmoothNode& here, const Cholesky& factor, const F& undercut_by) {
        factor.solve_transposed(here.gradient.data(), unit_.data());
        factor.solve_transposed(pull_.data(), trial_.data());
        const double along = dot(pull_.data(), here.base.data(), p);
        const double pull2 = dot(trial_.data(), trial_.data(), p);
        const double best = pull2 > 0.0 ? (dot(unit_.data(), trial_.data(), p) - along) / pull2 : 0.0;
        const double scale = std::max(0.0, best);
        for (int l = 0; l < p; ++l) unit_[l] -= scale * trial_[l];
        return std::min(here.value - scale * along - undercut_by(length_of(unit_.data(), p)), apex_loss);
    }

    // Before the step, from the least curvature wherever g > 0.
    double bound_before_step(const SmoothNode& here) {
        if (!minorised_ || !(here.value <= horizon())) return 0.0;
        return bound_by_pull(here, minorant_, [](double nu) { return 0.5 * nu * nu; });
    }

    // After a step of at most this length, from the factor before it: the Hessian has changed by no more than `factor`.
    double bound_after_step(const SmoothNode& here) {
        if constexpr (!vanishes<kind>) return 0.0;
        const double change = std::exp(0.5 * here.spread * length_of(scaled_.data(), p));
        return bound_by_pull(here, here.factor, [&](double nu) { return undercut(change * nu, change * here.spread); });
    }

    // How much that minimum may have been overstated: by rounding errors of the margins, and where the multipliers'
    // constraints do not hold with equality at the end of the step.
    double rounding(const SmoothNode& here) {
        here.factor.multiply_transposed(scaled_.data(), pull_.data());
        double slack_of_sides = l1_.exists() ? kinked_after_step(here) : 0.0;  // kinks have multipliers too
        for (int l = 0; l < p; ++l) {
            pull_[l] += here.gradient[l];
            slack_of_sides += pull_[l] * (here.base[l] + newton_[l]);
        }
        return std::max(0.0, slack_of_sides) +
               Settings::unit_error * p * length_of(here.base.data(), p) * rows_.steepness();
    }

    // Takes the whole step, into the cone. beta = 0 lies in every cone, and so does what is between. Returns false if
    // the point was moved towards that.
    bool step_inside(SmoothNode& here) {
        for (int l = 0; l < p; ++l) here.base[l] += newton_[l];
        measure(here);
        if (here.value <= apex_loss) return true;
        while (!(here.value <= apex_loss)) {
            const double length = length_of(here.base.data(), p);
            if (length == 0.0) return false;  // the loss at beta = 0 is no number
            for (double& x : here.base)
                x = length > Settings::least_base && std::isfinite(length) ? Settings::base_shrunk * x : 0.0;
            measure(here);
        }
        return false;
    }

    // Takes the step, halved until the loss falls by a share of what the model predicts.
    bool step_down(SmoothNode& here, double descent, const Sides& sides, const Vector<int>& forced) {
        const double before = here.value - here.dropped;
        here.point = here.base;
        double share = 1.0;
        for (int halvings = 0; halvings < Effort::halvings; ++halvings) {
            for (int l = 0; l < p; ++l) here.base[l] = here.point[l] + share * newton_[l];
            measure(here);
            const double promised = -share * descent;
            const double fall = before - (here.value - here.dropped);
            if (fall >= Settings::armijo * promised || promised <= Settings::newton_level * (1.0 + std::abs(before))) {
                if (!here.curved && share == 1.0) stretch(here, descent, sides, forced);
                return true;
            }
            share *= 0.5;
        }
        return false;
    }

    // Without curvature the length of a step is arbitrary: it is doubled as long as the loss keeps falling and the
    // point stays in the cone.
    void stretch(SmoothNode& here, double descent, const Sides& sides, const Vector<int>& forced) {
        double share = 1.0;
        double before = here.value - here.dropped;
        for (int doublings = 0; doublings < Effort::halvings; ++doublings) {
            for (int l = 0; l < p; ++l) trial_[l] = here.point[l] + 2.0 * share * newton_[l];
            if (sides.most_violated(forced, trial_.data(), Settings::tie * size_of(trial_)) >= 0) return;
            here.base.swap(trial_);
            measure(here);
            const double after = here.value - here.dropped;
            if (!(before - after >= -Settings::stretch_fall * share * descent)) {
                for (int l = 0; l < p; ++l) here.base[l] = here.point[l] + share * newton_[l];
                measure(here);
                return;
            }
            before = after;
            share *= 2.0;
        }
    }

    // A quadratic minorant: wherever g > 0, the Hessian is at least that of `minorant_`.
    void bound_curvature() {
        const SmoothNode& root = own(*root_);
        const double rise = horizon() - root.loss;
        minorised_ = false;
        if (!std::isfinite(rise) || !found) return;
        double radius = std::sqrt(2.0 * rise);  // of the region, in the metric in which rows were measured
        if constexpr (vanishes<kind>) {
            if (!root.curved || root.dropped > 0.0) return;
            rows_.measure_lengths(root.factor);
            radius = farthest(rise, root.spread);
        } else {
            if (!minorant_.factorize(rows_.ridge(), pivot)) return;
            rows_.measure_lengths(minorant_);
        }
        rows_.measure(root.point.data());
        std::fill(reach_.begin(), reach_.end(), infinity);
        for (int round = 0; round < Settings::curvature_rounds; ++round) {
            for (std::size_t i = 0; i < rows_.count(); ++i) {
                reach_[i] = std::min(reach_[i], Settings::minorant_wider * radius * std::sqrt(rows_.lengths2()[i]));
                rows_.set_bend(i, least_bend<kind>(rows_.margins()[i] - reach_[i], rows_.margins()[i] + reach_[i]));
            }
            rows_.hessian(hessian_);
            minorised_ = minorant_.factorize(hessian_, Settings::pieces_pivot);
            if (!minorised_) return;
            rows_.measure_lengths(minorant_);
            radius = std::sqrt(2.0 * rise);
        }
    }

    KeptDraws* const kept_;
    DrawnRows<kind> rows_;
    Vector<double> of_anchor_, of_apex_;  // losses of all rows
    const L1Penalty l1_;
    double least_extent_ = 1.0;  // of the coefficients
    ActiveSet active_;
    SoftConstraints kinks_;  // of the l1 penalty, in the metric of the Hessian
    Cholesky minorant_;
    bool minorised_ = false;
    bool proved_ = false;                      // whether the last model_error is certain
    double assumed_ = 0.0;                     // how much of it holds only if the minimizer is not too far away
    double lent_ = 1.0;                        // how much more than usual is added to a singular Hessian
    double longest_ = Settings::longest_step;  // of a free step, relative to the coefficients

    // scratch
    Vector<double> hessian_;           // (p, p)
    Vector<double> newton_;            // (p)
    Vector<double> scaled_;            // (p)
    Vector<double> pull_;              // (p) slope that the multipliers of the last step take up
    Vector<double> trial_;             // (p)
    Vector<double> shift_;             // (p)
    mutable Vector<double> unit_;      // (p)
    Vector<double> reach_;             // (n)
    Vector<double> forced_normals_;    // (forced, p)
    Vector<double> forced_distances_;  // (forced)
    Vector<double> forced_scales_;     // (forced)
    Vector<double> violations_;        // (kinks)
};

}  // namespace cudbound
