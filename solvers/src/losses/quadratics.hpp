// Quadratics in place of a smooth loss, whose trees cost far less than that of the loss.
#pragma once

#include "losses/drawn_rows.hpp"
#include "losses/squared.hpp"

namespace cudbound {

// The largest k, rounded down, with loss(e) >= loss(t) + loss'(t) (e - t) + k / 2 (e - t)^2 on [low, high], for
// t in it, with `at` the loss there. Towards either side of t that ratio is a mean of the second derivatives passed so
// far, with weights that fall linearly. These rise at most to margin 0 and then fall, so that their mean rises and then
// falls: it is least at t or at an end. Those of logistic loss depend on the distance from 0 alone: if the end on the
// side of t is the farther one, so is all that is passed on the way there, and the other end need not be looked at.
template <Loss kind>
double least_ratio(double t, const LossAt& at, double low, double high) {
    double least = at.bend;
    const bool far_high = kind == Loss::LOGISTIC && t >= 0.0 && high >= -low;
    const bool far_low = kind == Loss::LOGISTIC && t <= 0.0 && -low >= high;
    for (const double end : {low, high}) {
        if (far_high ? end != high : far_low && end != low) continue;
        const LossAt there = loss_at<kind>(end);
        const double step = end - t;
        if (std::abs(step) < Settings::minorant_step) {  // the difference of the losses has no digits
            least = std::min(least, there.bend);
            continue;
        }
        const double size = there.value + at.value + std::abs(at.slope * step);
        const double above =
            there.value - at.value - at.slope * step - Settings::minorant_rounding * Settings::unit_error * size;
        const double ratio = 2.0 * above / (step * step);
        if (!(ratio > 0.0)) return 0.0;  // NaN too: std::min would forget it
        least = std::min(least, ratio);
    }
    return std::max(0.0, least * (1.0 - Settings::minorant_margin));
}

// Whose second derivatives rise and then fall.
template <Loss kind>
constexpr bool has_quadratic = kind == Loss::LOGISTIC || kind == Loss::SQUARED_HINGE || kind == Loss::HUBER;

template <Loss kind>
class MinorantRelaxation final : public SquaredRelaxation {
 public:
    MinorantRelaxation(const Problem& problem, const Arrangement& arrangement, KeptDraws& kept, Budget& budget)
        : SquaredRelaxation(problem, arrangement, budget),
          kept_(kept),
          smooth_(make_relaxation(problem, arrangement, budget, &kept)),
          node_(smooth_->make_node()),
          drawn_(problem, arrangement),
          factor_(p),
          kinks_(p) {
        drawn_.keep_all();
        for (auto* vector : {&hessian_, &quadratic_.gram}) vector->resize(p * p);
        for (auto* vector : {&quadratic_.center, &right_, &residual_, &slope_, &tilt_}) vector->resize(p);
        for (auto* vector : {&low_, &high_, &touch_, &touched_at_, &at_minimizer_, &bend_, &pull_}) {
            vector->resize(problem.n);
        }
        touched_.resize(problem.n);
    }

    void set(std::int64_t draw) override {
        draw_ = draw;
        auto& quadratic = kept_[draw].quadratic;
        if (!quadratic) {
            quadratic_.exists = fit(draw);
            quadratic = std::make_unique<const Ball::Quadratic>(quadratic_);
        }
        found = quadratic->exists && ball_.set(*quadratic);
        if (found) adopt(0.0);
    }

    double confirm(const Node& node, const Sides& sides, const Vector<int>& forced, double limit) override {
        if (forced.empty()) return node.loss;
        budget_.charge(Effort::confirm_nodes * p * Settings::products_per_node);
        minimize(draw_);
        smooth_->copy(smooth_->root(), *node_);
        const double least = kept_[draw_].quadratic->least;
        const auto settled = smooth_->settle(*node_, sides, forced, limit + least);
        if (settled == Settled::too_far) return std::max(node.loss, std::nextafter(limit, infinity));
        if (settled == Settled::unresolved) return node.loss;
        return std::max(node.loss, node_->loss - least);
    }

 private:
    void minimize(std::int64_t draw) {
        if (minimized_ == draw) return;
        minimized_ = draw;
        smooth_->set(draw);
    }

