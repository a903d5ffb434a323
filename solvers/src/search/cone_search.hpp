// Which side of each hyperplane is worth its loss, by subdividing the directions from beta = 0; squared loss.
#pragma once

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "search/forcing_tree.hpp"

namespace cudbound {

// One sign of one draw, in coordinates in which the loss is |v|^2 and all directions are curved.
struct SignedDraw {
    CentralHyperplanes hyperplanes;     // unit normals turned to the preferred side, gains
    Normals in_beta;                    // the same hyperplanes for coefficients, and which they are
    const double* distances = nullptr;  // (count) side j of a point v is normal_j'v + distance_j
    double fixed_score = 0.0;           // score with none of them on its preferred side
    double cap = 0.0;                   // no open cell scores more
    double tie = 0.0;                   // sides up to this may be rounding errors
    Relaxation* relaxation = nullptr;   // that of the draw
};

// Branch and bound on simplicial cones with their apex at beta = 0. The point of a cone is the one nearest to v = 0, so
// that reaching a hyperplane at some distance from it costs at least the square of that distance. This bounds the value
// of the cone and removes hyperplanes that no improving point of the cone can cross. Where few hyperplanes are left
// that cut the cone, they are forced or given up one at a time, as in the tree.
class ConeSearch final : private ForcingTree {
 public:
    explicit ConeSearch(const Arrangement& arrangement)
        : p_(arrangement.p), cones_(p_), open_(arrangement), point_(p_), shares_(p_) {}

    // Searches for an open cell with a value above `incumbent`. Nearest points at beta = 0 have at most the cap as
    // value there: where that is more than the best value, it is left open.
    void search(const SignedDraw& draw, double incumbent, Budget& budget) {
        draw_ = draw;
        relaxation_ = draw.relaxation;
        apex_ = relaxation_->apex.data();
        score_cap_ = draw.cap;
        gains_ = draw.hyperplanes.gains;
        budget_ = &budget;
        improved_ = false;
        best_ = incumbent;
        open_bound_ = 0.0;
        normals_.assign(draw.hyperplanes.normals, draw.hyperplanes.normal(draw.hyperplanes.count));
        normals_.resize(std::ssize(normals_) + std::ptrdiff_t{p_} * p_);
        distances_.assign(draw.distances, draw.distances + draw.hyperplanes.count);
        distances_.resize(std::ssize(distances_) + p_);
        turned_ = {p_, normals_.data(), distances_.data(), draw.tie};
        marks_.assign(draw.hyperplanes.count, undecided);
        double total = draw.fixed_score;
        for (int j = 0; j < draw.hyperplanes.count; ++j) total += draw.hyperplanes.gains[j];
        const double size = std::abs(draw.fixed_score) + total - draw.fixed_score;
        // neighboring cones share nearest points, whose losses differ by rounding
        const double rate = relaxation_->rate;
        const double fall = std::isfinite(rate) ? Settings::cone_fall * rate * relaxation_->slack : 0.0;
        rounding_ = size * (Settings::score + std::min(fall, Settings::cone_level));
        for (std::uint64_t which = 0; which < cones_.count() && !at_most(bound(total, 0.0), best_); ++which) {
            if (budget.exhausted()) {
                leave_open(bound(total, 0.0));
                break;
            }
            cones_.begin(which, draw_.hyperplanes, total, cone_at(0).cone);
            // its vertices are orthonormal, and so are its facets
            ConeLevel& root = cone_levels_[0];
            root.facets = root.cone.vertices;
            root.nearest.reset();
            root.loss = 0.0;
            approach_apex(root);
            process_cone(0);
        }
    }

    bool improved() const { return improved_; }
    double best() const { return best_; }              // value found, or the incumbent
    double open_bound() const { return open_bound_; }  // all cells not proved to be worth at most best()
    // Where the value is approached: next to the point, on the positive sides of the tight hyperplanes listed.
    double score() const { return score_; }
    const Vector<double>& point() const { return point_; }
    const Vector<int>& sides() const { return sides_; }

