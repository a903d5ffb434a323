#include "search/apex_gain.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"

namespace cudbound {

// The arrangement through beta = 0 has every hyperplane of the draw: none was fixed, for all are within reach.
void ApexGain::search(const PlacedDraw& draw, double enough, Budget& budget) {
    const int m = draw.size();
    normals_.clear();
    gains_.clear();
    double error = 0.0;  // of the normals
    for (int i = 0; i < m; ++i) {
        const double turn = draw.difference[i] > 0.0 ? 1.0 : -1.0;
        for (int l = 0; l < p_; ++l) normals_.push_back(turn * draw.normal(i)[l]);
        gains_.push_back(std::abs(draw.difference[i]));
        error = std::max(error, draw.arrangement.errors[draw.id[i]]);
    }
    const double rounding = std::max(Settings::cone_rounding, Settings::certain * error);
    const CentralHyperplanes all{p_, m, normals_.data(), gains_.data(), rounding, draw.id.data()};
    // Returns whether nothing is left to find.
    const auto search_by = [&](auto& search, double nodes) {
        search.search(all, std::max(best_, enough), nodes, budget);
        upper_ = std::min(upper_, search.upper());
        offer(search.best(), search.direction().data());
        return known(enough);
    };
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    // Conflicts solve it in few nodes when most hyperplanes can be satisfied at once, cones when p is small, regardless
    // of the number of hyperplanes. Conflicts go first where they may win, for about as long as the cones would take.
    const bool cones =
        p_ <= Settings::most_cone_dimensions && m >= Settings::cone_least && error <= Settings::cone_error;
    const double nodes = cones ? Settings::conflict_nodes * std::pow(Settings::conflict_growth, p_ - 4) : unlimited;
    if ((p_ > 3 || !cones) && search_by(by_conflicts_, nodes)) return;
    if (!cones || search_by(by_cones_, unlimited) || !budget.go_on()) return;
    // Cones too thin to decide: conflicts of fewer hyperplanes may be certain.
    search_by(by_conflicts_, Settings::cone_leaf_nodes);
}

}  // namespace cudbound
