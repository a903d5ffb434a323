#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

Tree::Tree(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop, const Limits& limits)
    : problem_(problem),
      arrangement_(arrangement),
      p_(static_cast<int>(problem.p)),
      ball_(problem, arrangement),
      budget_(limits, stop),
      cone_(p_),
      max_gain_(p_),
      facet_search_(p_),
      own_weights_(problem.n),
      minimiser_(p_, 0.0),
      found_point_(p_) {}

Outcome Tree::solve(std::int64_t draw, Side side, double* witness) {
    budget_.start();
    prepare(draw);
    incumbent_ = 0.0;
    open_bound_ = 0.0;
    found_ = Found::point;
    found_sign_ = 1.0;
    found_score_ = 0.0;
    found_point_ = ball_.anchor;
    found_sides_.clear();
    gain_best_ = -1.0;
    gain_upper_ = std::numeric_limits<double>::infinity();

    const double signs[] = {1.0, -1.0};
    const auto counts = [side](double sign) { return side == Side::BOTH || (side == Side::POSITIVE) == (sign > 0.0); };
    // The anchor and the minimiser lie in cells with g = 1: a first incumbent for either sign.
    offer_start(ball_.anchor, counts(1.0), counts(-1.0));
    offer_start(minimiser_, counts(1.0), counts(-1.0));
    for (const double sign : signs) {
        if (!counts(sign)) continue;
        orient(sign);
        explore();
    }

    Outcome outcome;
    outcome.status = budget_.status();
    outcome.nodes = budget_.nodes();
    if (outcome.status == Status::OPTIMAL && open_bound_ > incumbent_) outcome.status = Status::INACCURATE;
    outcome.lower = (incumbent_ + rounding_) / divisor_;
    outcome.upper = (std::max(incumbent_, open_bound_) + rounding_) / divisor_;
    write_witness(witness, outcome);
    return outcome;
}

void Tree::prepare(std::int64_t draw) {
    const std::int64_t n = problem_.n;
    const double* weights = nullptr;
    if (problem_.weights != nullptr) {
        weights = problem_.weights + draw * n;
        divisor_ = 1.0;
    } else {
        // whole numbers: scores are exact, and equal scores compare equal
        const std::int32_t* counts = problem_.counts + draw * n;
        for (std::int64_t i = 0; i < n; ++i) own_weights_[i] = counts[i] - 1.0;
        weights = own_weights_.data();
        divisor_ = static_cast<double>(n);
    }
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) total += std::abs(weights[i]);
    rounding_ = problem_.weights != nullptr ? Settings::score * total : 0.0;

    ball_.set(draw);
    sides_.tally(arrangement_, problem_.labels, weights);
    constant_score_ = sides_.fixed;
    id_.clear();
    difference_.clear();
    for (int h = 0; h < arrangement_.count; ++h) {
        const double difference = sides_.positive[h] - sides_.negative[h];
        if (std::abs(difference) <= rounding_) {
            constant_score_ += sides_.positive[h];
        } else {
            id_.push_back(h);
            difference_.push_back(difference);
        }
    }
    const std::size_t m = id_.size();
    unit_.resize(m * p_);
    offset_.resize(m);
    reachable_.resize(m);
    for (std::size_t i = 0; i < m; ++i) {
        reachable_[i] =
            ball_.transform(&arrangement_.normals[static_cast<std::size_t>(id_[i]) * p_], &unit_[i * p_], &offset_[i]);
    }
    const double reach = std::isfinite(1.0 / ball_.rate) ? ball_.radius2 + 1.0 / ball_.rate : 0.0;
    tie_ = Settings::tie * std::sqrt(std::max(reach, std::max(ball_.radius2, ball_.apex2)));
}

// A cell next to the point scores at least what the hyperplanes clear of the point give.
void Tree::offer_start(const std::vector<double>& point, bool positive_counts, bool negative_counts) {
    double scores[] = {constant_score_, -constant_score_};
    for (std::size_t i = 0; i < id_.size(); ++i) {
        const double side = dot(&unit_[i * p_], point.data(), p_) + offset_[i];
        const double positive = sides_.positive[id_[i]];
        const double negative = sides_.negative[id_[i]];
        const double here = side > 0.0 ? positive : negative;
        const bool clear = std::abs(side) > tie_;
        scores[0] += clear ? here : std::min(positive, negative);
        scores[1] -= clear ? here : std::max(positive, negative);
    }
    const bool allowed[] = {positive_counts, negative_counts};
    for (int k = 0; k < 2; ++k) {
        if (!allowed[k] || scores[k] <= incumbent_) continue;
        incumbent_ = scores[k];
        found_ = Found::point;
        found_sign_ = k == 0 ? 1.0 : -1.0;
        found_score_ = scores[k];
        found_point_ = point;
        found_sides_.clear();
    }
}

