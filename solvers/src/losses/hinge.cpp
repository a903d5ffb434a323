#include "losses/hinge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

HingeRelaxation::HingeRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget)
    : RelaxationWith(problem, arrangement, budget), coordinates_(problem), factor_(p) {
    for (auto* vector : {&anchor, &apex, &scratch_, &step_, &path_}) vector->resize(p);
    gram_.resize(p * p);
    for (auto* vector : {&terms_.normals, &terms_.columns}) vector->reserve(problem.n * p);
    for (auto* vector : {&terms_.levels, &terms_.caps}) vector->reserve(problem.n);
    violations_.resize(problem.n);
    place_rows();
    coordinates_.from_beta(problem.anchor, anchor.data());
}

// All rows, turned by their labels, as constraints.
void HingeRelaxation::place_rows() {
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
        const double length = std::sqrt(dot(normal, normal, p));
        if (length < Settings::hinge_shortest) continue;
        for (int k = 0; k < p; ++k) normal[k] *= problem_.labels[i] / length;
        rows_.levels[i] = (1.0 - problem_.shift(i)) / length;
        rows_.caps[i] = 0.5 * length;
    }
}

void HingeRelaxation::set(std::int64_t draw) {
    gather(draw);
    anchor_loss = loss(anchor.data()) + problem_.beyond_penalty(coordinates_.penalty(anchor.data()));
    anchor_loss += evaluation_.anchor_doubt(draw);
    apex_loss = loss(apex.data());
    minimize_freely();
}

// The drawn rows, and the loss of those that are zero.
void HingeRelaxation::gather(std::int64_t draw) {
    terms_.p = p;
    terms_.normals.clear();
    terms_.levels.clear();
    terms_.caps.clear();
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
        for (int l = 0; l < p; ++l) {
            terms_.columns.row(l, terms_.count)[i] = terms_.normal(i)[l];
        }
    }
    load_ = std::sqrt(load_);
    extent = std::max(std::sqrt(dot(anchor.data(), anchor.data(), p)), Settings::hinge_load * load_);
    slack = Settings::excess * total;
}

// From the rows' sides at the anchor, which is not far from the minimizer of most draws.
void HingeRelaxation::minimize_freely() {
    HingeNode& root = own(*root_);
    const Sides nothing{p, nullptr, nullptr, 0.0};
    const Constraints all{terms_, nothing};
    for (int k = 0; k < p; ++k) root.center[k] = coordinates_.share(k) > 0.0 ? anchor[k] : 0.0;
    root.active.reset(terms_.count);
    root.loss = 0.0;
    for (int i = 0; i < terms_.count; ++i) {
        const double lack = terms_.levels[i] - dot(terms_.normal(i), anchor.data(), p);
        if (std::abs(lack) <= Settings::hinge_start * extent) {
            root.active.activate(all, i);
        } else if (lack > 0.0) {
            root.active.rest(i, ActiveSet::at_cap);
        }
    }
    slack += Settings::excess * (anchor_loss + apex_loss);
    restore(root, all);
    const double unlimited = std::numeric_limits<double>::infinity();
    found = minimize(root, nothing, {}, unlimited, Settings::left_of_tie * Settings::tie * extent, unlimited) ==
            Settled::yes;
    extent = std::max(extent, std::sqrt(dot(root.point.data(), root.point.data(), p)));
    if (extent == 0.0) extent = 1.0;
    apex_tolerance = Settings::apex * (apex_loss + slack);
    if (coordinates_.lent() > 0) {  // what `undercut` may take off
        apex_tolerance += 2.0 * Settings::hinge_reach * extent * Settings::hinge_rounding * (load_ + extent);
    }
}

