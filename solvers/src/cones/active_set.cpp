#include "cones/active_set.hpp"

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

ActiveSet::ActiveSet(int p) : p_(p), basis_(p), point_(p), base_(p), dual_step_(p), levels_(p) { members_.reserve(p); }

void ActiveSet::reset(int count) {
    basis_.clear();
    members_.clear();
    places_.assign(count, at_zero);
    std::fill(point_.begin(), point_.end(), 0.0);
}

void ActiveSet::activate(const Constraints& all, int label) {
    const double outside = basis_.project(all.normal(label));
    if (basis_.size() == p_ || outside <= Settings::dependent) return;
    basis_.append();
    members_.push_back({label, 0.5 * all.cap(label)});
    places_[label] = 0.0;
}

ActiveSet::Outcome ActiveSet::move(const Constraints& all, int label, double violation, double* value, double limit) {
    const double* normal = all.normal(label);
    const double cap = all.cap(label);
    const double turn = all.is_soft(label) && places_[label] == at_cap ? -1.0 : 1.0;
    double moved = 0.0;
    // Every round except the last puts a constraint to rest; rounding may bring the same ones back.
    for (int patience = Effort::active_moves + Effort::active_moves_per_dimension * p_; patience > 0; --patience) {
        const double outside = basis_.project(normal);
        const int size = basis_.size();
        // Dual step: how the other multipliers fall per unit of this one.
        basis_.solve(basis_.along(), dual_step_.data());
        double blocking_step = infinity;
        int blocking = -1;
        for (int k = 0; k < size; ++k) {
            const double fall = turn * dual_step_[k];
            if (std::abs(fall) <= Settings::dependent) continue;
            const double room =
                fall > 0.0 ? members_[k].multiplier : all.cap(members_[k].label) - members_[k].multiplier;
            if (room < blocking_step * std::abs(fall)) {
                blocking_step = room / std::abs(fall);
                blocking = k;
            }
        }
        const bool independent = size < p_ && outside > Settings::dependent * Settings::dependent;
        const double full_step = independent ? violation / outside : infinity;
        const double rest = cap - moved;
        const double step = std::min(std::min(full_step, blocking_step), rest);
        if (!std::isfinite(step)) return Outcome::infeasible;  // nan, after an overflow, among them

        for (int k = 0; k < size; ++k) {
            double& multiplier = members_[k].multiplier;
            multiplier = std::clamp(multiplier - step * turn * dual_step_[k], 0.0, all.cap(members_[k].label));
        }
        moved += step;
        if (independent) {
            *value += step * (2.0 * violation - step * outside);
            violation -= step * outside;
            for (int l = 0; l < p_; ++l) point_[l] += turn * step * basis_.rest()[l];
        } else {
            *value += 2.0 * step * violation;
        }
        if (exceeds(*value, limit)) {
            entering_ = {label, turn > 0.0 ? moved : cap - moved};
            return Outcome::too_far;
        }
        if (step == rest) {
            places_[label] = -turn;
            return Outcome::moved;
        }
        if (step == full_step) {
            basis_.append();
            members_.push_back({label, turn > 0.0 ? moved : rest - step});
            if (all.is_soft(label)) places_[label] = 0.0;
            return Outcome::moved;
        }
        put_to_rest(all, blocking, turn * dual_step_[blocking] < 0.0);
    }
    return Outcome::stuck;
}

void ActiveSet::put_to_rest(const Constraints& all, int k, bool at_its_cap) {
    if (all.is_soft(members_[k].label)) places_[members_[k].label] = at_its_cap ? at_cap : at_zero;
    members_.erase(members_.begin() + k);
    basis_.drop(k);
}

