// The value of every cell near beta = 0, where all hyperplanes meet.
#pragma once

#include <limits>
#include <memory>

#include "control/budget.hpp"
#include "control/prunes.hpp"
#include "linear_algebra/vector.hpp"
#include "search/best_cell.hpp"
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
    void forget() { begin(std::numeric_limits<double>::infinity()); }

    // Looks for a cell that gains more than `enough`, or for a proof that there is none.
    void search(const PlacedDraw& draw, double enough, Budget& budget);

    bool known(double enough) const { return at_most(upper_, std::max(best_, enough)); }

 private:
    int p_;
    GainByConflicts by_conflicts_;
    GainByCones by_cones_;
    Vector<double> normals_;
    Vector<double> gains_;
};

}  // namespace cudbound