// beta = 0 is v = 0. The loss exceeds that of a minimizer on a cone by at least the penalty of the difference.
void HingeRelaxation::place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) {
    std::fill_n(offsets, hyperplanes.size(), 0.0);
    for (std::size_t i = 0; i < hyperplanes.size(); ++i, units += p) {
        coordinates_.normal_from_beta(arrangement_.normal(hyperplanes[i]), units);
        const double scale = 1.0 / std::sqrt(dot(units, units, p));
        for (int k = 0; k < p; ++k) units[k] *= scale;
        curvatures[i] = coordinates_.curvature(units);
    }
}

double HingeRelaxation::loss(const double* v) const {
    double sum = constant_ + coordinates_.penalty(v);
    for (int i = 0; i < terms_.count; ++i) {
        sum += 2.0 * terms_.caps[i] * std::max(0.0, terms_.levels[i] - dot(terms_.normal(i), v, p));
    }
    return sum;
}

Relaxation::Settled HingeRelaxation::settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) {
    // beta = 0 lies in every cone
    const double highest = at_most(apex_loss, limit) ? std::numeric_limits<double>::infinity() : limit;
    return minimize(own(node), sides, forced, highest, Settings::left_of_tie * sides.tie, sides.tie);
}

bool HingeRelaxation::restore(HingeNode& here, const Constraints& all) {
    // (1 - share) v^2 + share (v - center)^2 is (v - share center)^2 up to a constant
    for (int k = 0; k < p; ++k) scratch_[k] = coordinates_.share(k) * here.center[k];
    return here.active.restore(all, scratch_.data());
}

// The minimizer for the center as it is. Violations up to `allowed` stay; they
// may grow to `most_allowed` where rounding keeps them from being removed.
Relaxation::Settled HingeRelaxation::satisfy(HingeNode& here, const Sides& sides, const Vector<int>& forced,
                                             double limit, double allowed, double most_allowed, int next) {
    const Constraints all{terms_, sides};
    const int patience =
        Effort::moves + Effort::moves_per_constraint * (p + static_cast<int>(forced.size()) + terms_.count);
    const double unlimited = std::numeric_limits<double>::infinity();
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
                                                  coordinates_.lent() == 0 ? limit + doubt(here, all) : unlimited);
            if (outcome == ActiveSet::Outcome::too_far) return Settled::too_far;
            if (outcome != ActiveSet::Outcome::moved) {
                // A cone is never empty: the violation is a rounding error, which a fresh point may not have.
                if (restored) allowed = std::max(allowed, violation);
                if (allowed > std::max(most_allowed, rounding)) return Settled::unresolved;
                restore(here, all);
                value = -unlimited;
                restored = true;
            } else {
                restored = false;
            }
            if (++moves % patience == 0) allowed *= Settings::hinge_wider;
            if (moves % patience == 0 && allowed > most_allowed) return Settled::unresolved;
        }
        rounding = Settings::hinge_rounding * std::sqrt(dot(point, point, p));
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

Relaxation::Settled HingeRelaxation::minimize(HingeNode& here, const Sides& sides, const Vector<int>& forced,
                                              double limit, double allowed, double most_allowed) {
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
        bool known = coordinates_.lent() == 0 || still(here, close);
        if (!known && close) {
            // a slope, if a small one: nothing is known of it unless multipliers balance it
            const double balanced = proved_loss(here, all, -std::numeric_limits<double>::infinity());
            known = balanced >= least - slack;
            least = std::min(least, balanced);
        }
        here.loss = std::max(before, std::min(least, apex_loss));
        if (known) return exceeds(here.loss, limit) ? Settled::too_far : Settled::yes;
        advance(here, sides, forced);
        next = -1;
    }
    return Settled::unresolved;
}

// The loss at the point with the terms at their cap made linear, and those that are active, and 0 but for rounding,
// taken times their multipliers. It is least there but for the slope that the proximal term has compensated.
double HingeRelaxation::linearized(const HingeNode& here, const Constraints& all) const {
    double loss = constant_ + coordinates_.penalty(here.active.point()) + 2.0 * here.active.imbalance(all);
    for (int i = 0; i < terms_.count; ++i) {
        if (here.active.place(i) < 0.0) loss -= 2.0 * terms_.caps[i] * violations_[i];
    }
    return loss;
}

