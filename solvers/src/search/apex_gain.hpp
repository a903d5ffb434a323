// The value of every cell near beta = 0, where all hyperplanes meet.
#pragma once

#include "search/gain_by_cones.hpp"
#include "search/gain_by_conflicts.hpp"
#include "search/placed_draw.hpp"

namespace cudbound {

// The largest total gain that an open cell gets from all hyperplanes of a draw, by conflicts, cones, or both. Changing
// the sign of beta swaps the two signs of the deviation, so what is known about the gain of one sign holds for the
// other.
class ApexGain : public BestCell {
 public:
    explicit ApexGain(const Arrangement& arrangement)
        : BestCell(arrangement.p),
          p_(arrangement.p),
          by_conflicts_(arrangement),
          by_cones_(arrangement, p_, std::make_shared<ExactRank>(arrangement.exact_rows())) {}

    // The work of its conflicts too, as OpenCone does.
    void charge_to(Budget& budget) { by_conflicts_.charge_to(budget); }

    // Another draw.
    void forget() { begin(infinity); }

    // Looks for a cell that gains more than `enough`, or for a proof that there is none.
    // The arrangement through beta = 0 has every hyperplane of the draw: none was fixed, for all are within reach.
    void search(const PlacedDraw& draw, double enough, Budget& budget) {
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
        // Conflicts solve it in few nodes when most hyperplanes can be satisfied at once, cones when p is small,
        // regardless of the number of hyperplanes. Conflicts go first where they may win, for about as long as the
        // cones would take.
        const bool cones =
            p_ <= Settings::most_cone_dimensions && m >= Settings::cone_least && error <= Settings::cone_error;
        const double nodes = cones ? Settings::conflict_nodes * std::pow(Settings::conflict_growth, p_ - 4) : infinity;
        if ((p_ > 3 || !cones) && search_by(by_conflicts_, nodes)) return;
        if (!cones || search_by(by_cones_, infinity) || !budget.go_on()) return;
        // Cones too thin to decide: conflicts of fewer hyperplanes may be certain.
        search_by(by_conflicts_, Settings::cone_leaf_nodes);
    }

    bool known(double enough) const { return at_most(upper_, std::max(best_, enough)); }

 private:
    int p_;
    GainByConflicts by_conflicts_;
    GainByCones by_cones_;
    Vector<double> normals_;
    Vector<double> gains_;
};

}  // namespace cudbound
