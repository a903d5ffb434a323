// Hinge loss: every row is a constraint margin >= 1 that may be violated at a price.
#pragma once

#include "control/prunes.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// Coordinates in which a quadratic penalty is a sum of squares: v_k = scale_k e_k'beta for orthonormal e_k, so that
//   n beta'P beta = sum_k (1 - share_k) v_k^2.
// Where the penalty is curved the share is 0; where it is flat, or next to it,
// a proximal term share_k (v_k - center_k)^2 adds what is missing to curvature 1.
class PenaltyCoordinates {
 public:
    explicit PenaltyCoordinates(const Problem& problem)
        : p_(static_cast<int>(problem.p)), scales_(problem.p), shares_(problem.p) {
        Vector<double> penalty(p_ * p_, 0.0);
        if (problem.penalty != nullptr) penalty.assign(problem.penalty, problem.penalty + penalty.size());
        const SymmetricEigen eigen(p_, penalty.data());
        directions_ = eigen.vectors;
        const double largest = *std::max_element(eigen.values.begin(), eigen.values.end());
        double mean = 0.0;  // curvature that squared loss would have, over all directions
        for (std::int64_t i = 0; i < problem.n; ++i) {
            const double* row = problem.design + i * p_;
            const double weight = problem.sample_weight == nullptr ? 1.0 : problem.sample_weight[i];
            mean += weight * dot(row, row, p_) / p_;
        }
        if (mean == 0.0) mean = 1.0;
        for (int k = 0; k < p_; ++k) {
            const bool rounding = eigen.values[k] < Settings::penalty_rank * largest;
            double curvature = rounding ? 0.0 : static_cast<double>(problem.n) * eigen.values[k];
            if (curvature < Settings::hinge_flat * mean) curvature = 0.0;
            const double lent = curvature < Settings::hinge_curved * mean ? Settings::hinge_lent * mean : 0.0;
            scales_[k] = std::sqrt(curvature + lent);
            shares_[k] = lent / (curvature + lent);
            if (lent > 0.0) ++lent_;
        }
    }

    double share(int k) const { return shares_[k]; }
    int lent() const { return lent_; }  // number of coordinates with a share above 0

    void to_beta(const double* v, double* beta) const {
        std::fill(beta, beta + p_, 0.0);
        for (int k = 0; k < p_; ++k) {
            const double length = v[k] / scales_[k];
            for (int l = 0; l < p_; ++l) beta[l] += length * direction(k)[l];
        }
    }
    void from_beta(const double* beta, double* v) const {
        for (int k = 0; k < p_; ++k) v[k] = scales_[k] * dot(direction(k), beta, p_);
    }
    // The linear function normal'beta as one of v.
    void normal_from_beta(const double* normal, double* v) const {
        for (int k = 0; k < p_; ++k) v[k] = dot(direction(k), normal, p_) / scales_[k];
    }
    double penalty(const double* v) const {
        double sum = 0.0;
        for (int k = 0; k < p_; ++k) sum += (1.0 - shares_[k]) * v[k] * v[k];
        return sum;
    }
    // The largest c with penalty(v) >= c d^2 wherever |normal'v| = d, for a unit normal of these coordinates.
    double curvature(const double* unit) const {
        double length2 = 0.0;  // of the normal in beta
        double squares = 0.0;
        double softness = 0.0;
        for (int k = 0; k < p_; ++k) {
            const double along = scales_[k] * unit[k];
            length2 += along * along;
            squares += unit[k] * unit[k];
            if (shares_[k] < 1.0) softness += unit[k] * unit[k] / (1.0 - shares_[k]);
        }
        for (int k = 0; k < p_; ++k) {
            const double along = scales_[k] * unit[k];
            if (shares_[k] == 1.0 && along * along > Settings::flat_part * Settings::flat_part * length2) return 0.0;
        }
        return squares / softness;
    }

 private:
    const double* direction(int k) const { return directions_.row(k, p_); }

    int p_;
    int lent_ = 0;
    Vector<double> directions_;  // (p, p) e_k in row k
    Vector<double> scales_;      // (p)
    Vector<double> shares_;      // (p) 0 to 1
};

struct HingeNode final : Node {
    explicit HingeNode(int p) : Node(p), active(p), center(p) {}

    ActiveSet active;
    Vector<double> center;  // of the proximal term, 0 in coordinates without one
};

