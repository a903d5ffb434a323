// Coefficients that prove the lower bound of a draw: strictly inside the cell that attains it.
#pragma once

#include <span>
#include <utility>

#include "cones/open_cone.hpp"
#include "search/placed_draw.hpp"

namespace cudbound {

class WitnessWriter {
 public:
    WitnessWriter(const PlacedDraw& draw)
        : draw_(draw),
          p_(draw.p),
          evaluation_(draw.problem),
          cone_(draw.arrangement),
          basis_(p_),
          step_(p_),
          trial_(p_),
          best_(evaluation_.size()),
          raw_(best_.size()) {}

    // Writes coefficients (in the caller's coordinates) and returns their value, computed from the caller's own rows: a
    // lower bound of the draw, in the units of the scores. At best that is the value of the incumbent; a point that
    // rounding leaves on a hyperplane that counts has no value.
    // The incumbent is approached at a point that may lie on hyperplanes. A step from there is strictly on the sides
    // that count of those, on either side of the others through the point, and short enough to cross no hyperplane and
    // to lose almost nothing of g. Its value is then computed anew; other steps are tried if that is less than was
    // found.
    double write(const Incumbent& incumbent, double* witness) {
        base_ = incumbent.point;
        const double enough = incumbent.value - allowed(incumbent);
        anchor_loss_ = evaluation_.anchor_loss(draw_.number);
        if (incumbent.inward.empty() && incumbent.sides.empty()) {  // most of them lie inside their cell
            const double value = std::min(write_as_it_is(incumbent, false, witness), incumbent.value);
            if (value >= enough) return value;
        }
        draw_.list_strict(&strict_);
        find_direction(incumbent);
        put_onto_hyperplanes();
        clear_ties();
        const double step = longest_step();
        double best = -2.0;
        const auto try_steps = [&](std::span<const double> factors, double clear, const auto* strict, double goal) {
            for (const double factor : factors) {
                if (best >= goal) return;
                const double size = factor * step;
                for (std::size_t l = 0; l < step_.size(); ++l) trial_[l] = base_[l] + size * step_[l];
                leave_hyperplanes(trial_, clear);
                evaluation_.from_beta(trial_.data(), raw_.data());
                const double value = std::min(worth(raw_.data(), incumbent.sign, strict), incumbent.value);
                if (!(value > best)) continue;
                best = value;
                best_ = raw_;
            }
        };
        // Shorter steps help where hyperplanes crowd, longer ones where the base point is off by more than the usual
        // rounding. Off every row with a weight if possible, at least off those whose side decides the score.
        const Vector<char>* const all = nullptr;
        for (const auto* strict : {all, &std::as_const(strict_)})
            try_steps(Settings::witness_near, 1.0, strict, enough);
        // Rows that nearly cancel in the caller's columns have no side that close to their hyperplanes: something worth
        // less is found farther away.
        const double any = std::min(std::numeric_limits<double>::denorm_min(), enough);
        for (const double clear : Settings::witness_clear) try_steps(Settings::witness_far, clear, &strict_, any);
        std::copy(best_.begin(), best_.end(), witness);
        return best;
    }

    // The same for an incumbent that is the anchor or the draw's minimizer: no search for anything better nearby.
    double write_start(const Incumbent& incumbent, double* witness) {
        return std::max(0.0, write_as_it_is(incumbent, true, witness));
    }

    // How far the value may miss that of the incumbent, which then still counts as attained. Losses that are known to
    // within a gap on purpose are taken at its lower end, which makes values larger than any classifier is worth.
    double allowed(const Incumbent& incumbent) const {
        const Relaxation& relaxation = *draw_.relaxation;
        // where alpha is infinite, or losses overflow, nothing may be missed for that reason
        const double taken_off = incumbent.score * relaxation.rate * relaxation.taken_off;
        const double enlarged = std::isfinite(taken_off) ? taken_off : 0.0;
        return Settings::witness_value * draw_.total + enlarged;
    }