// Turns the hyperplanes to this sign and settles those that no improving classifier can cross.
void Tree::orient(double sign) {
    sign_ = sign;
    apex_searched_ = false;
    settled_score_ = sign * constant_score_;
    score_cap_ = settled_score_;
    member_.clear();
    for (std::size_t i = 0; i < id_.size(); ++i) {
        const double positive = sign * sides_.positive[id_[i]];
        const double negative = sign * sides_.negative[id_[i]];
        settled_score_ += std::min(positive, negative);
        score_cap_ += std::max(positive, negative);
        member_.push_back(static_cast<int>(i));
    }
    for (bool changed = true; changed && score_cap_ > incumbent_;) {
        const double reach2 = ball_.reach2(score_cap_, incumbent_);
        const std::size_t before = member_.size();
        std::erase_if(member_, [&](int i) {
            if (reachable_[i] || offset_[i] * offset_[i] <= reach2) return false;
            const double gain = std::abs(difference_[i]);
            if ((offset_[i] > 0.0) == (sign * difference_[i] > 0.0)) {
                settled_score_ += gain;
            } else {
                score_cap_ -= gain;
            }
            return true;
        });
        changed = member_.size() != before;
    }
    const std::size_t k = member_.size();
    normal_.resize(k * p_);
    column_.resize(k * p_);
    distance_.resize(k);
    gain_.resize(k);
    curved_.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
        const int i = member_[j];
        const double turn = sign * difference_[i] > 0.0 ? 1.0 : -1.0;
        for (int l = 0; l < p_; ++l) {
            normal_[j * p_ + l] = turn * unit_[static_cast<std::size_t>(i) * p_ + l];
            column_[static_cast<std::size_t>(l) * k + j] = normal_[j * p_ + l];
        }
        distance_[j] = turn * offset_[i];
        gain_[j] = std::abs(difference_[i]);
        curved_[j] = reachable_[i] ? 0.0 : 1.0;
    }
    mark_.assign(k, undecided);
    forced_.clear();
    margins_.resize(k);
}

void Tree::explore() {
    if (score_cap_ <= incumbent_) return;
    Level& root = level(0);
    root.active.reset();
    std::fill(root.centre.begin(), root.centre.end(), 0.0);
    std::fill(root.point.begin(), root.point.end(), 0.0);
    root.squared_norm = 0.0;
    const double score = score_cap_;
    // With beta = 0 inside the region where g = 1, the best open cell anywhere is the answer.
    if (apex_g() >= 1.0) apex_node(score);
    process(0, score);
}

void Tree::process(int depth, double score) {
    Level& here = level(depth);
    if (bound(score, here.squared_norm) <= incumbent_) return;
    if (!budget_.spend()) {
        open_bound_ = std::max(open_bound_, bound(score, here.squared_norm));
        return;
    }
    if (here.squared_norm >= apex_start()) {
        apex_node(score);
        return;
    }
    const std::size_t first_dropped = dropped_.size();
    for (;;) {
        double attained = classify(here, score);
        const double g = ball_.g(here.squared_norm);
        int culprit = -1;
        if (attained * g > incumbent_) {
            // The active normals are independent, so their positive sides meet. More tight ones need a proof.
            if (static_cast<int>(tight_.size()) == here.active.size() || cone_.find(normal_.data(), tight_)) {
                offer(attained, attained * g, here.point);
            } else {
                for (const int j : cone_.conflict()) {
                    if (mark_[j] == undecided && (culprit < 0 || gain_[j] < gain_[culprit])) culprit = j;
                }
                if (culprit < 0) break;  // the forced sides exclude each other: no open cell
            }
        }
        if (culprit < 0) {
            expand(depth, attained);
            break;
        }
        // A hyperplane through the point that cannot be reached together with the others: force it, then give it
        // up.
        Level& next = level(depth + 1);
        next.copy_from(here);
        mark_[culprit] = forced;
        forced_.push_back(culprit);
        process(depth + 1, score);
        forced_.pop_back();
        mark_[culprit] = given_up;
        dropped_.push_back(culprit);
        score -= gain_[culprit];
        if (bound(score, here.squared_norm) <= incumbent_) break;
        if (budget_.exhausted()) {
            open_bound_ = std::max(open_bound_, bound(score, here.squared_norm));
            break;
        }
    }
    while (dropped_.size() > first_dropped) {
        mark_[dropped_.back()] = undecided;
        dropped_.pop_back();
    }
}

// Sorts the hyperplanes at the node's point into crossed and tight ones; returns the score if no crossed one
// is reached.
double Tree::classify(Level& here, double score) {
    const std::size_t k = member_.size();
    std::copy(distance_.begin(), distance_.end(), margins_.begin());
    for (int l = 0; l < p_; ++l) {
        const double along = here.point[l];
        const double* column = column_.data() + static_cast<std::size_t>(l) * k;
        for (std::size_t j = 0; j < k; ++j) margins_[j] += along * column[j];
    }
    tight_.clear();
    here.crossed.clear();
    for (std::size_t j = 0; j < k; ++j) {
        if (mark_[j] == given_up || margins_[j] > tie_) continue;
        if (mark_[j] == forced || margins_[j] >= -tie_) {
            tight_.push_back(static_cast<int>(j));
        } else {
            here.crossed.push_back({static_cast<int>(j), curved_[j] * margins_[j] * margins_[j]});
            score -= gain_[j];
        }
    }
    return score;
}