 private:
    struct ConeLevel {
        SimplicialCone cone;
        ActiveSet nearest;      // its point is that of the cone
        double loss = 0.0;      // nothing in the cone has less
        Vector<double> facets;  // (p, p): facet v is the coordinate of vertex v, as a linear function of v - apex

        explicit ConeLevel(int p) : nearest(p), facets(p * p) {}
    };

    void process_cone(int depth) {
        ConeLevel& here = cone_at(depth);
        double most = bound(here.cone.bound, here.loss);
        if (at_most(most, best_)) return;
        if (!budget_->spend()) {
            leave_open(most);
            return;
        }
        if (!squeeze(here, &most)) return;
        const int few = Settings::cone_leaf_forced * p_;
        if (static_cast<int>(here.cone.cut.size()) <= few || here.cone.stale > few || depth >= Settings::cone_depth) {
            search_leaf(here);
            return;
        }
        cones_.bisect(draw_.hyperplanes, here.cone);
        const int first = here.cone.bounds[0] >= here.cone.bounds[1] ? 0 : 1;
        for (const int which : {first, 1 - first}) {
            if (at_most(bound(here.cone.bounds[which], here.loss), best_)) continue;
            descend(depth, which);
            process_cone(depth + 1);
        }
    }

    // The value of the cone, given the distances of its hyperplanes: points at distance d from the cone's point have a
    // loss larger by at least d^2, and collect only what is that near. Removes hyperplanes that no improving point
    // reaches. Returns false if there is no improving point.
    bool squeeze(ConeLevel& here, double* cone_bound) {
        SimplicialCone& cone = here.cone;
        const std::size_t k = cone.cut.size();
        const double loss = here.loss;
        for (int v = 0; v < p_; ++v) {
            const double* facet = here.facets.row(v, p_);
            shares_[v] = 0.0;
            for (int l = 0; l < p_; ++l) shares_[v] += facet[l] * (here.nearest.point()[l] - apex_[l]);
        }
        margins_.assign(k, 0.0);
        for (int v = 0; v < p_; ++v) {
            const double* sides = cone.sides_at(v);
            for (std::size_t j = 0; j < k; ++j) margins_[j] += shares_[v] * sides[j];
        }
        double uncrossed = cone.bound;
        for (std::size_t j = 0; j < k; ++j) {
            if (!(margins_[j] > draw_.tie)) uncrossed -= gains_[cone.cut[j]];
        }
        if (uncrossed * relaxation_->g(loss) > best_) {
            tight_.clear();
            offer(here.nearest.point(), loss, tight_);
        }
        const double far2 = relaxation_->reach(std::min(cone.bound, score_cap_), best_) - loss;
        if (!(far2 > 0.0)) return !at_most(bound(cone.bound, loss), best_);
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
            if (!(margins_[j] > draw_.tie)) gains[static_cast<int>(steps_[j])] += gains_[cone.cut[j]];
        }
        double most = 0.0;
        int farthest = -1;
        for (int i = 0; i < steps; ++i) {
            collected += gains[i];
            const double here_at_most = bound(collected, loss + i / scale);
            if (!at_most(here_at_most, best_)) farthest = i;
            most = with_open(most, here_at_most);
        }
        *cone_bound = std::min(*cone_bound, most);
        if (farthest < 0) return false;