// Its rounding error, and what those of slopes that cancel may be worth where the penalty does not curve the loss.
double HingeRelaxation::doubt(const HingeNode& here, const Constraints& all) const {
    const double size = size_of(here);
    const double pull = here.active.pull(all);
    if (coordinates_.lent() == 0) return 2.0 * Settings::unit_error * pull * size;
    // there, slopes are differences of the point and its center too
    return 2.0 * Settings::unit_error * (pull + size) * (1.0 + Settings::hinge_reach) * size;
}

double HingeRelaxation::size_of(const HingeNode& here) const {
    return std::max(extent, std::sqrt(dot(here.active.point(), here.active.point(), p)));
}

// A lower bound of the loss on the cone before the node is settled, or -infinity. Multipliers of the active constraints
// that balance the slope along the directions with a proximal term make the linearized loss independent of them; along
// the others it then falls by the square of what they have changed.
double HingeRelaxation::proved_loss(HingeNode& here, const Constraints& all, double limit) {
    const double nothing = -std::numeric_limits<double>::infinity();
    const NormalBasis& basis = here.active.basis();
    if (basis.size() < coordinates_.lent()) return nothing;
    const double loss = linearized(here, all) - doubt(here, all);
    if (at_most(loss, limit)) return nothing;
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
    if (!factor_.factorize(gram_, Settings::hinge_still)) return nothing;
    factor_.solve_transposed(step_.data(), step_.data());
    factor_.solve(step_.data(), step_.data());
    std::fill(path_.begin(), path_.end(), 0.0);
    for (int k = 0; k < basis.size(); ++k) {
        scratch_[k] = -dot(basis.column(k), step_.data(), p);
        for (int l = 0; l < p; ++l) path_[l] += scratch_[k] * basis.column(k)[l];
    }
    if (!here.active.may_grow(all, scratch_.data())) return nothing;
    double fall = 0.0;
    for (int k = 0; k < p; ++k) fall += coordinates_.share(k) > 0.0 ? 0.0 : path_[k] * path_[k];
    return loss - fall;
}

// How much the loss on the cone can lie below that of the node's point, because
// of the slope that the proximal term has compensated.
double HingeRelaxation::undercut(const HingeNode& here) const {
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
double HingeRelaxation::slope_along(const HingeNode& here, int k) const {
    const double step = std::abs(here.point[k] - here.center[k]);
    return coordinates_.share(k) * (step + Settings::unit_error * std::abs(here.point[k]));
}

// Whether the penalty turns the slope before `far`: what it is worth is then known wherever the minimizer lies.
bool HingeRelaxation::bends(double slope, int k, double far) const {
    return coordinates_.share(k) < 1.0 && slope < far * (1.0 - coordinates_.share(k));
}

// Whether the last proximal step was a rounding error: where `only_flat`, along
// the axes on which the penalty does not turn the slope.
bool HingeRelaxation::still(const HingeNode& here, bool only_flat) const {
    const double far = 2.0 * Settings::hinge_reach * size_of(here);
    double moved2 = 0.0;
    for (int k = 0; k < p; ++k) {
        const double step = here.point[k] - here.center[k];
        if (coordinates_.share(k) == 0.0 || (only_flat && bends(slope_along(here, k), k, far))) continue;
        moved2 += step * step;
    }
    const double size = load_ + std::sqrt(dot(here.point.data(), here.point.data(), p));
    return moved2 <= Settings::hinge_rounding * Settings::hinge_rounding * size * size;
}

// Moves the center to the node's point, and beyond it as long as the next steps would all be the same.
void HingeRelaxation::advance(HingeNode& here, const Sides& sides, const Vector<int>& forced) {
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
    const double length = std::sqrt(dot(path_.data(), path_.data(), p));
    const double least = Settings::dependent * length;
    double longest = std::numeric_limits<double>::infinity();
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

}  // namespace cudbound