 private:
    // Writes the point of the incumbent; its value, or -1 if it is on a hyperplane. The loss of a minimizer need not
    // count.
    double write_as_it_is(const Incumbent& incumbent, bool is_start, double* witness) {
        double score = 0.0;
        bool clear = true;
        if (incumbent.is_anchor) {
            std::copy_n(draw_.problem.callers_anchor(), evaluation_.size(), witness);
            clear = evaluation_.anchor_score(draw_.number, &score);
        } else {
            evaluation_.from_beta(incumbent.point.data(), witness);
            if (!is_start || !minimizer_is_better(witness)) return worth(witness, incumbent.sign);
            clear = evaluation_.score(draw_.number, &score);
        }
        return clear ? std::clamp(incumbent.sign * score, 0.0, incumbent.value) : -1.0;
    }

    void find_direction(const Incumbent& incumbent) {
        normals_.clear();
        hyperplanes_.clear();
        members_.clear();
        if (!incumbent.inward.empty()) {
            step_ = incumbent.inward;
            return;
        }
        for (const int side : incumbent.sides) {
            const int i = std::abs(side) - 1;
            for (int l = 0; l < p_; ++l) normals_.push_back(side > 0 ? draw_.normal(i)[l] : -draw_.normal(i)[l]);
            hyperplanes_.push_back(draw_.id[i]);
            members_.push_back(static_cast<int>(members_.size()));
        }
        cone_.find({normals_.data(), hyperplanes_.data()}, members_);
        step_.assign(cone_.interior(), cone_.interior() + p_);
    }

    // The base point lies on the hyperplanes through it up to the tolerance of ties. The shortest correction puts it
    // there up to rounding, as far as they are independent.
    void put_onto_hyperplanes() {
        basis_.clear();
        sides_.clear();
        for (std::size_t k = 0; k < hyperplanes_.size() && basis_.size() < p_; ++k) {
            const double* normal = normals_.row(k, p_);
            if (!(basis_.project(normal) > Settings::clear)) continue;
            basis_.append();
            sides_.push_back(dot(normal, base_.data(), p_));
        }
        if (sides_.empty()) return;
        if (basis_.size() == p_) {  // all of them meet at beta = 0 alone
            std::fill(base_.begin(), base_.end(), 0.0);
            return;
        }
        basis_.solve_transposed(sides_.data(), sides_.data());
        for (int k = 0; k < basis_.size(); ++k) {
            const double along = sides_[k];
            for (int l = 0; l < p_; ++l) base_[l] -= along * basis_.column(k)[l];
        }
    }

    // Bends the direction a little where it runs along a hyperplane through the base point.
    void clear_ties() {
        const double length = length_of(step_.data(), p_);
        const double near = Settings::tie * length_of(base_.data(), p_);
        double room = length > 0.0 ? infinity : 1.0;
        bool along = false;
        for (int i = 0; i < draw_.size(); ++i) {
            if (std::abs(dot(draw_.normal(i), base_.data(), p_)) > near) continue;
            const double turn = std::abs(dot(draw_.normal(i), step_.data(), p_));
            if (turn > Settings::tie * length) {
                room = std::min(room, turn);
            } else {
                along = true;
            }
        }
        if (!along) return;
        if (std::isinf(room)) room = length;
        // a fixed direction in general position
        GenericPoints().next(trial_.data(), p_);
        const double scale = Settings::step_share * room / length_of(trial_.data(), p_);
        for (std::size_t l = 0; l < step_.size(); ++l) step_[l] += scale * trial_[l];
    }

    double longest_step() {
        const double length = length_of(step_.data(), p_);
        if (length == 0.0) return 0.0;  // the base point is inside the cell
        const double size = length_of(base_.data(), p_);
        const double near = Settings::tie * size;
        double step = (size > 0.0 ? size : 1.0) / length;
        for (int i = 0; i < draw_.size(); ++i) {
            const double side = std::abs(dot(draw_.normal(i), base_.data(), p_));
            const double along = std::abs(dot(draw_.normal(i), step_.data(), p_));
            if (side > near && step * along > 0.5 * side) step = 0.5 * side / along;
        }
        const Relaxation& relaxation = *draw_.relaxation;
        if (relaxation.rate == 0.0) return step;
        const double start = loss_at(base_);
        double rise = 0.5 * std::max(0.0, anchor_loss_ - start);
        if (std::isinf(relaxation.rate)) {
            rise = std::max(rise, Settings::step_share * Settings::witness_level *
                                      (anchor_loss_ + std::min(relaxation.apex_loss, 1.0)));
        } else {
            rise += Settings::witness_loss / relaxation.rate;
        }
        for (int halvings = 0; halvings < Effort::witness_halvings; ++halvings) {
            for (std::size_t l = 0; l < step_.size(); ++l) trial_[l] = base_[l] + step * step_[l];
            if (loss_at(trial_) - start <= rise) break;
            step *= 0.5;
        }
        return step;
    }

