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
      relaxation_(make_relaxation(problem, arrangement)),
      budget_(limits, stop),
      cone_(p_),
      max_gain_(p_),
      facet_search_(p_),
      own_weights_(problem.n),
      minimiser_(relaxation_->make_node()),
      found_point_(p_) {}

Outcome Tree::solve(std::int64_t draw, Side side, double* witness) {
    budget_.start();
    prepare(draw);
    incumbent_ = 0.0;
    open_bound_ = 0.0;
    found_ = Found::point;
    found_sign_ = 1.0;
    found_score_ = 0.0;
    found_point_ = relaxation_->anchor;
    found_sides_.clear();
    gain_best_ = -1.0;
    gain_upper_ = std::numeric_limits<double>::infinity();

    const double signs[] = {1.0, -1.0};
    const auto counts = [side](double sign) { return side == Side::BOTH || (side == Side::POSITIVE) == (sign > 0.0); };
    // The anchor and the minimiser lie in cells with g = 1: a first incumbent for either sign.
    offer_start(relaxation_->anchor, counts(1.0), counts(-1.0));
    if (relaxation_->found) offer_start(minimiser_->point, counts(1.0), counts(-1.0));
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

    relaxation_->set(draw);
    relaxation_->start(*minimiser_);
    scores_.tally(arrangement_, problem_.labels, weights);
    constant_score_ = scores_.fixed;
    id_.clear();
    difference_.clear();
    for (int h = 0; h < arrangement_.count; ++h) {
        const double difference = scores_.positive[h] - scores_.negative[h];
        if (std::abs(difference) <= rounding_) {
            constant_score_ += scores_.positive[h];
        } else {
            id_.push_back(h);
            difference_.push_back(difference);
        }
    }
    const std::size_t m = id_.size();
    unit_.resize(m * p_);
    offset_.resize(m);
    curvature_.resize(m);
    at_minimiser_.resize(m);
    crossing_.resize(m);
    probed_.resize(m);
    for (std::size_t i = 0; i < m; ++i) {
        curvature_[i] = relaxation_->transform(&arrangement_.normals[static_cast<std::size_t>(id_[i]) * p_],
                                               &unit_[i * p_], &offset_[i]);
        at_minimiser_[i] = dot(&unit_[i * p_], minimiser_->point.data(), p_) + offset_[i];
        crossing_[i] = minimiser_->loss + curvature_[i] * at_minimiser_[i] * at_minimiser_[i];
        probed_[i] = false;
    }
    tie_ = Settings::tie * relaxation_->extent;
}

// A cell next to the point scores at least what the hyperplanes clear of the point give.
void Tree::offer_start(const std::vector<double>& point, bool positive_counts, bool negative_counts) {
    double scores[] = {constant_score_, -constant_score_};
    for (std::size_t i = 0; i < id_.size(); ++i) {
        const double side = dot(&unit_[i * p_], point.data(), p_) + offset_[i];
        const double positive = scores_.positive[id_[i]];
        const double negative = scores_.negative[id_[i]];
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
        const double positive = sign * scores_.positive[id_[i]];
        const double negative = sign * scores_.negative[id_[i]];
        settled_score_ += std::min(positive, negative);
        score_cap_ += std::max(positive, negative);
        member_.push_back(static_cast<int>(i));
    }
    if (relaxation_->found) {
        settle_far_hyperplanes();
        probe();
        settle_far_hyperplanes();
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
        curved_[j] = curvature_[i];
    }
    mark_.assign(k, undecided);
    forced_.clear();
    margins_.resize(k);
}

// Those that cost too much to cross keep the side of the minimiser.
void Tree::settle_far_hyperplanes() {
    for (bool changed = true; changed && score_cap_ > incumbent_;) {
        const double reach = relaxation_->reach(score_cap_, incumbent_);
        const std::size_t before = member_.size();
        std::erase_if(member_, [&](int i) {
            if (crossing_[i] <= reach) return false;
            const double gain = std::abs(difference_[i]);
            if ((at_minimiser_[i] > 0.0) == (sign_ * difference_[i] > 0.0)) {
                settled_score_ += gain;
            } else {
                score_cap_ -= gain;
            }
            return true;
        });
        changed = member_.size() != before;
    }
}

