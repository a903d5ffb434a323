#include "max_gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

void MaxGain::search(const double* normals, const std::vector<double>& gains, double enough, double nodes,
                     Budget& budget) {
    normals_ = normals;
    gains_ = &gains;
    budget_ = &budget;
    enough_ = enough;
    nodes_ = nodes;
    total_ = 0.0;
    for (const double gain : gains) total_ += gain;
    best_ = -1.0;
    upper_ = enough;
    direction_.assign(p_, 0.0);
    marks_.assign(gains.size(), free_);
    branch(0.0);
    upper_ = std::max(upper_, best_);
}

void MaxGain::offer(const double* w) {
    // A hyperplane through w counts as not reached: a small move of w keeps the others and may reach it.
    const double clear = Settings::tie * std::sqrt(dot(w, w, p_));
    double gain = 0.0;
    for (std::size_t j = 0; j < gains_->size(); ++j) {
        if (dot(normals_ + j * p_, w, p_) > clear) gain += (*gains_)[j];
    }
    if (gain > best_) {
        best_ = gain;
        direction_.assign(w, w + p_);
    }
}

void MaxGain::branch(double given_up) {
    const auto threshold = [this] { return std::max(best_, enough_); };
    if (total_ - given_up <= threshold()) return;
    if (--nodes_ < 0.0 || !budget_->spend()) {
        upper_ = std::max(upper_, total_ - given_up);
        return;
    }

    // Pack conflicts: each must cost at least the smallest remaining gain of its free members.
    std::vector<double> remaining = *gains_;
    std::vector<int> first;  // the conflict to branch on
    double packed = 0.0;
    for (;;) {
        std::vector<int> members;
        for (std::size_t j = 0; j < marks_.size(); ++j) {
            if (marks_[j] == kept_ || (marks_[j] == free_ && remaining[j] > 0.0))
                members.push_back(static_cast<int>(j));
        }
        if (cone_.find(normals_, members)) {
            offer(cone_.interior());
            break;
        }
        std::vector<int> conflict;
        double cost = std::numeric_limits<double>::infinity();
        for (const int j : cone_.conflict()) {
            if (marks_[j] == free_) {
                conflict.push_back(j);
                cost = std::min(cost, remaining[j]);
            }
        }
        if (conflict.empty()) return;  // what is kept excludes itself: no open cell here
        if (first.empty()) first = conflict;
        for (const int j : conflict) remaining[j] -= cost;
        packed += cost;
        if (total_ - given_up - packed <= threshold()) return;
    }
    if (first.empty()) return;  // everything not given up holds at once

    std::sort(first.begin(), first.end(),
              [this](int a, int b) { return (*gains_)[a] != (*gains_)[b] ? (*gains_)[a] < (*gains_)[b] : a < b; });
    for (const int j : first) {
        marks_[j] = given_up_;
        branch(given_up + (*gains_)[j]);
        marks_[j] = kept_;
    }
    for (const int j : first) marks_[j] = free_;
}

}  // namespace cudbound
