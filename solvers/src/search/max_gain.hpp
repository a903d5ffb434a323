// How much gain strict homogeneous inequalities can collect at once, by branch and bound.
#pragma once

#include <vector>

#include "cones/open_cone.hpp"
#include "control/budget.hpp"

namespace cudbound {

// The largest total gain of hyperplanes that an open cell has on their positive sides.
// Branch and bound on conflicts: at least one member of each conflict has to be given up. Conflicts that share no gain
// add up to a lower bound on what must be given up, which prunes.
class MaxGain {
 public:
    explicit MaxGain(const Arrangement& arrangement) : p_(arrangement.p), cone_(arrangement) {}

    void charge_to(Budget& budget) { cone_.charge_to(budget); }

    // Searches for a cell with gain above `enough` in at most `nodes` nodes. Afterwards best() is the largest gain
    // found (or -1), direction() a point inside its cell, and upper() an upper bound on max(gain of any cell, enough):
    // equal to max(best, enough) unless nodes or budget ran out, or rounding hides whether cells exist.
    void search(const Normals& normals, const std::vector<double>& gains, double enough, double nodes, Budget& budget);

    double best() const { return best_; }
    double upper() const { return upper_; }
    const std::vector<double>& direction() const { return direction_; }

 private:
    void branch(double given_up);
    bool pack(double given_up);
    void offer(const double* w, double known);

    int p_;
    OpenCone cone_;
    Normals normals_;
    const std::vector<double>* gains_ = nullptr;
    Budget* budget_ = nullptr;
    double nodes_ = 0.0;  // still allowed
    double total_ = 0.0;
    double best_ = -1.0;
    double enough_ = 0.0;
    double upper_ = 0.0;
    std::vector<double> direction_;
    enum Mark : char { free_, kept_, given_up_ };
    std::vector<char> marks_;
    std::vector<int> branches_;      // stack: the conflict that each node of the path branches on
    std::vector<double> remaining_;  // scratch
    std::vector<int> members_;       // scratch
    std::vector<int> conflict_;      // scratch: the free members of a conflict
};

}  // namespace cudbound