        kept_.clear();
        for (std::size_t j = 0; j < k; ++j) {
            if (steps_[j] <= farthest + 1.0) {
                kept_.push_back(j);
            } else if (!(margins_[j] > draw_.tie)) {
                cone.bound -= gains_[cone.cut[j]];
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
        return !at_most(bound(cone.bound, loss), best_);
    }

    // The half's vertices are m = (a + b) / 2 instead of a, and b: with coordinates x, x_a a + x_b b = 2 x_a m + (x_b -
    // x_a) b. The facet of a stays, that of b turns.
    void descend(int depth, int which) {
        ConeLevel& here = cone_at(depth);
        ConeLevel& next = cone_at(depth + 1);
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

    // Moves the point of a cone until no facet has it on its outer side.
    void approach_apex(ConeLevel& here) {
        for (int steps = 0; steps < Effort::apex_moves + Effort::apex_moves_per_dimension * p_; ++steps) {
            int worst = -1;
            double least = -Settings::left_of_tie * draw_.tie;
            for (int v = 0; v < p_; ++v) {
                const double* facet = here.facets.row(v, p_);
                double side = 0.0;
                for (int l = 0; l < p_; ++l) side += facet[l] * (here.nearest.point()[l] - apex_[l]);
                side /= length_of(facet, p_);
                if (side < least) {
                    least = side;
                    worst = v;
                }
            }
            if (worst < 0) break;
            const double* facet = here.facets.row(worst, p_);
            const double length = length_of(facet, p_);
            double side = 0.0;
            for (int l = 0; l < p_; ++l) {
                shares_[l] = facet[l] / length;
                side += shares_[l] * (here.nearest.point()[l] - apex_[l]);
            }
            double loss = 0.0;
            const auto outcome =
                here.nearest.move({nothing_, {p_, shares_.data(), nullptr, 0.0}}, 0, -side, &loss, infinity);
            if (outcome != ActiveSet::Outcome::moved) break;
        }
        raise(here);
    }

    // For any u, points v of the cone have u'v >= u'apex if u'x >= 0 at its vertices x, so that |v| >= u'apex / |u|.
    // The nearest point is the best u; what rounding leaves below 0 is subtracted, times the length that the cone's
    // points can have within reach of the apex.
    void raise(ConeLevel& here) const {
        const double* u = here.nearest.point();
        const double length = length_of(u, p_);
        if (!(length > 0.0)) return;
        double least = 0.0;
        for (int v = 0; v < p_; ++v) least = std::min(least, dot(u, here.cone.vertex(v), p_));
        const double horizon = std::min(relaxation_->horizon(), Settings::boundless);
        const double reach = horizon < 0.0 ? 0.0 : std::sqrt(horizon);  // NaN stays, and raises nothing
        const double away = std::sqrt(static_cast<double>(p_)) * (reach + length_of(apex_, p_));
        const double bound = (dot(u, apex_, p_) + least * away) / length;
        if (bound > 0.0) here.loss = std::max(here.loss, bound * bound);
    }

    // Cones that few hyperplanes cut: each is forced onto its preferred side or given up.
    void search_leaf(const ConeLevel& here) {
        cut_ = here.cone.cut;
        forced_.clear();
        for (int v = 0; v < p_; ++v) {
            const int label = draw_.hyperplanes.count + v;
            const double* facet = here.facets.row(v, p_);
            double* row = normals_.row(label, p_);
            const double length = length_of(facet, p_);
            for (int l = 0; l < p_; ++l) row[l] = facet[l] / length;
            distances_[label] = -dot(row, apex_, p_);
            forced_.push_back(label);
        }
        Level& root = level(0);
        relaxation_->copy(relaxation_->root(), *root.node);
        const auto settled = settle(*root.node, here.cone.bound);
        root.node->loss = std::max(root.node->loss, here.loss);
        if (settled == Relaxation::Settled::yes) process(0, here.cone.bound);
        if (settled == Relaxation::Settled::unresolved) leave_open(bound(here.cone.bound, here.loss));
    }

    // `score` is that of the node with all undecided hyperplanes on their preferred sides.
    void process(int depth, double score) override {
        Level& here = level(depth);
        const double most = bound(score, here.node->loss);
        if (at_most(most, best_)) return;
        if (!budget_->spend() || here.node->loss >= apex_start()) {
            leave_open(most);
            return;
        }
        tight_.clear();
        here.crossed.clear();
        here.too_far.clear();
        const double most_here = most_loss(score);
        double uncrossed = score;
        for (const int j : cut_) {
            if (marks_[j] == given_up) continue;
            const double margin = dot(draw_.hyperplanes.normal(j), here.node->point.data(), p_) + distances_[j];
            if (margin > draw_.tie) continue;
            if (marks_[j] == forced || !(margin < -draw_.tie)) {
                tight_.push_back(j);
            } else {
                // nothing rises beyond a point that rounding moved
                const double known = relaxation_->rise(*here.node, 1.0, -margin, margin - distances_[j]);
                cross(here, {j, std::min(known, margin * margin), -margin}, most_here);
                uncrossed -= gains_[j];
            }
        }
        if (!at_most(uncrossed * relaxation_->g(here.node->loss), best_)) {
            const OpenCone::Answer answer = open_.find(draw_.in_beta, tight_);
            if (answer == OpenCone::Answer::unclear) leave_open(most);
            if (answer == OpenCone::Answer::empty) give_up_one(depth, score);
            if (answer != OpenCone::Answer::open) return;
            offer(here.node->point.data(), here.node->loss, tight_);
            leave_open(
                bound(uncrossed, here.node->loss));  // more than is offered only if another hyperplane is as near
        }
        expand(depth, uncrossed);
    }

    // Not all members of a conflict can be satisfied: those before one that is given up are forced.
    void give_up_one(int depth, double score) {
        Level& here = level(depth);
        here.members.clear();
        for (const int j : open_.conflict()) {
            if (marks_[j] == undecided) here.members.push_back(j);
        }
        std::sort(here.members.begin(), here.members.end());
        const std::size_t before = forced_.size();
        for (const int j : here.members) {
            Level& next = level(depth + 1);
            relaxation_->copy(*here.node, *next.node);
            marks_[j] = given_up;
            process(depth + 1, score - gains_[j]);
            marks_[j] = forced;
            forced_.push_back(j);
        }
        forced_.resize(before);
        for (const int j : here.members) marks_[j] = undecided;
    }

    // A cell next to the point is worth what the hyperplanes clear of the point give, and the tight ones listed, which
    // were shown to have their preferred sides at once.
    void offer(const double* point, double loss, const Vector<int>& tight) {
        double there = draw_.fixed_score;
        for (const int j : tight) there += gains_[j];
        for (int j = 0; j < draw_.hyperplanes.count; ++j) {
            const double side = dot(draw_.hyperplanes.normal(j), point, p_) + draw_.distances[j];
            if (side > draw_.tie && !std::binary_search(tight.begin(), tight.end(), j)) there += gains_[j];
        }
        const double value = there * relaxation_->g(loss);
        if (!(value > best_)) return;
        best_ = value;
        improved_ = true;
        score_ = there;
        point_.assign(point, point + p_);
        sides_ = tight;
    }

    double cut() const override { return best_; }

    bool may_enter(double) override { return true; }

    void leave_open(double bound) override {
        if (!at_most(bound, best_ + rounding_)) open_bound_ = with_open(open_bound_, bound);
    }

    ConeLevel& cone_at(int depth) { return at_depth(cone_levels_, depth, p_); }

    int p_;
    const SoftConstraints nothing_;
    SimplicialCones cones_;
    OpenCone open_;
    SignedDraw draw_;
    const double* apex_ = nullptr;  // (p) beta = 0, where all hyperplanes meet
    Budget* budget_ = nullptr;
    bool improved_ = false;
    double best_ = 0.0;
    double open_bound_ = 0.0;
    double rounding_ = 0.0;  // by how much values of the same cell may differ
    double score_ = 0.0;
    Vector<double> point_;
    Vector<int> sides_;
    std::deque<ConeLevel> cone_levels_;

    Vector<double> margins_;    // (k) scratch: of the hyperplanes that cut a cone, at its point
    Vector<double> steps_;      // (k) scratch
    Vector<std::size_t> kept_;  // scratch: those that stay
    Vector<double> shares_;     // (p) scratch: coordinates in a cone

    Vector<double> normals_;    // (count + p, p): hyperplanes, then the facets of the leaf
    Vector<double> distances_;  // (count + p)
    Vector<int> cut_;           // (k) the leaf's hyperplanes
};

}  // namespace cudbound
