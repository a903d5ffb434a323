// Branch and bound for one draw and one sign of the deviation: which side of each hyperplane is worth its loss.
#pragma once

#include "search/apex_gain.hpp"
#include "search/cone_search.hpp"
#include "search/random_paths.hpp"

namespace cudbound {

class SignedSearch final : private ForcingTree {
 public:
    // Values up to `floor` do not matter; the first value above `ceiling` ends the search. In units of scores.
    struct Target {
        double floor = 0.0;
        double ceiling = 0.0;
    };

    SignedSearch(PlacedDraw& draw, ApexGain& apex, Budget& budget)
        : draw_(draw),
          apex_(apex),
          budget_(budget),
          cone_(draw.arrangement),
          cone_search_(draw.arrangement),
          p_(draw.p),
          probe_normal_(draw.p) {
        relaxation_ = draw.relaxation.get();
        if (!relaxation_->is_cheap) return;
        cone_.charge_to(budget);
        apex.charge_to(budget);
    }

    // Looks for a better incumbent. Returns the largest bound of what was left open, 0 if nothing was.
    double explore(double sign, const Target& target, Incumbent& incumbent) {
        target_ = target;
        incumbent_ = &incumbent;
        open_bound_ = 0.0;
        apex_searched_ = false;
        orient(sign, cut());
        if (at_most(score_cap_, cut())) return 0.0;
        if (!relaxation_->found) {  // nothing is known of the loss
            leave_open(score_cap_);
            return open_bound_;
        }
        Level& root = level(0);
        relaxation_->copy(relaxation_->root(), *root.node);
        const double score = score_cap_;
        // With beta = 0 inside the region where g = 1, the best open cell anywhere is the answer.
        if (relaxation_->g(apex_start()) >= 1.0) apex_node(score);
        // It is uncertain whether some direction is flat: what lies far along it is unknown, but for that best cell.
        if (!relaxation_->certain) leave_open(score_cap_);
        const double open = open_bound_;
        patience_ = nodes_before_cones();
        process(0, score);
        if (patience_ <= 0.0) {
            open_bound_ = open;
            search_cones();
        }
        return open_bound_;
    }

    // Looks for a better incumbent along one path: starting at the minimizer, the hyperplane with the most gain for its
    // distance is forced repeatedly. The gains count with their weights on `paths`.
    void dive(double sign, int steps, Incumbent& incumbent, RandomPaths* paths = nullptr) {
        target_ = {0.0, infinity};
        incumbent_ = &incumbent;
        orient(sign, incumbent.value);
        if (!relaxation_->found || at_most(score_cap_, incumbent.value)) return;
        const double score = score_cap_;
        Level& here = level(0);
        relaxation_->copy(relaxation_->root(), *here.node);
        for (int step = 0; step < steps && budget_.spend(); ++step) {
            if (at_most(bound(score, here.node->loss), incumbent.value)) break;
            const double uncrossed = classify(here, score, infinity);
            if (uncrossed > incumbent.value) {
                const double loss = relaxation_->loss_at_point(*here.node);
                const double value = uncrossed * relaxation_->g(loss);
                if (value > incumbent.value && cone_.find(normals(), tight_) == OpenCone::Answer::open) {
                    offer(uncrossed, value, here.node->point);
                }
                if (paths != nullptr && paths->offer(value, loss, forced_, member_)) {
                    paths->near.resize(p_);
                    relaxation_->to_beta(here.node->point.data(), paths->near.data());
                }
            }
            int best = -1;
            double most = 0.0;
            for (const Crossed& h : here.crossed) {
                const double weight = paths != nullptr ? paths->weight(member_[h.index]) : 1.0;
                const double worth = weight * gain_[h.index] / (h.rise > 0.0 ? h.rise : h.distance);
                if (best < 0 || worth > most) {
                    best = h.index;
                    most = worth;
                }
            }
            if (best < 0) break;
            marks_[best] = forced;
            forced_.push_back(best);
            if (settle(*here.node, score) != Relaxation::Settled::yes) break;
        }
        forced_.clear();
    }

 private:
    double cut() const override { return std::max(incumbent_->value, target_.floor); }