// The coordinates are those of the penalty. Along directions in which it is flat, proximal-point iterations supply the
// curvature: they minimize the loss plus the squared distance to a center, and take the point found as the next center.
// For a loss of linear and quadratic pieces finitely many of them reach a minimizer (Rockafellar 1976; Ferris 1991).
class HingeRelaxation final : public RelaxationWith<HingeNode> {
 public:
    HingeRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget)
        : RelaxationWith(problem, arrangement, budget), coordinates_(problem), factor_(p) {
        for (auto* vector : {&anchor, &apex, &scratch_, &step_, &path_}) vector->resize(p);
        gram_.resize(p * p);
        for (auto* vector : {&terms_.normals, &terms_.columns}) vector->reserve(problem.n * p);
        for (auto* vector : {&terms_.levels, &terms_.caps}) vector->reserve(problem.n);
        violations_.resize(problem.n);
        place_rows();
        coordinates_.from_beta(problem.anchor, anchor.data());
    }

    void set(std::int64_t draw) override {
        gather(draw);
        anchor_loss = loss(anchor.data()) + problem_.beyond_penalty(coordinates_.penalty(anchor.data()));
        anchor_loss += evaluation_.anchor_doubt(draw);
        apex_loss = loss(apex.data());
        minimize_freely();
    }

    // beta = 0 is v = 0. The loss exceeds that of a minimizer on a cone by at least the penalty of the difference.
    void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override {
        std::fill_n(offsets, hyperplanes.size(), 0.0);
        for (std::size_t i = 0; i < hyperplanes.size(); ++i, units += p) {
            coordinates_.normal_from_beta(arrangement_.normal(hyperplanes[i]), units);
            const double scale = 1.0 / length_of(units, p);
            for (int k = 0; k < p; ++k) units[k] *= scale;
            curvatures[i] = coordinates_.curvature(units);
        }
    }

    void to_beta(const double* v, double* beta) const override { coordinates_.to_beta(v, beta); }

    Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) override {
        // beta = 0 lies in every cone
        const double highest = at_most(apex_loss, limit) ? infinity : limit;
        return minimize(own(node), sides, forced, highest, Settings::left_of_tie * sides.tie, sides.tie);
    }

 private:
    // All rows, turned by their labels, as constraints.
    void place_rows() {
        rows_.p = p;
        rows_.count = static_cast<int>(problem_.n);
        rows_.normals.assign(problem_.n * p, 0.0);
        rows_.levels.assign(problem_.n, 0.0);
        rows_.caps.assign(problem_.n, 0.0);
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            if (arrangement_.of_row[i] < 0) continue;
            const double* row = problem_.design + i * p;
            double* normal = rows_.normals.row(i, p);
            coordinates_.normal_from_beta(row, normal);
            const double length = length_of(normal, p);
            if (length < Settings::hinge_shortest) continue;
            for (int k = 0; k < p; ++k) normal[k] *= problem_.labels[i] / length;
            rows_.levels[i] = (1.0 - problem_.shift(i)) / length;
            rows_.caps[i] = 0.5 * length;
        }
    }

    // The drawn rows, and the loss of those that are zero.
    void gather(std::int64_t draw) {
        terms_.p = p;
        for (auto* vector : {&terms_.normals, &terms_.levels, &terms_.caps}) vector->clear();
        constant_ = 0.0;
        double total = 0.0;
        load_ = 0.0;
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double mass = problem_.mass(draw, i);
            if (mass == 0.0) continue;
            total += mass;
            if (rows_.caps[i] == 0.0) {
                constant_ += mass * std::max(0.0, 1.0 - problem_.shift(i));
                continue;
            }
            terms_.normals.insert(terms_.normals.end(), rows_.normal(i), rows_.normal(i) + p);
            terms_.levels.push_back(rows_.levels[i]);
            terms_.caps.push_back(mass * rows_.caps[i]);
            load_ += terms_.caps.back() * terms_.caps.back();
        }
        terms_.count = static_cast<int>(terms_.caps.size());
        terms_.columns.resize(terms_.normals.size());
        for (int i = 0; i < terms_.count; ++i) {
            for (int l = 0; l < p; ++l) terms_.columns.row(l, terms_.count)[i] = terms_.normal(i)[l];
        }
        load_ = std::sqrt(load_);
        extent = std::max(length_of(anchor.data(), p), Settings::hinge_load * load_);
        slack = Settings::excess * total;
    }

    // From the rows' sides at the anchor, which is not far from the minimizer of most draws.
    void minimize_freely() {
        HingeNode& root = own(*root_);
        const Sides nothing{p, nullptr, nullptr, 0.0};
        const Constraints all{terms_, nothing};
        for (int k = 0; k < p; ++k) root.center[k] = coordinates_.share(k) > 0.0 ? anchor[k] : 0.0;
        root.loss = 0.0;
        root.active.start(all, Settings::hinge_start * extent,
                          [this](int i) { return terms_.levels[i] - dot(terms_.normal(i), anchor.data(), p); });
        slack += Settings::excess * (anchor_loss + apex_loss);
        restore(root, all);
        found = minimize(root, nothing, {}, infinity, Settings::left_of_tie * Settings::tie * extent, infinity) ==
                Settled::yes;
        extent = std::max(extent, length_of(root.point.data(), p));
        if (extent == 0.0) extent = 1.0;
        apex_tolerance = Settings::apex * (apex_loss + slack);
        if (coordinates_.lent() > 0) {  // what `undercut` may take off
            apex_tolerance += 2.0 * Settings::hinge_reach * extent * Settings::hinge_rounding * (load_ + extent);
        }
    }

    double loss(const double* v) const {
        double sum = constant_ + coordinates_.penalty(v);
        for (int i = 0; i < terms_.count; ++i) {
            sum += 2.0 * terms_.caps[i] * std::max(0.0, terms_.levels[i] - dot(terms_.normal(i), v, p));
        }
        return sum;
    }

    bool restore(HingeNode& here, const Constraints& all) {
        // (1 - share) v^2 + share (v - center)^2 is (v - share center)^2 up to a constant
        for (int k = 0; k < p; ++k) scratch_[k] = coordinates_.share(k) * here.center[k];
        return here.active.restore(all, scratch_.data());
    }

    // The minimizer for the center as it is. Violations up to `allowed` stay; they
    // may grow to `most_allowed` where rounding keeps them from being removed.
    Settled satisfy(HingeNode& here, const Sides& sides, const Vector<int>& forced, double limit, double allowed,
                    double most_allowed, int next) {
        const Constraints all{terms_, sides};
        const int patience =
            Effort::moves + Effort::moves_per_constraint * (p + static_cast<int>(forced.size()) + terms_.count);
        const double* point = here.active.point();
        double value = here.loss;
        double rounding = 0.0;
        bool restored = next < 0;
        double violation = next < 0 ? 0.0 : -sides.side(forced.back(), point);
        if (violation <= 0.0) next = -1;
        for (int moves = 0;;) {
            if (!budget_.go_on()) return Settled::unresolved;
            if (next >= 0) {
                // the dual objective bounds the loss unless there is a proximal term in it
                const auto outcome = here.active.move(all, next, violation, &value,
                                                      coordinates_.lent() == 0 ? limit + doubt(here, all) : infinity);
                if (outcome == ActiveSet::Outcome::too_far) return Settled::too_far;
                if (outcome != ActiveSet::Outcome::moved) {
                    // A cone is never empty: the violation is a rounding error, which a fresh point may not have.
                    if (restored) allowed = std::max(allowed, violation);
                    if (allowed > std::max(most_allowed, rounding)) return Settled::unresolved;
                    restore(here, all);
                    value = -infinity;
                    restored = true;
                } else {
                    restored = false;
                }
                if (++moves % patience == 0) allowed *= Settings::hinge_wider;
                if (moves % patience == 0 && allowed > most_allowed) return Settled::unresolved;
            }
            rounding = Settings::hinge_rounding * length_of(point, p);
            violation = std::max(allowed, rounding);
            next = here.active.most_violated(terms_, violation, violations_.data());
            if (coordinates_.lent() > 0 && exceeds(proved_loss(here, all, limit), limit)) return Settled::too_far;
            if (next >= 0) violation = violations_[next];
            const int side = sides.most_violated(forced, point, violation);
            if (side >= 0) {
                next = all.label_of_side(side);
                violation = -sides.side(side, point);
            }
            if (next < 0) {
                if (restored) return Settled::yes;
                restore(here, all);
                restored = true;
            }
        }
    }

    Settled minimize(HingeNode& here, const Sides& sides, const Vector<int>& forced, double limit, double allowed,
                     double most_allowed) {
        const Constraints all{terms_, sides};
        const double before = here.loss;  // a bound in the smaller cone too
        int next = forced.empty() ? -1 : all.label_of_side(forced.back());
        for (int step = 0; step < Settings::hinge_proximal_steps; ++step) {
            const Settled settled = satisfy(here, sides, forced, limit, allowed, most_allowed, next);
            if (settled != Settled::yes) return settled;
            std::copy_n(here.active.point(), p, here.point.data());
            const double missing = coordinates_.lent() == 0 ? 0.0 : undercut(here);
            double least = linearized(here, all) - doubt(here, all) - missing;
            const bool close = missing <= (1 + step) * slack;
            bool proved = coordinates_.lent() == 0 || still(here, close);
            if (!proved && close) {
                // a slope, if a small one: nothing is known of it unless multipliers balance it
                const double balanced = proved_loss(here, all, -infinity);
                proved = balanced >= least - slack;
                least = std::min(least, balanced);
            }
            here.loss = std::max(before, std::min(least, apex_loss));
            if (proved) return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
            advance(here, sides, forced);
            next = -1;
        }
        return Settled::unresolved;
    }

    // The loss at the point with the terms at their cap made linear, and those that are active, and 0 but for rounding,
    // taken times their multipliers. It is least there but for the slope that the proximal term has compensated.
    double linearized(const HingeNode& here, const Constraints& all) const {
        double loss = constant_ + coordinates_.penalty(here.active.point()) + 2.0 * here.active.imbalance(all);
        for (int i = 0; i < terms_.count; ++i) {
            if (here.active.place(i) < 0.0) loss -= 2.0 * terms_.caps[i] * violations_[i];
        }
        return loss;
    }

    // Its rounding error, and what those of slopes that cancel may be worth where the penalty does not curve the loss.
    double doubt(const HingeNode& here, const Constraints& all) const {
        const double size = size_of(here);
        const double pull = here.active.pull(all);
        if (coordinates_.lent() == 0) return 2.0 * Settings::unit_error * pull * size;
        // there, slopes are differences of the point and its center too
        return 2.0 * Settings::unit_error * (pull + size) * (1.0 + Settings::hinge_reach) * size;
    }

    double size_of(const HingeNode& here) const { return std::max(extent, length_of(here.active.point(), p)); }

    // A lower bound of the loss on the cone before the node is settled, or -infinity. Multipliers of the active
    // constraints that balance the slope along the directions with a proximal term make the linearized loss independent
    // of them; along the others it then falls by the square of what they have changed.
    double proved_loss(HingeNode& here, const Constraints& all, double limit) {
        const NormalBasis& basis = here.active.basis();
        if (basis.size() < coordinates_.lent()) return -infinity;
        const double loss = linearized(here, all) - doubt(here, all);
        if (at_most(loss, limit)) return -infinity;
        const double* point = here.active.point();
        for (int a = 0; a < p; ++a) {
            step_[a] = coordinates_.share(a) * (point[a] - here.center[a]);
            for (int b = a; b < p; ++b) {
                double& entry = gram_.row(a, p)[b];
                entry = a == b ? 1.0 : 0.0;
                if (coordinates_.share(a) == 0.0 || coordinates_.share(b) == 0.0) continue;
                entry = 0.0;
                for (int k = 0; k < basis.size(); ++k) entry += basis.column(k)[a] * basis.column(k)[b];
            }
        }
        if (!factor_.factorize(gram_, Settings::hinge_still)) return -infinity;
        factor_.solve_transposed(step_.data(), step_.data());
        factor_.solve(step_.data(), step_.data());
        std::fill(path_.begin(), path_.end(), 0.0);
        for (int k = 0; k < basis.size(); ++k) {
            scratch_[k] = -dot(basis.column(k), step_.data(), p);
            for (int l = 0; l < p; ++l) path_[l] += scratch_[k] * basis.column(k)[l];
        }
        if (!here.active.may_grow(all, scratch_.data())) return -infinity;
        double fall = 0.0;
        for (int k = 0; k < p; ++k) fall += coordinates_.share(k) > 0.0 ? 0.0 : path_[k] * path_[k];
        return loss - fall;
    }

    // How much the loss on the cone can lie below that of the node's point, because
    // of the slope that the proximal term has compensated.
    double undercut(const HingeNode& here) const {
        const double far = 2.0 * Settings::hinge_reach * size_of(here);  // the slope is twice the step
        double bent = 0.0;                                               // where the loss has curvature of its own
        double flat2 = 0.0;                                              // squared length of the other slopes
        for (int k = 0; k < p; ++k) {
            const double slope = slope_along(here, k);
            if (bends(slope, k, far)) {
                bent += slope * slope / (1.0 - coordinates_.share(k));
            } else {
                flat2 += slope * slope;
            }
        }
        return bent + far * std::sqrt(flat2);
    }

    // Half of the slope that the proximal term has compensated along an axis: the
    // difference of two long vectors has the rounding errors of both.
    double slope_along(const HingeNode& here, int k) const {
        const double step = std::abs(here.point[k] - here.center[k]);
        return coordinates_.share(k) * (step + Settings::unit_error * std::abs(here.point[k]));
    }

    // Whether the penalty turns the slope before `far`: what it is worth is then known wherever the minimizer lies.
    bool bends(double slope, int k, double far) const {
        return coordinates_.share(k) < 1.0 && slope < far * (1.0 - coordinates_.share(k));
    }

    // Whether the last proximal step was a rounding error: where `only_flat`, along
    // the axes on which the penalty does not turn the slope.
    bool still(const HingeNode& here, bool only_flat) const {
        const double far = 2.0 * Settings::hinge_reach * size_of(here);
        double moved2 = 0.0;
        for (int k = 0; k < p; ++k) {
            const double step = here.point[k] - here.center[k];
            if (coordinates_.share(k) == 0.0 || (only_flat && bends(slope_along(here, k), k, far))) continue;
            moved2 += step * step;
        }
        const double moved = std::sqrt(moved2);
        const double size = load_ + length_of(here.point.data(), p);
        if (!(moved <= Settings::hinge_rounding * size)) return false;
        // Where rows weigh next to nothing, a step as small leads on to where they lose nothing, along the edge of a
        // cone; what the last bits of the point do is all that is left out.
        return moved <= Settings::unit_error * size ||
               lost_by_rows_below(here, 2.0 * moved * size_of(here) / Settings::tie) <= slack;
    }

    // What the rows at their cap lose together that lose no more than `most` each.
    double lost_by_rows_below(const HingeNode& here, double most) const {
        double sum = 0.0;
        for (int i = 0; i < terms_.count; ++i) {
            const double share = here.active.place(i) < 0.0 ? -2.0 * terms_.caps[i] * violations_[i] : 0.0;
            if (share <= most) sum += share;
        }
        return sum;
    }

    // Moves the center to the node's point, and beyond it as long as the next steps would all be the same.
    void advance(HingeNode& here, const Sides& sides, const Vector<int>& forced) {
        const Constraints all{terms_, sides};
        for (int k = 0; k < p; ++k) {
            const double step = here.point[k] - here.center[k];
            here.center[k] = coordinates_.share(k) > 0.0 ? here.point[k] : 0.0;
            step_[k] = coordinates_.share(k) > 0.0 ? step : 0.0;
        }
        if (!restore(here, all)) return;
        double slope = 0.0;  // half of that of the loss along the path
        double bend = 0.0;
        double step2 = 0.0;
        double along_step = 0.0;
        double flat2 = 0.0;
        for (int k = 0; k < p; ++k) {
            path_[k] = here.active.point()[k] - here.point[k];
            slope += (1.0 - coordinates_.share(k)) * here.point[k] * path_[k];
            bend += (1.0 - coordinates_.share(k)) * path_[k] * path_[k];
            if (coordinates_.share(k) == 0.0) continue;
            step2 += step_[k] * step_[k];
            along_step += path_[k] * step_[k];
            flat2 += path_[k] * path_[k];
        }
        // what the active constraints hold fast moves by rounding only
        if (!(along_step > Settings::hinge_still * step2)) return;
        // and what runs along the path is not reached
        const double length = length_of(path_.data(), p);
        const double least = Settings::dependent * length;
        double longest = infinity;
        for (int i = 0; i < terms_.count; ++i) {
            const double along = dot(terms_.normal(i), path_.data(), p);
            const double place = here.active.place(i);
            if (place < 0.0) slope -= terms_.caps[i] * along;
            if (-place * along > least) longest = std::min(longest, violations_[i] / (place * along));
        }
        for (const int j : forced) {
            const double along = dot(sides.normal(j), path_.data(), p);
            if (-along > least) longest = std::min(longest, -sides.side(j, here.point.data()) / along);
        }
        if (-slope < bend * longest) longest = -slope / bend;
        if (!(longest > 1.0 && std::isfinite(longest))) return;
        // the center goes along the flat part of the path, as much farther than the point as it has just done
        for (int k = 0; k < p; ++k) {
            if (coordinates_.share(k) > 0.0) here.center[k] += (longest - 1.0) * along_step / flat2 * path_[k];
        }
        restore(here, all);
    }

    const PenaltyCoordinates coordinates_;
    SoftConstraints rows_;               // all, turned by their labels, of mass 1; the cap is 0 for a zero row
    SoftConstraints terms_;              // of the draw
    double constant_ = 0.0;              // loss of its zero rows
    double load_ = 0.0;                  // length of the vector of its caps
    mutable Vector<double> violations_;  // (n) scratch
    Vector<double> scratch_;             // (p)
    Vector<double> step_;                // (p)
    Vector<double> path_;                // (p)
    Vector<double> gram_;                // (p, p)
    Cholesky factor_;
};

}  // namespace cudbound
