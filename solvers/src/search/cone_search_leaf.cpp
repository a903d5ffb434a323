// Cones that few hyperplanes cut: each is forced onto its preferred side or given up.
#include <algorithm>
#include <cmath>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"
#include "search/cone_search.hpp"

namespace cudbound {

void ConeSearch::search_leaf(const Level& here) {
    cut_ = here.cone.cut;
    forced_.clear();
    for (int v = 0; v < p_; ++v) {
        const int label = draw_.hyperplanes.count + v;
        const double* facet = &here.facets[static_cast<std::size_t>(v) * p_];
        double* row = &normals_[static_cast<std::size_t>(label) * p_];
        const double length = std::sqrt(dot(facet, facet, p_));
        for (int l = 0; l < p_; ++l) row[l] = facet[l] / length;
        distances_[label] = -dot(row, draw_.apex, p_);
        forced_.push_back(label);
    }
    Leaf& root = leaf(0);
    draw_.relaxation->copy(draw_.relaxation->root(), *root.node);
    const auto settled = move_to_forced(*root.node, here.cone.bound);
    root.node->loss = std::max(root.node->loss, here.loss);
    if (settled == Relaxation::Settled::yes) branch(0, here.cone.bound);
    if (settled == Relaxation::Settled::unresolved) leave_open(value(here.cone.bound, here.loss));
}

// `score` is that of the node with all undecided hyperplanes on their preferred sides.
void ConeSearch::branch(int depth, double score) {
    Leaf& here = *leaves_[depth];
    const double bound = value(score, here.node->loss);
    if (at_most(bound, best_)) return;
    const Relaxation& relaxation = *draw_.relaxation;
    if (!budget_->spend() || here.node->loss >= relaxation.apex_loss - relaxation.apex_tolerance) {
        leave_open(bound);
        return;
    }
    tight_.clear();
    here.crossed.clear();
    double uncrossed = score;
    for (const int j : cut_) {
        if (marks_[j] == given_up) continue;
        const double margin = dot(draw_.hyperplanes.normal(j), here.node->point.data(), p_) + distances_[j];
        if (margin > draw_.tie) continue;
        if (marks_[j] == forced || !(margin < -draw_.tie)) {
            tight_.push_back(j);
        } else {
            here.crossed.push_back({j, -margin});
            uncrossed -= draw_.hyperplanes.gains[j];
        }
    }
    if (!at_most(uncrossed * relaxation.g(here.node->loss), best_)) {
        const OpenCone::Answer answer = open_.find(draw_.in_beta, tight_);
        if (answer == OpenCone::Answer::unclear) leave_open(bound);
        if (answer == OpenCone::Answer::empty) give_up_one(depth, score);
        if (answer != OpenCone::Answer::open) return;
        offer(here.node->point.data(), here.node->loss, tight_);
        leave_open(value(uncrossed, here.node->loss));  // more than is offered only if another hyperplane is as near
    }
    force_crossed(depth, uncrossed);
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
        draw_.relaxation->copy(*here.node, *next.node);
        marks_[j] = given_up;
        branch(depth + 1, score - draw_.hyperplanes.gains[j]);
        marks_[j] = forced;
        forced_.push_back(j);
    }
    forced_.resize(before);
    for (const int j : here.members) marks_[j] = undecided;
}

// Each crossed hyperplane in turn, the most distant first, is forced and then given up.
void ConeSearch::force_crossed(int depth, double uncrossed) {
    Leaf& here = *leaves_[depth];
    std::sort(here.crossed.begin(), here.crossed.end(), [](const Crossed& a, const Crossed& b) {
        return a.distance != b.distance ? a.distance > b.distance : a.index < b.index;
    });
    const auto gain = [&](const Crossed& h) { return draw_.hyperplanes.gains[h.index]; };
    double score = uncrossed;
    for (const Crossed& h : here.crossed) score += gain(h);
    for (const Crossed& h : here.crossed) {
        const double loss = here.node->loss + h.distance * h.distance;
        if (!at_most(value(score, loss), best_)) {
            Leaf& next = leaf(depth + 1);
            draw_.relaxation->copy(*here.node, *next.node);
            marks_[h.index] = forced;
            forced_.push_back(h.index);
            const auto settled = move_to_forced(*next.node, score);
            next.node->loss = std::max(next.node->loss, loss);
            if (settled == Relaxation::Settled::yes) branch(depth + 1, score);
            if (settled == Relaxation::Settled::unresolved) leave_open(value(score, loss));
            forced_.pop_back();
        }
        marks_[h.index] = given_up;
        score -= gain(h);
    }
    for (const Crossed& h : here.crossed) marks_[h.index] = undecided;
}

Relaxation::Settled ConeSearch::move_to_forced(Node& node, double score) {
    const double reach = draw_.relaxation->reach(std::min(score, draw_.cap), best_);
    return draw_.relaxation->settle(node, {p_, normals_.data(), distances_.data(), draw_.tie}, forced_, reach);
}

}  // namespace cudbound
