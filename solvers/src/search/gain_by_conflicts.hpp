// How much gain strict homogeneous inequalities can collect at once, by branch and bound.
#pragma once

#include "search/best_cell.hpp"

namespace cudbound {

// The largest total gain of hyperplanes that an open cell has on their positive sides.
// Branch and bound on conflicts: at least one member of each conflict has to be given up. Conflicts that share no gain
// add up to a lower bound on what must be given up, which prunes.
class GainByConflicts : public ConflictSearch {
 public:
    explicit GainByConflicts(const Arrangement& arrangement) : ConflictSearch(arrangement.p), cone_(arrangement) {}

    void charge_to(Budget& budget) { cone_.charge_to(budget); }

    // See `start`.
    void search(const CentralHyperplanes& hyperplanes, double enough, double nodes, Budget& budget) {
        start(hyperplanes, enough, nodes, budget);
        marks_.assign(hyperplanes.count, undecided);
        branch(0.0);
        end();
    }

 private:
    void branch(double given_up_gain) {
        if (at_most(total_ - given_up_gain, known())) return;
        if (--nodes_ < 0.0 || !budget_->spend()) {
            leave_open(total_ - given_up_gain);
            return;
        }

        const std::size_t begin = branches_.size();
        const auto gain = [this](int j) { return hyperplanes_.gains[j]; };
        if (pack(given_up_gain)) {
            give_up_one(begin, gain, [&](int j) { branch(given_up_gain + gain(j)); });
        }
        branches_.resize(begin);
    }

    // Packs conflicts: each must cost at least the smallest remaining gain of its free members. The first of them is
    // pushed onto the stack. Returns whether to branch on it.
    bool pack(double given_up_gain) {
        const std::size_t begin = branches_.size();
        remaining_.assign(hyperplanes_.gains, hyperplanes_.gains + hyperplanes_.count);
        double packed = 0.0;
        for (;;) {
            members_.clear();
            for (std::size_t j = 0; j < marks_.size(); ++j) {
                if (marks_[j] == kept || (marks_[j] == undecided && remaining_[j] > 0.0))
                    members_.push_back(static_cast<int>(j));
            }
            const OpenCone::Answer answer = cone_.find({hyperplanes_.normals, hyperplanes_.in_arrangement}, members_);
            if (answer == OpenCone::Answer::open) {
                const bool all = branches_.size() == begin;  // everything not given up holds at once
                offer_cell_of(cone_.interior(), all ? total_ - given_up_gain : 0.0);
                return !all;
            }
            const bool unclear = answer == OpenCone::Answer::unclear;
            // a conflict before this one suffices for branching
            if (unclear && branches_.size() > begin) return true;
            // without one, a cell that is too thin may have it all; wider ones are looked for
            if (unclear) leave_open(total_ - given_up_gain);
            conflict_.clear();
            double cost = infinity;
            for (const int j : cone_.conflict()) {
                if (marks_[j] == undecided) {
                    conflict_.push_back(j);
                    cost = std::min(cost, remaining_[j]);
                }
            }
            if (conflict_.empty()) return false;  // the kept hyperplanes exclude each other: no open cell here
            if (branches_.size() == begin) branches_.insert(branches_.end(), conflict_.begin(), conflict_.end());
            if (unclear) return true;
            for (const int j : conflict_) remaining_[j] -= cost;
            packed += cost;
            if (at_most(total_ - given_up_gain - packed, known())) return false;
        }
    }

    // A direction that is known to gain this at least: by how much it clears hyperplanes does not tell that of a thin
    // cell.
    void offer_cell_of(const double* w, double known_gain) {
        // A hyperplane through w counts as not reached: a small move of w keeps the others and may reach it.
        const double clear = Settings::tie * length_of(w, p_);
        if (clear == 0.0) return;  // no constraint was left
        double gain = 0.0;
        for (int j = 0; j < hyperplanes_.count; ++j) {
            if (dot(hyperplanes_.normal(j), w, p_) > clear) gain += hyperplanes_.gains[j];
        }
        offer(std::max(gain, known_gain), w);
    }

    OpenCone cone_;
    Vector<double> remaining_;  // scratch
    Vector<int> members_;       // scratch
    Vector<int> conflict_;      // scratch: the free members of a conflict
};

}  // namespace cudbound