    // A hyperplane whose two sides count the same does not bound the cell. But coefficients on it may have the score of
    // neither side, as sign(0) = +1 puts a row and its opposite into the same class: a short step along the normal
    // leaves it.
    void leave_hyperplanes(Vector<double>& beta, double clear_by) const {
        const Arrangement& arrangement = draw_.arrangement;
        auto bounds_the_cell = draw_.id.begin();  // the hyperplanes listed there, in the same order
        const auto length = [&] { return length_of(beta.data(), p_); };
        double on_it = clear_by * Settings::on_hyperplane * length();
        for (int h = 0; h < arrangement.count; ++h) {
            if (bounds_the_cell != draw_.id.end() && *bounds_the_cell == h) {
                ++bounds_the_cell;
                continue;
            }
            const double side = dot(arrangement.normal(h), beta.data(), p_);
            if (std::abs(side) > on_it) continue;
            double step = clear_by * Settings::witness_step * (length() > 0.0 ? length() : 1.0);
            for (int i = 0; i < arrangement.count; ++i) {
                const double clear = std::abs(dot(arrangement.normal(i), beta.data(), p_));
                if (clear > on_it) step = std::min(step, 0.5 * clear);
            }
            for (int l = 0; l < p_; ++l) beta[l] += (side < 0.0 ? -step : step) * arrangement.normal(h)[l];
            on_it = clear_by * Settings::on_hyperplane * length();
        }
    }

    double worth(const double* coef, double sign, const Vector<char>* strict = nullptr) {
        evaluation_.measure(coef);
        double score = 0.0;
        if (!evaluation_.score(draw_.number, &score, strict)) return -1.0;
        score = std::max(0.0, sign * score);
        const Relaxation& relaxation = *draw_.relaxation;
        if (relaxation.rate == 0.0 || score == 0.0) return score;
        const double loss = evaluation_.loss(draw_.number);
        const double doubt = evaluation_.doubt(draw_.number, loss);
        const double excess = loss - anchor_loss_ + doubt;
        if (std::isnan(excess)) return 0.0;  // both losses overflow: nothing is known of g
        const double near = Settings::witness_level * (anchor_loss_ + std::min(relaxation.apex_loss, 1.0));
        const double most = Settings::witness_doubt * static_cast<double>(draw_.problem.n);
        const double allowed = std::isinf(relaxation.rate) ? near + std::min(2.0 * doubt, most) : 0.0;
        if (!(excess > allowed)) return score;
        return score * std::max(0.0, 1.0 - relaxation.rate * excess);
    }

    double loss_at(const Vector<double>& beta) {
        evaluation_.from_beta(beta.data(), raw_.data());
        evaluation_.measure(raw_.data());
        return evaluation_.loss(draw_.number);
    }

    // A minimizer has no more loss than the anchor, unless rounding affected it strongly, or the anchor gains from a
    // direction along which the loss of the draw counts as flat. Measures the coefficients.
    bool minimizer_is_better(const double* coef) {
        const Relaxation& relaxation = *draw_.relaxation;
        evaluation_.measure(coef);
        anchor_loss_ = evaluation_.anchor_loss(draw_.number);
        const double excess = evaluation_.loss(draw_.number) - anchor_loss_;
        if (std::isnan(excess)) return false;
        return relaxation.error <= Settings::excess && !(relaxation.rate * excess > Settings::witness_loss);
    }

    const PlacedDraw& draw_;
    const int p_;
    Evaluation evaluation_;
    OpenCone cone_;
    NormalBasis basis_;
    Vector<double> sides_;
    Vector<double> base_;  // the point of the incumbent
    Vector<double> normals_;
    Vector<int> hyperplanes_;
    Vector<int> members_;
    Vector<double> step_;
    Vector<double> trial_;
    Vector<double> best_;
    Vector<char> strict_;       // (n) scratch
    Vector<double> raw_;        // the caller's coefficients for trial_
    double anchor_loss_ = 0.0;  // of the draw, from the caller's rows
};

}  // namespace cudbound