    // Turns the hyperplanes to this sign and fixes those that no classifier worth more than the threshold can cross.
    void orient(double sign, double threshold) {
        sign_ = sign;
        fixed_score_ = sign * draw_.constant;
        score_cap_ = fixed_score_;
        member_.clear();
        for (int i = 0; i < draw_.size(); ++i) {
            const double positive = sign * draw_.positive(i);
            const double negative = sign * draw_.negative(i);
            fixed_score_ += std::min(positive, negative);
            score_cap_ += std::max(positive, negative);
            member_.push_back(i);
        }
        if (relaxation_->found && relaxation_->certain) {
            fix_far_hyperplanes(threshold);
            probe(threshold);
            fix_far_hyperplanes(threshold);
        }
        if (at_most(score_cap_, threshold)) return;  // nothing is left to search
        const int k = static_cast<int>(member_.size());
        for (auto* vector : {&normal_, &beta_normal_, &column_}) vector->resize(k * p_);
        for (auto* vector : {&distance_, &gain_, &curved_, &margins_}) vector->resize(k);
        hyperplane_.resize(k);
        crossed_or_tight_.resize(k);
        for (int j = 0; j < k; ++j) {
            const int i = member_[j];
            const double turn = sign * draw_.difference[i] > 0.0 ? 1.0 : -1.0;
            const double* unit = draw_.unit(i);
            const double* in_beta = draw_.normal(i);
            for (int l = 0; l < p_; ++l) {
                normal_.row(j, p_)[l] = turn * unit[l];
                beta_normal_.row(j, p_)[l] = turn * in_beta[l];
                column_.row(l, k)[j] = turn * unit[l];
            }
            hyperplane_[j] = draw_.id[i];
            distance_[j] = turn * draw_.offset[i];
            gain_[j] = std::abs(draw_.difference[i]);
            curved_[j] = draw_.curvature[i];
        }
        turned_ = {p_, normal_.data(), distance_.data(), draw_.tie};
        gains_ = gain_.data();
        marks_.assign(k, undecided);
        forced_.clear();
    }

    // Those that cost too much to cross keep the side of the minimizer.
    void fix_far_hyperplanes(double threshold) {
        for (bool changed = true; changed && !at_most(score_cap_, threshold);) {
            const double reach = relaxation_->reach(score_cap_, threshold);
            std::size_t kept = 0;
            for (const int i : member_) {  // no branch: which are far, and their sides, are random
                const bool is_far = exceeds(draw_.crossing[i], reach);
                const bool gains = (draw_.at_minimizer[i] > 0.0) == (sign_ * draw_.difference[i] > 0.0);
                const double gain = static_cast<double>(is_far) * std::abs(draw_.difference[i]);
                fixed_score_ += static_cast<double>(gains) * gain;
                score_cap_ -= static_cast<double>(!gains) * gain;
                member_[kept] = i;
                kept += !is_far;
            }
            changed = kept != member_.size();
            member_.resize(kept);
        }
    }

    // Where curvature does not tell the cost of crossing a hyperplane, it is found by crossing it.
    void probe(double threshold) {
        if (at_most(score_cap_, threshold)) return;
        Node& node = *level(0).node;
        const double reach = relaxation_->reach(score_cap_, threshold);
        forced_.assign(1, 0);
        for (const int i : member_) {
            if (draw_.curvature[i] > 0.0 || draw_.probed[i] || std::abs(draw_.at_minimizer[i]) <= draw_.tie) continue;
            if (!budget_.go_on()) break;
            const double turn = draw_.at_minimizer[i] > 0.0 ? -1.0 : 1.0;
            const double distance = turn * draw_.offset[i];
            for (int l = 0; l < p_; ++l) probe_normal_[l] = turn * draw_.unit(i)[l];
            relaxation_->copy(relaxation_->root(), node);
            const auto settled =
                relaxation_->settle(node, {p_, probe_normal_.data(), &distance, draw_.tie}, forced_, reach);
            if (settled == Relaxation::Settled::too_far) {
                draw_.crossing[i] = std::max(draw_.crossing[i], std::nextafter(reach, infinity));
            }
            if (settled == Relaxation::Settled::yes) draw_.crossing[i] = std::max(draw_.crossing[i], node.loss);
            draw_.probed[i] = settled == Relaxation::Settled::yes;
        }
        forced_.clear();
    }

