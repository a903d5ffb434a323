#include "search/apex_gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"

namespace cudbound {

// The arrangement through beta = 0 has every hyperplane of the draw: none was settled, for all are within
// reach.
void ApexGain::search(const DrawView& view, double enough, Budget& budget) {
    const int m = view.size();
    normals_.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(p_));
    gains_.resize(static_cast<std::size_t>(m));
    double error = 0.0;  // of the normals
    for (int i = 0; i < m; ++i) {
        const double difference = view.difference[static_cast<std::size_t>(i)];
        const double turn = difference > 0.0 ? 1.0 : -1.0;
        for (int l = 0; l < p_; ++l) {
            normals_[static_cast<std::size_t>(i) * static_cast<std::size_t>(p_) + static_cast<std::size_t>(l)] =
                turn * view.normal(i)[l];
        }
        gains_[static_cast<std::size_t>(i)] = std::abs(difference);
        const auto h = static_cast<std::size_t>(view.id[static_cast<std::size_t>(i)]);
        error = std::max(error, view.arrangement.errors[h]);
    }
    // Conflicts solve it in few nodes when most hyperplanes can be satisfied at once, cones when p is small, regardless
    // of the number of hyperplanes. Conflicts go first where they may win, for about as long as the cones would take.
    const bool cones =
        p_ <= Settings::most_cone_dimensions && m >= Settings::cone_least && error <= Settings::cone_error;
    const double nodes = cones ? Settings::conflict_nodes * std::pow(Settings::conflict_growth, p_ - 4)
                               : std::numeric_limits<double>::infinity();
    if (p_ > 3 || !cones) {
        max_gain_.search({normals_.data(), view.id.data()}, gains_, std::max(best_, enough), nodes, budget);
        take(max_gain_);
        if (known(enough)) return;
    }
    if (!cones) return;
    const CentralHyperplanes hyperplanes{p_,
                                         m,
                                         normals_.data(),
                                         gains_.data(),
                                         std::max(Settings::cone_rounding, Settings::certain * error),
                                         view.id.data()};
    direction_cones_.search(hyperplanes, std::max(best_, enough), std::numeric_limits<double>::infinity(), budget);
    take(direction_cones_);
    if (known(enough) || !budget.go_on()) return;
    // Cones too thin to decide: conflicts of fewer hyperplanes may be certain.
    max_gain_.search({normals_.data(), view.id.data()}, gains_, std::max(best_, enough), Settings::cone_leaf_nodes,
                     budget);
    take(max_gain_);
}

template <class Search>
void ApexGain::take(const Search& search) {
    upper_ = std::min(upper_, search.upper());
    if (search.best() <= best_) return;
    best_ = search.best();
    direction_ = search.direction();
}

}  // namespace cudbound