    bool fit(std::int64_t draw) {
        minimize(draw);
        if (!smooth_->found || !smooth_->has_minimizer || !std::isfinite(smooth_->horizon())) return false;
        drawn_.set(draw);
        drawn_.measure(smooth_->root().point.data());
        const std::size_t count = drawn_.count();
        at_minimizer_ = drawn_.margins();
        std::fill(touched_at_.begin(), touched_at_.end(), std::numeric_limits<double>::quiet_NaN());
        if (!bound_margins()) return false;
        for (int round = 0; round < Settings::minorant_rounds; ++round) {
            for (std::size_t i = 0; i < count; ++i) {
                touch_[i] = std::clamp((1.0 - Settings::minorant_shift) * at_minimizer_[i], low_[i], high_[i]);
            }
            if (!touch()) return false;
            if (!shrink(drawn_.margins(), widened(2.0 * (smooth_->horizon() - quadratic_.least)))) return false;
        }
        if (l1_.exists()) {  // the tree has the penalty itself
            std::fill(tilt_.begin(), tilt_.end(), 0.0);
            if (!touch()) return false;
        }
        for (std::size_t k = 0; k < hessian_.size(); ++k) quadratic_.gram[k] = 0.5 * hessian_[k];
        quadratic_.anchor_rise = smooth_->anchor_loss - l1_.of_anchor() + smooth_->slack - quadratic_.least;
        return quadratic_.anchor_rise >= 0.0;
    }

    // Where the margins of all coefficients with g > 0 lie.
    bool bound_margins() {
        const Node& minimizer = smooth_->root();
        const std::size_t count = drawn_.count();
        drawn_.gradient(minimizer.point.data(), slope_.data());
        const double rise = smooth_->horizon() - minimizer.loss + tilt(minimizer.point.data());
        for (std::size_t i = 0; i < count; ++i) {
            bend_[i] = vanishes<kind> ? loss_at<kind>(at_minimizer_[i]).bend : 0.0;
            low_[i] = -infinity;
            high_[i] = infinity;
        }
        if (!factorize()) return false;
        if constexpr (vanishes<kind>) {
            double longest = 0.0;
            for (const double length2 : drawn_.lengths2()) longest = std::max(longest, length2);
            const double r = std::sqrt(longest);
            const double about = 2.0 * farthest(rise, r);
            const double radius = farthest(rise + left_over() * about, r);
            if (!(radius < about)) return false;
            shrink(at_minimizer_, Settings::minorant_wider * radius);
        } else {
            shrink(at_minimizer_, radius_of(rise));
        }
        for (int round = 0; round < Settings::minorant_rounds; ++round) {
            for (std::size_t i = 0; i < count; ++i) bend_[i] = least_bend_from(i, at_minimizer_[i]);
            if (!factorize()) return round > 0;
            shrink(at_minimizer_, radius_of(rise));
        }
        return true;
    }

    // A linear function below the l1 penalty that leaves little of the slope: it replaces the penalty where margins are
    // bounded. Adds it to the slope, and returns by how much it is less than the penalty at the minimizer.
    double tilt(const double* minimizer) {
        if (!l1_.exists()) return 0.0;
        std::fill(tilt_.begin(), tilt_.end(), 0.0);
        kinks_.clear();
        at_kink_.clear();
        const double near = Settings::tie * length_of(minimizer, p);
        for (int j = 0; j < l1_.count(); ++j) {
            const double at = l1_.at(j, minimizer);
            if (std::abs(at) > near * length_of(l1_.row(j), p)) {
                add_to_tilt(j, at > 0.0 ? l1_.price(j) : -l1_.price(j));
            } else if (kinks_.size() < p &&
                       kinks_.project(l1_.row(j)) > Settings::dependent * dot(l1_.row(j), l1_.row(j), p)) {
                kinks_.append();
                at_kink_.push_back(j);
            }
        }
        // the slopes of the others are free between minus and plus their price
        kinks_.project(slope_.data());
        kinks_.solve(kinks_.along(), right_.data());
        for (int k = 0; k < kinks_.size(); ++k) {
            const double most = l1_.price(at_kink_[k]);
            add_to_tilt(at_kink_[k], std::clamp(-right_[k], -most, most));
        }
        return l1_.value(minimizer) - dot(tilt_.data(), minimizer, p);
    }

    void add_to_tilt(int j, double price) {
        for (int l = 0; l < p; ++l) {
            tilt_[l] += price * l1_.row(j)[l];
            slope_[l] += price * l1_.row(j)[l];
        }
    }

