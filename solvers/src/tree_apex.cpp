// What every cell is worth near beta = 0, where all hyperplanes meet.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"
#include "tree.hpp"

namespace cudbound {

// Every closed cell contains beta = 0, so the best open cell of all is worth its score times g there. A node
// whose nearest point is beta = 0 is worth no more than that.
void Tree::apex_node(double score) {
    const double g = apex_g();
    if (std::min(score, score_cap_) * g <= incumbent_) return;
    if (!apex_searched_) {
        const double enough = incumbent_ / g - settled_score_;
        // Turning beta around swaps the two signs, so what is known of one sign's gain holds for the other.
        if (gain_upper_ > std::max(gain_best_, enough)) search_apex(enough);
        apex_proved_ = gain_upper_ <= std::max(gain_best_, enough);
        apex_searched_ = true;
        score_cap_ = std::min(score_cap_, settled_score_ + gain_upper_);
        const double value = (settled_score_ + gain_best_) * g;
        if (value > incumbent_) {
            incumbent_ = value;
            found_ = Found::apex;
            found_sign_ = sign_;
            found_score_ = settled_score_ + gain_best_;
            found_point_ = gain_direction_;
            if (sign_ < 0.0) {
                for (double& x : found_point_) x = -x;
            }
        }
    }
    if (!apex_proved_) open_bound_ = std::max(open_bound_, std::min(score, score_cap_) * g);
}

// The arrangement through beta = 0 has every hyperplane of the draw: none was settled, for all are within
// reach.
void Tree::search_apex(double enough) {
    const std::size_t m = id_.size();
    apex_normals_.resize(m * p_);
    apex_gains_.resize(m);
    for (std::size_t i = 0; i < m; ++i) {
        const double turn = difference_[i] > 0.0 ? 1.0 : -1.0;
        const double* normal = &arrangement_.normals[static_cast<std::size_t>(id_[i]) * p_];
        for (int l = 0; l < p_; ++l) apex_normals_[i * p_ + l] = turn * normal[l];
        apex_gains_[i] = std::abs(difference_[i]);
    }
    // Conflicts solve it in few nodes when most hyperplanes can be had at once, visiting all cells when p is small. The
    // conflicts may spend what visiting would cost; visiting then has the last word, unless it is out of reach.
    const double visits = FacetSearch::sweeps(static_cast<int>(m), p_) * static_cast<double>(m);
    const bool reachable = visits <= Settings::most_visits;
    if (p_ > 3) {
        const double nodes = reachable ? visits / Settings::visits_per_node : std::numeric_limits<double>::infinity();
        max_gain_.search(apex_normals_.data(), apex_gains_, std::max(gain_best_, enough), nodes, budget_);
        gain_upper_ = std::min(gain_upper_, max_gain_.upper());
        if (max_gain_.best() > gain_best_) {
            gain_best_ = max_gain_.best();
            gain_direction_ = max_gain_.direction();
        }
        if (gain_upper_ <= std::max(gain_best_, enough) || !reachable) return;
    }
    const bool complete = facet_search_.search(apex_normals_.data(), apex_gains_, budget_);
    if (facet_search_.best() > gain_best_) {
        gain_best_ = facet_search_.best();
        gain_direction_ = facet_search_.direction();
    }
    if (complete) gain_upper_ = gain_best_;
}

// beta = 0 is taken a little closer than it is: a node that close to it is treated as sitting there.
double Tree::apex_start() const { return relaxation_->apex_loss - relaxation_->apex_tolerance; }
double Tree::apex_g() const { return relaxation_->g(apex_start()); }

}  // namespace cudbound
