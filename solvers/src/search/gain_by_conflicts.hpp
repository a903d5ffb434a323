// How much gain strict homogeneous inequalities can collect at once, by branch and bound.
#pragma once

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "control/budget.hpp"
#include "linear_algebra/vector.hpp"
#include "search/best_cell.hpp"

namespace cudbound {

// The largest total gain of hyperplanes that an open cell has on their positive sides.
// Branch and bound on conflicts: at least one member of each conflict has to be given up. Conflicts that share no gain
// add up to a lower bound on what must be given up, which prunes.
class GainByConflicts : public ConflictSearch {
 public:
    explicit GainByConflicts(const Arrangement& arrangement)
        : ConflictSearch(arrangement.p), p_(arrangement.p), cone_(arrangement) {}

    void charge_to(Budget& budget) { cone_.charge_to(budget); }

    // Searches for a cell with gain above `enough` in at most `nodes` nodes. Afterwards best() is the largest gain
    // found (or -1), direction() a point inside its cell, and upper() an upper bound on max(gain of any cell, enough):
    // equal to max(best, enough) unless nodes or budget ran out, or rounding hides whether cells exist.
    void search(const CentralHyperplanes& hyperplanes, double enough, double nodes, Budget& budget);

 private:
    void branch(double given_up_gain);
    bool pack(double given_up_gain);
    void offer_cell_of(const double* w, double known_gain);

    int p_;
    OpenCone cone_;
    CentralHyperplanes hyperplanes_;
    Budget* budget_ = nullptr;
    double nodes_ = 0.0;  // still allowed
    double total_ = 0.0;
    Vector<double> remaining_;  // scratch
    Vector<int> members_;       // scratch
    Vector<int> conflict_;      // scratch: the free members of a conflict
};

}  // namespace cudbound