// Children: each crossed hyperplane in turn, the farthest first, is forced and then given up. A point of the
// node on the far side of a hyperplane at distance d is at least |v|^2 + d^2 away, which bounds each child
// before it is solved.
void Tree::expand(int depth, double attained) {
    Level& here = level(depth);
    std::sort(here.crossed.begin(), here.crossed.end(), [](const Hyperplane& a, const Hyperplane& b) {
        return a.distance2 != b.distance2 ? a.distance2 > b.distance2 : a.index < b.index;
    });
    double score = attained;
    for (const Hyperplane& h : here.crossed) score += gain_[h.index];
    for (const Hyperplane& h : here.crossed) {
        const double best = bound(score, here.squared_norm + h.distance2);
        if (best > incumbent_) {
            if (budget_.exhausted()) {
                open_bound_ = std::max(open_bound_, best);
            } else {
                Level& next = level(depth + 1);
                next.copy_from(here);
                mark_[h.index] = forced;
                forced_.push_back(h.index);
                const Settled settled = settle(next, h.index, ball_.reach2(std::min(score, score_cap_), incumbent_));
                // the same bound after rounding: what a limit leaves open is never less than what would have been found
                next.squared_norm = std::max(next.squared_norm, here.squared_norm + h.distance2);
                if (settled == Settled::yes) process(depth + 1, score);
                if (settled == Settled::unresolved) open_bound_ = std::max(open_bound_, best);
                forced_.pop_back();
            }
        }
        mark_[h.index] = given_up;
        score -= gain_[h.index];
    }
    for (const Hyperplane& h : here.crossed) mark_[h.index] = undecided;
}

// Moves to the nearest point of the cone of the forced hyperplanes, of which `next` is violated.
Tree::Settled Tree::settle(Level& here, int next, double limit) const {
    const bool curved = ball_.rank == p_;
    double allowed = 0.01 * tie_;
    int patience = 100 + 50 * (p_ + static_cast<int>(forced_.size()));
    for (;;) {
        while (next >= 0) {
            if (--patience == 0) return Settled::unresolved;
            const double violation = margin(next, here.point);
            const auto outcome = here.active.add(next, &normal_[static_cast<std::size_t>(next) * p_], violation,
                                                 curved ? limit : std::numeric_limits<double>::infinity());
            if (outcome == ActiveSet::Outcome::too_far) return Settled::too_far;
            if (outcome == ActiveSet::Outcome::infeasible) {
                // A cone is never empty: the violation is a rounding error, larger than is usual. Within the tolerance
                // of ties it may stay.
                if (violation < -tie_ || allowed == tie_) return Settled::unresolved;
                allowed = tie_;
                here.active.reset();
            }
            for (int l = 0; l < p_; ++l) here.point[l] = here.centre[l] + here.active.point()[l];
            next = most_violated(here, allowed);
        }
        here.squared_norm = dot(here.point.data(), here.point.data(), ball_.rank);
        const Settled settled = here.squared_norm > limit ? Settled::too_far : Settled::yes;
        if (curved) return settled;
        // Proximal step: take the flat coordinates reached as the new centre, until they stay. Until then |u| only
        // falls, so that it says nothing about the limit.
        double moved = 0.0;
        double size = 1.0;
        for (int l = ball_.rank; l < p_; ++l) {
            moved += here.active.point()[l] * here.active.point()[l];
            size += here.point[l] * here.point[l];
        }
        if (moved <= Settings::proximal * Settings::proximal * size) return settled;
        for (int l = ball_.rank; l < p_; ++l) here.centre[l] = here.point[l];
        here.point = here.centre;
        here.active.reset();
        next = most_violated(here, allowed);
    }
}

// The forced hyperplane that the point is farthest beyond, or -1 if none by more than `allowed`.
int Tree::most_violated(const Level& here, double allowed) const {
    int worst = -1;
    double least = -allowed;
    for (const int j : forced_) {
        const double side = margin(j, here.point);
        if (side < least) {
            least = side;
            worst = j;
        }
    }
    return worst;
}

double Tree::bound(double score, double squared_norm) const {
    return std::min(score, score_cap_) * ball_.g(std::min(squared_norm, apex_start()));
}

double Tree::margin(int j, const std::vector<double>& point) const {
    return dot(&normal_[static_cast<std::size_t>(j) * p_], point.data(), p_) + distance_[j];
}

void Tree::offer(double score, double value, const std::vector<double>& point) {
    incumbent_ = value;
    found_ = Found::point;
    found_sign_ = sign_;
    found_score_ = score;
    found_point_ = point;
    found_sides_.clear();
    for (const int j : tight_) {
        const int i = member_[j];
        found_sides_.push_back(sign_ * difference_[i] > 0.0 ? i + 1 : -(i + 1));
    }
}

Tree::Level& Tree::level(int depth) {
    while (static_cast<int>(levels_.size()) <= depth) levels_.push_back(std::make_unique<Level>(p_));
    return *levels_[depth];
}

}  // namespace cudbound