bool ActiveSet::restore(const Constraints& all, const double* center) {
    std::copy_n(center, p_, base_.data());
    for (int i = 0; i < all.soft.count; ++i) {
        if (places_[i] != at_cap) continue;
        const double* normal = all.soft.normal(i);
        for (int l = 0; l < p_; ++l) base_[l] += all.soft.caps[i] * normal[l];
    }
    bool kept = true;
    for (;;) {
        const int size = basis_.size();
        basis_.project(base_.data());
        for (int k = 0; k < size; ++k) levels_[k] = all.level(members_[k].label);
        basis_.solve_transposed(levels_.data(), levels_.data());
        for (int k = 0; k < size; ++k) dual_step_[k] = levels_[k] - basis_.along()[k];
        basis_.solve(dual_step_.data(), dual_step_.data());
        // the multipliers of the equality-constrained problem; toward them as far as the bounds allow
        double step = 1.0;
        int blocking = -1;
        for (int k = 0; k < size; ++k) {
            const double change = dual_step_[k] - members_[k].multiplier;
            const double room =
                change < 0.0 ? members_[k].multiplier : all.cap(members_[k].label) - members_[k].multiplier;
            if (room < step * std::abs(change)) {
                step = room / std::abs(change);
                blocking = k;
            }
        }
        if (blocking < 0) {
            for (int k = 0; k < size; ++k) members_[k].multiplier = dual_step_[k];
            break;
        }
        const bool at_its_cap = dual_step_[blocking] > members_[blocking].multiplier;
        for (int k = 0; k < size; ++k) {
            double& multiplier = members_[k].multiplier;
            multiplier = std::clamp(multiplier + step * (dual_step_[k] - multiplier), 0.0, all.cap(members_[k].label));
        }
        const int label = members_[blocking].label;
        if (at_its_cap) {
            const double* normal = all.normal(label);
            for (int l = 0; l < p_; ++l) base_[l] += all.cap(label) * normal[l];
        }
        put_to_rest(all, blocking, at_its_cap);
        kept = false;
    }
    std::copy_n(basis_.rest(), p_, point_.data());
    add_columns(basis_.column(0), levels_.data(), basis_.size(), point_.data(), p_);
    return kept;
}

double ActiveSet::dual_bound(const Constraints& all, bool entering, double doubt, double extent, int rank, double reach,
                             double* u) const {
    std::fill(u, u + p_, 0.0);
    double linear = 0.0;
    double sum = 0.0;
    const auto add = [&](int label, double multiplier) {
        const double cap = all.cap(label);
        const double slope =
            all.is_soft(label) ? std::clamp(multiplier, 0.0, cap) - 0.5 * cap : std::max(0.0, multiplier);
        linear += slope * all.level(label);
        sum += std::abs(slope);
        const double* normal = all.normal(label);
        for (int l = 0; l < p_; ++l) u[l] += slope * normal[l];
    };
    for (int i = 0; i < all.soft.count; ++i) {
        if (places_[i] != 0.0 && !(entering && i == entering_.label)) add(i, places_[i] == at_cap ? all.cap(i) : 0.0);
    }
    for (const Member& member : members_) add(member.label, member.multiplier);
    if (entering) add(entering_.label, entering_.multiplier);
    const double length2 = dot(u, u, rank);
    const double rest = length_of(u + rank, p_ - rank);
    const double off = rest * reach + doubt * sum * (extent + std::sqrt(length2));
    const double bound = 2.0 * (linear - off) - length2;
    return bound > 0.0 ? bound : 0.0;
}

double ActiveSet::pull(const Constraints& all) const {
    double sum = 0.0;
    for (int i = 0; i < all.soft.count; ++i) sum += places_[i] == at_cap ? all.soft.caps[i] : 0.0;
    for (const Member& member : members_) sum += member.multiplier;
    return sum;
}

double ActiveSet::imbalance(const Constraints& all) const {
    double sum = 0.0;
    for (const Member& member : members_)
        sum += member.multiplier * (all.level(member.label) - dot(all.normal(member.label), point_.data(), p_));
    return sum;
}

bool ActiveSet::may_grow(const Constraints& all, const double* coordinates) {
    basis_.solve(coordinates, dual_step_.data());
    for (int k = 0; k < basis_.size(); ++k) {
        const double multiplier = members_[k].multiplier + dual_step_[k];
        if (!(multiplier >= 0.0 && multiplier <= all.cap(members_[k].label))) return false;
    }
    return true;
}

int ActiveSet::most_violated(const SoftConstraints& soft, double allowed, double* violations) const {
    const int count = soft.count;
    const double* levels = soft.levels.data();
    const double* places = places_.data();
    for (int i = 0; i < count; ++i) violations[i] = levels[i];
    for (int l = 0; l < p_; ++l) {
        const double along = point_[l];
        const double* column = soft.columns.row(l, count);
        for (int i = 0; i < count; ++i) violations[i] -= along * column[i];
    }
    for (int i = 0; i < count; ++i) violations[i] *= places[i];
    int worst = -1;
    for (int i = 0; i < count; ++i) {
        if (violations[i] > allowed) {
            allowed = violations[i];
            worst = i;
        }
    }
    return worst;
}

}  // namespace cudbound
