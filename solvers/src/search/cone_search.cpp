#include "search/cone_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "control/prunes.hpp"
#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

ConeSearch::ConeSearch(const Arrangement& arrangement)
    : p_(arrangement.p), cones_(p_), open_(arrangement), point_(p_), shares_(p_) {}

void ConeSearch::search(const SignedDraw& draw, double incumbent, Budget& budget) {
    draw_ = draw;
    budget_ = &budget;
    improved_ = false;
    best_ = incumbent;
    open_bound_ = 0.0;
    normals_.assign(draw.hyperplanes.normals, draw.hyperplanes.normal(draw.hyperplanes.count));
    normals_.resize(std::ssize(normals_) + p_ * p_);
    distances_.assign(draw.distances, draw.distances + draw.hyperplanes.count);
    distances_.resize(std::ssize(distances_) + p_);
    marks_.assign(draw.hyperplanes.count, undecided);
    double total = draw.fixed_score;
    for (int j = 0; j < draw.hyperplanes.count; ++j) total += draw.hyperplanes.gains[j];
    const double size = std::abs(draw.fixed_score) + total - draw.fixed_score;
    const Relaxation& relaxation = *draw.relaxation;
    // neighboring cones share nearest points, whose losses differ by rounding
    const double fall = std::isfinite(relaxation.rate) ? Settings::cone_fall * relaxation.rate * relaxation.slack : 0.0;
    rounding_ = size * (Settings::score + std::min(fall, Settings::cone_level));
    for (std::uint64_t which = 0; which < cones_.count() && !at_most(value(total, 0.0), best_); ++which) {
        if (budget.exhausted()) {
            leave_open(value(total, 0.0));
            break;
        }
        cones_.begin(which, draw_.hyperplanes, total, level(0).cone);
        // its vertices are orthonormal, and so are its facets
        Level& root = levels_[0];
        root.facets = root.cone.vertices;
        root.nearest.reset();
        root.loss = 0.0;
        approach_apex(root);
        process(0);
    }
}

double ConeSearch::value(double score, double loss) const {
    const Relaxation& relaxation = *draw_.relaxation;
    return std::min(score, draw_.cap) * relaxation.g(std::min(loss, relaxation.apex_loss - relaxation.apex_tolerance));
}

void ConeSearch::leave_open(double bound) {
    if (!at_most(bound, best_ + rounding_)) open_bound_ = with_open(open_bound_, bound);
}

// Moves the point of a cone until no facet has it on its outer side.
void ConeSearch::approach_apex(Level& here) {
    for (int steps = 0; steps < Effort::apex_moves + Effort::apex_moves_per_dimension * p_; ++steps) {
        int worst = -1;
        double least = -Settings::left_of_tie * draw_.tie;
        for (int v = 0; v < p_; ++v) {
            const double* facet = here.facets.row(v, p_);
            double side = 0.0;
            for (int l = 0; l < p_; ++l) side += facet[l] * (here.nearest.point()[l] - draw_.apex[l]);
            side /= std::sqrt(dot(facet, facet, p_));
            if (side < least) {
                least = side;
                worst = v;
            }
        }
        if (worst < 0) break;
        const double* facet = here.facets.row(worst, p_);
        const double length = std::sqrt(dot(facet, facet, p_));
        double side = 0.0;
        for (int l = 0; l < p_; ++l) {
            shares_[l] = facet[l] / length;
            side += shares_[l] * (here.nearest.point()[l] - draw_.apex[l]);
        }
        double loss = 0.0;
        const auto outcome = here.nearest.move({nothing_, {p_, shares_.data(), nullptr, 0.0}}, 0, -side, &loss,
                                               std::numeric_limits<double>::infinity());
        if (outcome != ActiveSet::Outcome::moved) break;
    }
    raise(here);
}

// For any u, points v of the cone have u'v >= u'apex if u'x >= 0 at its vertices x, so that |v| >= u'apex / |u|. The
// nearest point is the best u; what rounding leaves below 0 is subtracted, times the length that the cone's points can
// have within reach of the apex.
void ConeSearch::raise(Level& here) const {
    const double* u = here.nearest.point();
    const double length = std::sqrt(dot(u, u, p_));
    if (!(length > 0.0)) return;
    double least = 0.0;
    for (int v = 0; v < p_; ++v) least = std::min(least, dot(u, here.cone.vertex(v), p_));
    const double horizon = std::min(draw_.relaxation->horizon(), Settings::boundless);
    const double reach = horizon < 0.0 ? 0.0 : std::sqrt(horizon);  // NaN stays, and raises nothing
    const double away = std::sqrt(static_cast<double>(p_)) * (reach + std::sqrt(dot(draw_.apex, draw_.apex, p_)));
    const double bound = (dot(u, draw_.apex, p_) + least * away) / length;
    if (bound > 0.0) here.loss = std::max(here.loss, bound * bound);
}

void ConeSearch::process(int depth) {
    Level& here = level(depth);
    double bound = value(here.cone.bound, here.loss);
    if (at_most(bound, best_)) return;
    if (!budget_->spend()) {
        leave_open(bound);
        return;
    }
    if (!squeeze(here, &bound)) return;
    const int few = Settings::cone_leaf_forced * p_;
    if (static_cast<int>(here.cone.cut.size()) <= few || here.cone.stale > few || depth >= Settings::cone_depth) {
        search_leaf(here);
        return;
    }
    cones_.bisect(draw_.hyperplanes, here.cone);
    const int first = here.cone.bounds[0] >= here.cone.bounds[1] ? 0 : 1;
    for (const int which : {first, 1 - first}) {
        if (at_most(value(here.cone.bounds[which], here.loss), best_)) continue;
        descend(depth, which);
        process(depth + 1);
    }
}

