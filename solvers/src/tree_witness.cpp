// Coefficients that prove the lower bound of a draw: strictly inside the cell that attains it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cudbound/settings.hpp"
#include "tree.hpp"
#include "vector_math.hpp"

namespace cudbound {

// The incumbent is approached at a point that may lie on hyperplanes. A step from there is strictly on the sides that
// count of those, on either side of the others through the point, and short enough to cross no hyperplane and to lose
// next to nothing of g. The signs are then looked at once more; a shorter step is tried if they are not the right ones.
void Tree::write_witness(double* witness, Outcome& outcome) {
    if (found_ == Found::apex) {
        base_ = relaxation_->apex;
        step_.resize(p_);
        relaxation_->direction_from_beta(found_point_.data(), step_.data());
    } else {
        base_ = found_point_;
        witness_rows_.clear();
        witness_members_.clear();
        for (const int side : found_sides_) {
            const double* normal = &unit_[static_cast<std::size_t>(std::abs(side) - 1) * p_];
            for (int l = 0; l < p_; ++l) witness_rows_.push_back(side > 0 ? normal[l] : -normal[l]);
            witness_members_.push_back(static_cast<int>(witness_members_.size()));
        }
        cone_.find(witness_rows_.data(), witness_members_);
        step_.assign(cone_.interior(), cone_.interior() + p_);
    }
    clear_ties(base_, step_);

    // Shorter steps help where hyperplanes crowd, longer ones where the base point is off by more than the usual
    // rounding.
    trial_.resize(p_);
    const double step = longest_step(base_, step_);
    double score = 0.0;
    bool attained = false;
    for (const double factor : {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e1, 1e2, 1e3}) {
        for (int l = 0; l < p_; ++l) trial_[l] = base_[l] + factor * step * step_[l];
        relaxation_->to_beta(trial_.data(), witness);
        leave_hyperplanes(witness);
        score = score_at(witness);
        attained = score >= found_score_ - rounding_ || found_score_ == 0.0;  // any classifier is worth at least 0
        if (attained) break;
    }
    if (!attained) {
        if (outcome.status == Status::OPTIMAL) outcome.status = Status::INACCURATE;
        const double value = score * relaxation_->g(relaxation_->loss(trial_.data()));
        outcome.lower = std::min(outcome.lower, std::max(0.0, value) / divisor_);
    }
}

// Bends the direction a little where it runs along a hyperplane through the base point.
void Tree::clear_ties(const std::vector<double>& base, std::vector<double>& w) {
    const double length = std::sqrt(dot(w.data(), w.data(), p_));
    double room = length > 0.0 ? std::numeric_limits<double>::infinity() : 1.0;
    bool along = false;
    for (std::size_t i = 0; i < id_.size(); ++i) {
        const double* normal = &unit_[i * p_];
        if (std::abs(dot(normal, base.data(), p_) + offset_[i]) > tie_) continue;
        const double turn = std::abs(dot(normal, w.data(), p_));
        if (turn > Settings::tie * length) {
            room = std::min(room, turn);
        } else {
            along = true;
        }
    }
    if (!along) return;
    if (std::isinf(room)) room = length;
    // a fixed direction in no special position
    std::uint64_t state = 0x9E3779B97F4A7C15u;
    trial_.resize(p_);
    for (double& x : trial_) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
    }
    const double scale = 0.25 * room / std::sqrt(dot(trial_.data(), trial_.data(), p_));
    for (int l = 0; l < p_; ++l) w[l] += scale * trial_[l];
}

double Tree::longest_step(const std::vector<double>& base, const std::vector<double>& w) {
    const double length = std::sqrt(dot(w.data(), w.data(), p_));
    if (length == 0.0) return 0.0;  // the base point is inside the cell
    const double start = relaxation_->loss(base.data());
    double rise = 0.5 * std::max(0.0, relaxation_->anchor_loss - start);
    if (std::isinf(relaxation_->rate)) {
        rise = std::max(rise, Settings::witness_level * (relaxation_->anchor_loss + relaxation_->apex_loss));
    } else if (relaxation_->rate > 0.0) {
        rise += Settings::witness_loss / relaxation_->rate;
    }
    double step = std::max(relaxation_->extent, 1.0) / length;
    for (std::size_t i = 0; i < id_.size(); ++i) {
        const double side = std::abs(dot(&unit_[i * p_], base.data(), p_) + offset_[i]);
        const double along = std::abs(dot(&unit_[i * p_], w.data(), p_));
        if (side > tie_ && step * along > 0.5 * side) step = 0.5 * side / along;
    }
    if (relaxation_->rate == 0.0) return step;
    for (int halvings = 0; halvings < 200; ++halvings) {
        for (int l = 0; l < p_; ++l) trial_[l] = base[l] + step * w[l];
        if (relaxation_->loss(trial_.data()) - start <= rise) break;
        step *= 0.5;
    }
    return step;
}

// The score, for the sign of the incumbent, of the cell that holds the coefficients.
double Tree::score_at(const double* beta) const {
    double score = found_sign_ * constant_score_;
    for (const int h : id_) {
        const double side = dot(&arrangement_.normals[static_cast<std::size_t>(h) * p_], beta, p_);
        score += found_sign_ * (side > 0.0 ? scores_.positive[h] : scores_.negative[h]);
    }
    return score;
}

// A hyperplane whose two sides count the same does not bound the cell. But coefficients on it may have the score of
// neither side, as sign(0) = +1 puts a row and its opposite into the same class: a short step along the normal leaves
// it.
void Tree::leave_hyperplanes(double* witness) const {
    auto bounds_the_cell = id_.begin();  // the hyperplanes listed in id_, in the same order
    double on_it = Settings::on_hyperplane * std::sqrt(dot(witness, witness, p_));
    for (int h = 0; h < arrangement_.count; ++h) {
        if (bounds_the_cell != id_.end() && *bounds_the_cell == h) {
            ++bounds_the_cell;
            continue;
        }
        const double* normal = &arrangement_.normals[static_cast<std::size_t>(h) * p_];
        const double side = dot(normal, witness, p_);
        if (std::abs(side) > on_it) continue;
        const double length = std::sqrt(dot(witness, witness, p_));
        double step = Settings::witness_loss * (length > 0.0 ? length : 1.0);
        for (int i = 0; i < arrangement_.count; ++i) {
            const double clear = std::abs(dot(&arrangement_.normals[static_cast<std::size_t>(i) * p_], witness, p_));
            if (clear > on_it) step = std::min(step, 0.5 * clear);
        }
        for (int l = 0; l < p_; ++l) witness[l] += (side < 0.0 ? -step : step) * normal[l];
        on_it = Settings::on_hyperplane * std::sqrt(dot(witness, witness, p_));
    }
}

}  // namespace cudbound