    // The slope that is left at the minimizer, in the dual metric.
    double left_over() {
        factor_.solve_transposed(slope_.data(), residual_.data());
        return length_of(residual_.data(), p);
    }

    // The largest r with r^2 / 2 - left over slope * r <= rise.
    double radius_of(double rise) {
        const double slope = left_over();
        return Settings::minorant_wider * (slope + std::sqrt(slope * slope + 2.0 * std::max(0.0, rise)));
    }

    // Margins lie within this radius of those of its center. Returns false if they can lie nowhere.
    bool shrink(const Vector<double>& centers, double radius) {
        bool possible = true;
        for (std::size_t i = 0; i < drawn_.count(); ++i) {
            const double reach = radius * std::sqrt(drawn_.lengths2()[i]);
            low_[i] = std::max(low_[i], centers[i] - reach);
            high_[i] = std::min(high_[i], centers[i] + reach);
            possible = possible && low_[i] <= high_[i];
        }
        return possible;
    }

    static double widened(double radius2) { return Settings::minorant_wider * std::sqrt(std::max(0.0, radius2)); }

    // The Hessian of the rows with the curvatures `bend_`, its factor, and the rows' lengths in the dual metric.
    bool factorize() {
        for (std::size_t i = 0; i < drawn_.count(); ++i) drawn_.set_bend(i, bend_[i]);
        drawn_.hessian(hessian_);
        if (!factor_.factorize(hessian_, Settings::minorant_pivot)) return false;
        drawn_.measure_lengths(factor_);
        return true;
    }

    // The least ratio of a row for t, whose loss there is kept for the next time.
    double least_bend_from(std::size_t i, double t) {
        if (t != touched_at_[i]) touched_[i] = loss_at<kind>(t);
        touched_at_[i] = t;
        return least_ratio<kind>(t, touched_[i], low_[i], high_[i]);
    }

    // The quadratic that touches the loss of each row at its `touch_` and lies below it on [low_, high_], with the tilt
    // added.
    bool touch() {
        const std::size_t count = drawn_.count();
        for (std::size_t i = 0; i < count; ++i) bend_[i] = least_bend_from(i, touch_[i]);
        if (!factorize()) return false;
        for (std::size_t i = 0; i < count; ++i) {
            pull_[i] = drawn_.mass(i) * (bend_[i] * (touch_[i] - drawn_.offset(i)) - touched_[i].slope);
        }
        for (int l = 0; l < p; ++l) right_[l] = sum_of_products(pull_.data(), drawn_.column(l), count) - tilt_[l];
        double* center = quadratic_.center.data();
        factor_.solve_transposed(right_.data(), center);
        factor_.solve(center, center);
        // its value and its slope there: rounding is taken off
        drawn_.set_margins(center);
        const double tilted = dot(tilt_.data(), center, p);
        double value = drawn_.constant() + drawn_.penalty(center) + tilted;
        double size = value + std::abs(tilted) - tilted;
        drawn_.penalty_slope(center, residual_.data());
        for (std::size_t i = 0; i < count; ++i) {
            const LossAt& at = touched_[i];
            const double step = drawn_.margins()[i] - touch_[i];
            pull_[i] = drawn_.mass(i) * (at.slope + bend_[i] * step);
            value += drawn_.mass(i) * (at.value + step * (at.slope + 0.5 * bend_[i] * step));
            size +=
                drawn_.mass(i) * (at.value + std::abs(step) * (std::abs(at.slope) + 0.5 * bend_[i] * std::abs(step)));
        }
        for (int l = 0; l < p; ++l) residual_[l] += sum_of_products(pull_.data(), drawn_.column(l), count) + tilt_[l];
        factor_.solve_transposed(residual_.data(), residual_.data());
        const double left = length_of(residual_.data(), p);
        const double radius = widened(2.0 * (smooth_->horizon() - value));
        quadratic_.least = value - left * radius - Settings::excess * (size + smooth_->horizon());
        return std::isfinite(quadratic_.least);
    }