// The half's vertices are m = (a + b) / 2 instead of a, and b: with coordinates x, x_a a + x_b b = 2 x_a m + (x_b -
// x_a) b. The facet of a stays, that of b turns.
void ConeSearch::descend(int depth, int which) {
    Level& here = level(depth);
    Level& next = level(depth + 1);
    cones_.half(draw_.hyperplanes, here.cone, which, next.cone);
    const int a = here.cone.ends[which] * p_;
    const int b = here.cone.ends[1 - which] * p_;
    next.facets = here.facets;
    for (int l = 0; l < p_; ++l) {
        next.facets[a + l] = 2.0 * here.facets[a + l];
        next.facets[b + l] = here.facets[b + l] - here.facets[a + l];
    }
    next.nearest = here.nearest;
    next.loss = here.loss;
    approach_apex(next);
}

// The value of the cone, given the distances of its hyperplanes: points at distance d from the cone's point have a loss
// larger by at least d^2, and collect only what is that near. Removes hyperplanes that no improving point reaches.
// Returns false if there is no improving point.
bool ConeSearch::squeeze(Level& here, double* bound) {
    SimplicialCone& cone = here.cone;
    const std::size_t k = cone.cut.size();
    const double loss = here.loss;
    for (int v = 0; v < p_; ++v) {
        const double* facet = here.facets.row(v, p_);
        shares_[v] = 0.0;
        for (int l = 0; l < p_; ++l) shares_[v] += facet[l] * (here.nearest.point()[l] - draw_.apex[l]);
    }
    margins_.assign(k, 0.0);
    for (int v = 0; v < p_; ++v) {
        const double* sides = cone.sides_at(v);
        for (std::size_t j = 0; j < k; ++j) margins_[j] += shares_[v] * sides[j];
    }
    double uncrossed = cone.bound;
    for (std::size_t j = 0; j < k; ++j) {
        if (!(margins_[j] > draw_.tie)) uncrossed -= draw_.hyperplanes.gains[cone.cut[j]];
    }
    if (uncrossed * draw_.relaxation->g(loss) > best_) {
        tight_.clear();
        offer(here.nearest.point(), loss, tight_);
    }
    const double far2 = draw_.relaxation->reach(std::min(cone.bound, draw_.cap), best_) - loss;
    if (!(far2 > 0.0)) return !at_most(value(cone.bound, loss), best_);
    if (!(far2 < Settings::boundless)) return true;

    constexpr int steps = Effort::rings;
    double gains[steps + 1] = {};
    const double scale = steps / far2;
    steps_.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
        const double distance = std::max(0.0, std::abs(margins_[j]) - draw_.tie);  // 0 for NaN: reached
        steps_[j] = std::min(distance * distance * scale, static_cast<double>(steps));
    }
    double collected = uncrossed;
    for (std::size_t j = 0; j < k; ++j) {
        if (!(margins_[j] > draw_.tie)) gains[static_cast<int>(steps_[j])] += draw_.hyperplanes.gains[cone.cut[j]];
    }
    double most = 0.0;
    int farthest = -1;
    for (int i = 0; i < steps; ++i) {
        collected += gains[i];
        const double here_at_most = value(collected, loss + i / scale);
        if (!at_most(here_at_most, best_)) farthest = i;
        most = with_open(most, here_at_most);
    }
    *bound = std::min(*bound, most);
    if (farthest < 0) return false;

    kept_.clear();
    for (std::size_t j = 0; j < k; ++j) {
        if (steps_[j] <= farthest + 1.0) {
            kept_.push_back(j);
        } else if (!(margins_[j] > draw_.tie)) {
            cone.bound -= draw_.hyperplanes.gains[cone.cut[j]];
        }
    }
    if (kept_.size() == k) return true;
    double* to = cone.sides.data();
    for (int v = 0; v < p_; ++v) {
        const double* sides = cone.sides.row(v, k);
        for (const std::size_t j : kept_) *to++ = sides[j];
    }
    for (std::size_t j = 0; j < kept_.size(); ++j) cone.cut[j] = cone.cut[kept_[j]];
    cone.cut.resize(kept_.size());
    cone.stale = 0;
    return !at_most(value(cone.bound, loss), best_);
}

// A cell next to the point is worth what the hyperplanes clear of the point give, and the tight ones listed, which were
// shown to have their preferred sides at once.
void ConeSearch::offer(const double* point, double loss, const Vector<int>& tight) {
    double there = draw_.fixed_score;
    for (const int j : tight) there += draw_.hyperplanes.gains[j];
    for (int j = 0; j < draw_.hyperplanes.count; ++j) {
        const double side = dot(draw_.hyperplanes.normal(j), point, p_) + draw_.distances[j];
        if (side > draw_.tie && !std::binary_search(tight.begin(), tight.end(), j)) {
            there += draw_.hyperplanes.gains[j];
        }
    }
    const double found = there * draw_.relaxation->g(loss);
    if (!(found > best_)) return;
    best_ = found;
    improved_ = true;
    score_ = there;
    point_.assign(point, point + p_);
    sides_ = tight;
}

// Cones that few hyperplanes cut: each is forced onto its preferred side or given up.
void ConeSearch::search_leaf(const Level& here) {
    cut_ = here.cone.cut;
    forced_.clear();
    for (int v = 0; v < p_; ++v) {
        const int label = draw_.hyperplanes.count + v;
        const double* facet = here.facets.row(v, p_);
        double* row = normals_.row(label, p_);
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
    Leaf& here = leaf(depth);
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
    Leaf& here = leaf(depth);
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
    Leaf& here = leaf(depth);
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