    // Cones need squared loss without flat directions. In up to three dimensions they are faster as soon as there are
    // many hyperplanes; in more they end what would take the tree much longer than this.
    double nodes_before_cones() const {
        const bool possible = relaxation_->is_ball && p_ <= Settings::cone_search_dimensions && relaxation_->certain &&
                              relaxation_->error <= Settings::cone_error && draw_.size() >= Settings::cone_least &&
                              std::all_of(curved_.begin(), curved_.end(), [](double curved) { return curved == 1.0; });
        if (!possible) return infinity;
        if (p_ <= 3 && static_cast<int>(gain_.size()) >= Settings::cone_search_many) return 1.0;
        return Settings::cone_search_nodes * std::pow(Settings::cone_search_growth, p_ - 3);
    }

    // The same search by cones of directions from beta = 0. The value at beta = 0 itself has to be known first.
    void search_cones() {
        apex_node(score_cap_);
        if (at_most(score_cap_, cut())) return;
        const CentralHyperplanes all{p_, static_cast<int>(gain_.size()), normal_.data(), gain_.data(), Settings::tie};
        cone_search_.search({all, normals(), distance_.data(), fixed_score_, score_cap_, draw_.tie, relaxation_}, cut(),
                            budget_);
        leave_open(cone_search_.open_bound());
        if (!cone_search_.improved()) return;
        tight_ = cone_search_.sides();
        offer(cone_search_.score(), cone_search_.best(), cone_search_.point());
    }

    void process(int depth, double score) override {
        Level& here = level(depth);
        if (at_most(bound(score, here.node->loss), cut())) return;
        if (!budget_.spend()) {
            leave_open(bound(score, here.node->loss));
            return;
        }
        if (here.node->loss >= apex_start()) {
            apex_node(score);
            return;
        }
        if (--patience_ <= 0.0) return;  // cones take over
        const std::size_t first_dropped = dropped_.size();
        for (;;) {
            const double uncrossed = classify(here, score, most_loss(score));
            double value = uncrossed * relaxation_->g(here.node->loss);
            int culprit = -1;
            if (!at_most(value, cut())) {
                const OpenCone::Answer answer = cone_.find(normals(), tight_);
                if (answer == OpenCone::Answer::open) {
                    const double loss = relaxation_->confirm(*here.node, sides_of_beta(), forced_,
                                                             relaxation_->reach(std::min(score, score_cap_), cut()));
                    if (at_most(bound(score, loss), cut())) break;
                    value = uncrossed * relaxation_->g(loss);
                    if (value > cut()) {
                        offer(uncrossed, value, here.node->point);
                    } else if (!at_most(value, cut())) {
                        leave_open(value);  // NaN
                    }
                } else {
                    // There may be a cell that is too thin to decide: this would be its value.
                    if (answer == OpenCone::Answer::unclear) leave_open(value);
                    for (const int j : cone_.conflict()) {
                        if (marks_[j] != undecided) continue;
                        if (culprit < 0 || gain_[j] < gain_[culprit]) culprit = j;
                    }
                    // the forced sides exclude each other: no open cell
                    if (culprit < 0 && answer == OpenCone::Answer::empty) break;
                }
            }
            if (culprit < 0) {
                expand(depth, uncrossed);
                break;
            }
            // A hyperplane through the point that cannot be reached together with the others: force it, then give it
            // up.
            force(depth, culprit);
            process(depth + 1, score);
            forced_.pop_back();
            marks_[culprit] = given_up;
            dropped_.push_back(culprit);
            score -= gain_[culprit];
            if (at_most(bound(score, here.node->loss), cut()) || patience_ <= 0.0) break;
            if (!budget_.go_on()) {
                leave_open(bound(score, here.node->loss));
                break;
            }
        }
        while (dropped_.size() > first_dropped) {
            marks_[dropped_.back()] = undecided;
            dropped_.pop_back();
        }
    }

    // Sorts the hyperplanes at the node's point into crossed and tight ones; returns the score if no crossed one
    // is reached. Those beyond which the loss is more than `most` are too far.
    double classify(Level& here, double score, double most) {
        const std::size_t k = member_.size();
        std::copy(distance_.begin(), distance_.end(), margins_.begin());
        add_columns(column_.data(), here.node->point.data(), p_, margins_.data(), k);
        tight_.clear();
        here.crossed.clear();
        here.too_far.clear();
        int count = 0;  // without a branch, which would be hard to predict
        for (std::size_t j = 0; j < k; ++j) {
            crossed_or_tight_[count] = static_cast<int>(j);
            count += !(margins_[j] > draw_.near_tie) & (marks_[j] != given_up);
        }
        for (int i = 0; i < count; ++i) {
            const int j = crossed_or_tight_[i];
            const double margin = margins_[j];
            if (marks_[j] == forced || !(margin < -draw_.tie)) {
                tight_.push_back(j);
                continue;
            }
            const double rise = relaxation_->rise(*here.node, curved_[j], -margin, margin - distance_[j]);
            cross(here, {j, rise, -margin}, most);
            score -= gain_[j];
        }
        return score;
    }