    KeptDraws& kept_;
    const std::unique_ptr<Relaxation> smooth_;
    const std::unique_ptr<Node> node_;  // that is confirmed
    DrawnRows<kind> drawn_;
    Cholesky factor_;
    Ball::Quadratic quadratic_;
    Vector<double> hessian_;       // (p, p) of the quadratic
    Vector<double> right_;         // (p)
    Vector<double> residual_;      // (p)
    Vector<double> slope_;         // (p) of the loss at the minimizer
    Vector<double> tilt_;          // (p) slope of a linear function below the l1 penalty
    NormalBasis kinks_;            // of the terms of that penalty that are 0 at the minimizer
    Vector<int> at_kink_;          // these
    Vector<double> low_;           // (n) margins of coefficients with g > 0 are at least this
    Vector<double> high_;          // (n) and at most this
    Vector<double> touch_;         // (n) where the quadratic touches the loss
    Vector<double> at_minimizer_;  // (n) margins
    Vector<double> bend_;          // (n) second derivatives of the quadratic
    Vector<double> pull_;          // (n) slopes of the rows, with their masses
    Vector<LossAt> touched_;       // (n) the loss at these margins, `touched_at_`
    Vector<double> touched_at_;
    std::int64_t draw_ = -1;
    std::int64_t minimized_ = -1;  // the draw of `smooth_`
};

template <Loss kind>
class ModelRelaxation final : public SquaredRelaxation {
 public:
    ModelRelaxation(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss, Budget& budget)
        : SquaredRelaxation(problem, arrangement, budget),
          loss_(loss),
          rows_(problem, arrangement),
          factor_(p),
          beta_(problem.p) {
        rows_.keep_all();
        quadratic_.gram.resize(beta_.size() * beta_.size());
        slope_.resize(beta_.size());
        step_.resize(beta_.size());
    }

    void set(std::int64_t draw) override {
        found = loss_.found;
        if (!found) return;
        rows_.set(draw);
        take_at(loss_.root().point.data());
    }

    void take_at(const double* beta) override {
        const Node& minimizer = loss_.root();
        const double value = rows_.measure(beta).total;
        rows_.hessian(quadratic_.gram);
        bend_as_within(loss_.anchor_loss + loss_.slack - minimizer.loss);
        quadratic_.center.assign(beta, beta + p);
        quadratic_.least = minimizer.loss;
        const bool is_center = beta == minimizer.point.data() && !l1_.exists();
        found = is_center || center_smooth_part(value);
        if (!found) return;
        for (double& x : quadratic_.gram) x *= 0.5;
        quadratic_.anchor_rise = std::max(0.0, loss_.anchor_loss - l1_.of_anchor() + loss_.slack - quadratic_.least);
        found = ball_.set(quadratic_);
        if (found) adopt(0.0);
    }

    double loss_at_point(const Node& node) override {
        ball_.to_beta(node.point.data(), beta_.data());
        return rows_.loss(beta_.data()) + l1_.value(beta_.data()) - quadratic_.least;
    }

 private:
    // Curvatures change on the way to where the loss is larger by `rise`, most of all if it consists of pieces: with
    // the means on the way, the model's cells are about as dear as those of the loss.
    void bend_as_within(double rise) {
        if (!factor_.factorize(quadratic_.gram, Settings::minorant_pivot)) return;
        const Vector<double>& lengths2 = rows_.measure_lengths(factor_);
        const double reach = Effort::model_reach * std::sqrt(std::max(0.0, 2.0 * rise) / p);
        for (std::size_t i = 0; i < rows_.count(); ++i) {
            double bend = 0.0;
            for (const double share : Effort::model_shares) {
                bend += loss_at<kind>(rows_.margins()[i] + share * reach * std::sqrt(lengths2[i])).bend;
            }
            rows_.set_bend(i, bend / static_cast<double>(std::size(Effort::model_shares)));
        }
        rows_.hessian(quadratic_.gram);
    }

    // Goes from where the model is taken to its minimizer, without the l1 penalty.
    bool center_smooth_part(double value) {
        if (!factor_.factorize(quadratic_.gram, Settings::minorant_pivot)) return false;
        rows_.gradient(quadratic_.center.data(), slope_.data());
        factor_.solve_transposed(slope_.data(), step_.data());
        quadratic_.least = value - 0.5 * dot(step_.data(), step_.data(), p);
        factor_.solve(step_.data(), step_.data());
        for (int l = 0; l < p; ++l) quadratic_.center[l] -= step_[l];
        return true;
    }

    const Relaxation& loss_;
    DrawnRows<kind> rows_;
    Cholesky factor_;
    Ball::Quadratic quadratic_;
    Vector<double> beta_, slope_, step_;  // (p) scratch
};

}  // namespace cudbound