// Where curvature says nothing of what crossing a hyperplane costs, that is found out by crossing it.
void Tree::probe() {
    if (score_cap_ <= incumbent_) return;
    Node& node = *level(0).node;
    const double reach = relaxation_->reach(score_cap_, incumbent_);
    const double distance = 0.0;
    probe_normal_.resize(p_);
    forced_.assign(1, 0);
    for (const int i : member_) {
        if (curvature_[i] > 0.0 || probed_[i] || std::abs(at_minimiser_[i]) <= tie_) continue;
        for (int l = 0; l < p_; ++l) {
            const double x = unit_[static_cast<std::size_t>(i) * p_ + l];
            probe_normal_[l] = at_minimiser_[i] > 0.0 ? -x : x;
        }
        relaxation_->copy(*minimiser_, node);
        const auto settled = relaxation_->settle(node, {p_, probe_normal_.data(), &distance, tie_}, forced_, reach);
        if (settled == Relaxation::Settled::too_far)
            crossing_[i] = std::max(crossing_[i], std::nextafter(reach, 1e300));
        if (settled == Relaxation::Settled::yes) crossing_[i] = std::max(crossing_[i], node.loss);
        probed_[i] = settled == Relaxation::Settled::yes;
    }
    forced_.clear();
}

void Tree::explore() {
    if (score_cap_ <= incumbent_) return;
    if (!relaxation_->found) {  // nothing is known of the loss
        open_bound_ = std::max(open_bound_, score_cap_);
        return;
    }
    Level& root = level(0);
    relaxation_->copy(*minimiser_, *root.node);
    const double score = score_cap_;
    // With beta = 0 inside the region where g = 1, the best open cell anywhere is the answer.
    if (apex_g() >= 1.0) apex_node(score);
    process(0, score);
}

void Tree::process(int depth, double score) {
    Level& here = level(depth);
    if (bound(score, here.node->loss) <= incumbent_) return;
    if (!budget_.spend()) {
        open_bound_ = std::max(open_bound_, bound(score, here.node->loss));
        return;
    }
    if (here.node->loss >= apex_start()) {
        apex_node(score);
        return;
    }
    const std::size_t first_dropped = dropped_.size();
    for (;;) {
        double attained = classify(here, score);
        const double g = relaxation_->g(here.node->loss);
        int culprit = -1;
        if (attained * g > incumbent_) {
            if (cone_.find(normal_.data(), tight_)) {
                offer(attained, attained * g, here.node->point);
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
        relaxation_->copy(*here.node, *next.node);
        mark_[culprit] = forced;
        forced_.push_back(culprit);
        process(depth + 1, score);
        forced_.pop_back();
        mark_[culprit] = given_up;
        dropped_.push_back(culprit);
        score -= gain_[culprit];
        if (bound(score, here.node->loss) <= incumbent_) break;
        if (budget_.exhausted()) {
            open_bound_ = std::max(open_bound_, bound(score, here.node->loss));
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
        const double along = here.node->point[l];
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
            here.crossed.push_back({static_cast<int>(j), curved_[j] * margins_[j] * margins_[j], -margins_[j]});
            score -= gain_[j];
        }
    }
    return score;
}

// Children: each crossed hyperplane in turn, the most expensive first (without curvature the most distant), is forced
// and then given up. What is known of the loss beyond it bounds each child before it is solved.
void Tree::expand(int depth, double attained) {
    Level& here = level(depth);
    std::sort(here.crossed.begin(), here.crossed.end(), [](const Hyperplane& a, const Hyperplane& b) {
        if (a.rise != b.rise) return a.rise > b.rise;
        return a.distance != b.distance ? a.distance > b.distance : a.index < b.index;
    });
    double score = attained;
    for (const Hyperplane& h : here.crossed) score += gain_[h.index];
    for (const Hyperplane& h : here.crossed) {
        const double best = bound(score, here.node->loss + h.rise);
        if (best > incumbent_) {
            if (budget_.exhausted()) {
                open_bound_ = std::max(open_bound_, best);
            } else {
                Level& next = level(depth + 1);
                relaxation_->copy(*here.node, *next.node);
                mark_[h.index] = forced;
                forced_.push_back(h.index);
                using Settled = Relaxation::Settled;
                const Settled settled = relaxation_->settle(
                    *next.node, sides(), forced_, relaxation_->reach(std::min(score, score_cap_), incumbent_));
                // the same bound after rounding: what a limit leaves open is never less than what would have been found
                next.node->loss = std::max(next.node->loss, here.node->loss + h.rise);
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

double Tree::bound(double score, double loss) const {
    return std::min(score, score_cap_) * relaxation_->g(std::min(loss, apex_start()));
}

Sides Tree::sides() const { return {p_, normal_.data(), distance_.data(), tie_}; }

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
    while (static_cast<int>(levels_.size()) <= depth) {
        levels_.push_back(std::make_unique<Level>());
        levels_.back()->node = relaxation_->make_node();
    }
    return *levels_[depth];
}

}  // namespace cudbound