    bool may_enter(double bound) override {
        if (patience_ <= 0.0) return false;
        const bool goes_on = budget_.go_on();
        if (!goes_on) leave_open(bound);
        return goes_on;
    }

    // Every closed cell contains beta = 0, so the best open cell of all is worth its score times g there. A node
    // whose nearest point is beta = 0 is worth no more than that.
    void apex_node(double score) {
        const double g = relaxation_->g(apex_start());
        if (at_most(std::min(score, score_cap_) * g, cut())) return;
        if (std::isnan(g)) {  // whatever the best cell is
            leave_open(g);
            return;
        }
        if (!apex_searched_) {
            const double enough = cut() / g - fixed_score_;
            if (!apex_.known(enough)) apex_.search(draw_, enough, budget_);
            apex_proved_ = apex_.known(enough);
            apex_searched_ = true;
            score_cap_ = std::min(score_cap_, fixed_score_ + std::max(apex_.upper(), apex_.best()));
            const double value = (fixed_score_ + apex_.best()) * g;
            if (value > incumbent_->value && apex_.best() >= 0.0) {
                incumbent_->take(value, sign_, fixed_score_ + apex_.best());
                incumbent_->point.assign(p_, 0.0);
                incumbent_->inward = apex_.direction();
                if (sign_ < 0.0) {
                    for (double& x : incumbent_->inward) x = -x;
                }
                if (value > target_.ceiling) budget_.finish(Status::DECIDED);
            }
        }
        if (!apex_proved_) leave_open(std::min(score, score_cap_) * g);
    }

    void leave_open(double bound) override { open_bound_ = with_open(open_bound_, bound); }

    void offer(double score, double value, const Vector<double>& point) {
        Incumbent& best = *incumbent_;
        best.take(value, sign_, score);
        relaxation_->to_beta(point.data(), best.point.data());
        for (const int j : tight_) {
            const int i = member_[j];
            best.sides.push_back(sign_ * draw_.difference[i] > 0.0 ? i + 1 : -(i + 1));
        }
        if (value > target_.ceiling) budget_.finish(Status::DECIDED);
    }

    // All of these hyperplanes pass through beta = 0.
    Sides sides_of_beta() {
        through_apex_.resize(member_.size());
        return {p_, beta_normal_.data(), through_apex_.data(), Settings::tie};
    }

    Normals normals() const { return {beta_normal_.data(), hyperplane_.data()}; }

    PlacedDraw& draw_;
    ApexGain& apex_;
    Budget& budget_;
    OpenCone cone_;
    ConeSearch cone_search_;
    const int p_;

    // the hyperplanes within reach, turned so that the preferred side is positive
    double sign_ = 1.0;
    Vector<int> member_;          // (k) position in the draw
    Vector<int> hyperplane_;      // (k) in the arrangement
    Vector<double> normal_;       // (k, p) unit normals in coordinates of the relaxation
    Vector<double> beta_normal_;  // (k, p) and of beta
    Vector<double> column_;       // (p, k) normal_, transposed
    Vector<double> distance_;     // (k)
    Vector<double> gain_;         // (k)
    Vector<double> curved_;       // (k) curvature
    double fixed_score_ = 0.0;    // score with all of the k on the wrong side

    Target target_;
    Incumbent* incumbent_ = nullptr;
    double open_bound_ = 0.0;     // largest bound of a node that was not fully processed
    double patience_ = 0.0;       // nodes before cones of directions take over
    bool apex_searched_ = false;  // for this sign
    bool apex_proved_ = false;    // no cell is worth more than the incumbent at beta = 0

    Vector<int> dropped_;           // stack: given up because of a conflict
    Vector<double> margins_;        // (k) scratch
    Vector<int> crossed_or_tight_;  // (k) scratch
    Vector<double> probe_normal_;
    Vector<double> through_apex_;  // (k) zeros
};

}  // namespace cudbound
