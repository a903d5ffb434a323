// Cones that few hyperplanes cut: each is forced onto its preferred side or given up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"
#include "search/cone_search.hpp"

namespace cudbound {

void ConeSearch::settle(const Level& here) {
    cutting_ = static_cast<int>(here.cone.cut.size());
    hyperplane_ = here.cone.cut;
    const std::size_t rows = static_cast<std::size_t>(cutting_ + p_);
    normals_.resize(rows * static_cast<std::size_t>(p_));
    distances_.resize(rows);
    marks_.assign(static_cast<std::size_t>(cutting_), undecided);
    forced_.clear();
    beta_normals_.resize(static_cast<std::size_t>(cutting_) * static_cast<std::size_t>(p_));
    arranged_.resize(static_cast<std::size_t>(cutting_));
    for (int j = 0; j < cutting_; ++j) {
        std::copy_n(draw_.in_beta.row(hyperplane_[j], p_), p_, &beta_normals_[static_cast<std::size_t>(j) * p_]);
        arranged_[j] = draw_.in_beta.hyperplanes[hyperplane_[j]];
        std::copy_n(draw_.hyperplanes.normal(hyperplane_[j]), p_, &normals_[static_cast<std::size_t>(j) * p_]);
        distances_[j] = draw_.distances[hyperplane_[j]];
    }
    for (int v = 0; v < p_; ++v) {
        const double* facet = &here.facets[static_cast<std::size_t>(v) * p_];
        double* row = &normals_[static_cast<std::size_t>(cutting_ + v) * p_];
        const double length = std::sqrt(dot(facet, facet, p_));
        for (int l = 0; l < p_; ++l) row[l] = facet[l] / length;
        distances_[cutting_ + v] = -dot(row, draw_.apex, p_);
        forced_.push_back(cutting_ + v);
    }
    Leaf& root = leaf(0);
    root.place.active.reset();
    std::fill(root.place.point.begin(), root.place.point.end(), 0.0);
    const Sides sides{p_, normals_.data(), distances_.data(), draw_.tie};
    const double reach = draw_.relaxation->reach(std::min(here.cone.bound, draw_.cap), best_);
    const int first = sides.most_violated(forced_, root.place.point.data(), Settings::left_of_tie * draw_.tie);
    const Settled settled = move_to_forced(root.place, first, reach);
    root.place.loss = std::max(root.place.loss, here.nearest.loss);
    if (settled == Settled::yes) branch(0, here.cone.bound);
    if (settled == Settled::unresolved) leave_open(value(here.cone.bound, here.nearest.loss));
}

// `score` is that of the node with all undecided hyperplanes on their preferred sides.
void ConeSearch::branch(int depth, double score) {
    Leaf& here = *leaves_[depth];
    const double bound = value(score, here.place.loss);
    if (at_most(bound, best_)) return;
    const Relaxation& relaxation = *draw_.relaxation;
    if (!budget_->spend() || here.place.loss >= relaxation.apex_loss - relaxation.apex_tolerance) {
        leave_open(bound);
        return;
    }
    tight_.clear();
    here.crossed.clear();
    double attained = score;
    for (int j = 0; j < cutting_; ++j) {
        if (marks_[j] == given_up) continue;
        const double margin =
            dot(&normals_[static_cast<std::size_t>(j) * p_], here.place.point.data(), p_) + distances_[j];
        if (margin > draw_.tie) continue;
        if (marks_[j] == forced || !(margin < -draw_.tie)) {
            tight_.push_back(j);
        } else {
            here.crossed.push_back({j, -margin});
            attained -= draw_.hyperplanes.gains[hyperplane_[j]];
        }
    }
    if (!at_most(attained * relaxation.g(here.place.loss), best_)) {
        const OpenCone::Answer answer = open_.find({beta_normals_.data(), arranged_.data()}, tight_);
        if (answer == OpenCone::Answer::unclear) leave_open(bound);
        if (answer == OpenCone::Answer::empty) give_up_one(depth, score);
        if (answer != OpenCone::Answer::open) return;
        offer(here.place, tight_);
        leave_open(value(attained, here.place.loss));  // more than is offered only if another hyperplane is as near
    }
    force_crossed(depth, attained);
}

// Not all members of a conflict can be satisfied: those before one that is given up are forced.
void ConeSearch::give_up_one(int depth, double score) {
    Leaf& here = *leaves_[depth];
    here.members.clear();
    for (const int j : open_.conflict()) {
        if (marks_[j] == undecided) here.members.push_back(j);
    }
    std::sort(here.members.begin(), here.members.end());
    const std::size_t before = forced_.size();
    for (const int j : here.members) {
        Leaf& next = leaf(depth + 1);
        next.place.active.copy_from(here.place.active);
        next.place.point = here.place.point;
        next.place.loss = here.place.loss;
        marks_[j] = given_up;
        branch(depth + 1, score - draw_.hyperplanes.gains[hyperplane_[j]]);
        marks_[j] = forced;
        forced_.push_back(j);
    }
    forced_.resize(before);
    for (const int j : here.members) marks_[j] = undecided;
}

// Each crossed hyperplane in turn, the most distant first, is forced and then given up.
void ConeSearch::force_crossed(int depth, double attained) {
    Leaf& here = *leaves_[depth];
    std::sort(here.crossed.begin(), here.crossed.end(), [](const Crossed& a, const Crossed& b) {
        return a.distance != b.distance ? a.distance > b.distance : a.position < b.position;
    });
    const auto gain = [&](const Crossed& h) { return draw_.hyperplanes.gains[hyperplane_[h.position]]; };
    double score = attained;
    for (const Crossed& h : here.crossed) score += gain(h);
    for (const Crossed& h : here.crossed) {
        const double loss = here.place.loss + h.distance * h.distance;
        if (!at_most(value(score, loss), best_)) {
            Leaf& next = leaf(depth + 1);
            next.place.active.copy_from(here.place.active);
            next.place.point = here.place.point;
            marks_[h.position] = forced;
            forced_.push_back(h.position);
            const Settled settled =
                move_to_forced(next.place, h.position, draw_.relaxation->reach(std::min(score, draw_.cap), best_));
            next.place.loss = std::max(next.place.loss, loss);
            if (settled == Settled::yes) branch(depth + 1, score);
            if (settled == Settled::unresolved) leave_open(value(score, loss));
            forced_.pop_back();
        }
        marks_[h.position] = given_up;
        score -= gain(h);
    }
    for (const Crossed& h : here.crossed) marks_[h.position] = undecided;
}

ConeSearch::Settled ConeSearch::move_to_forced(Place& place, int next, double limit) {
    const Sides sides{p_, normals_.data(), distances_.data(), draw_.tie};
    int patience =
        Effort::conflict_moves + Effort::conflict_moves_per_dimension * (p_ + static_cast<int>(forced_.size()));
    while (next >= 0) {
        if (--patience == 0 || !budget_->go_on()) return Settled::unresolved;
        const auto outcome = place.active.add(next, sides.normal(next), sides.side(next, place.point.data()), limit);
        if (outcome == ActiveSet::Outcome::too_far) {
            if (exceeds(proved(place, next), limit)) return Settled::too_far;
            limit = std::numeric_limits<double>::infinity();  // rounding: it is not proved, so the point is needed
            place.active.reset();
        } else if (outcome != ActiveSet::Outcome::added) {
            return Settled::unresolved;
        }
        std::copy_n(place.active.point(), p_, place.point.begin());
        next = sides.most_violated(forced_, place.point.data(), Settings::left_of_tie * draw_.tie);
    }
    place.loss = proved(place, -1);
    return Settled::yes;
}

double ConeSearch::proved(const Place& place, int entering) {
    const Relaxation& relaxation = *draw_.relaxation;
    return place.active.dual_bound(normals_.data(), distances_.data(), entering, Settings::excess + relaxation.error,
                                   std::sqrt(relaxation.apex_loss), p_, 0.0, shares_.data());
}

}  // namespace cudbound
