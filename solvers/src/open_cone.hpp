// Whether strict homogeneous inequalities a_j'w > 0 have a solution.
#pragma once

#include <vector>

#include "active_set.hpp"

namespace cudbound {

// Strict feasibility by min |w|^2 s.t. a_j'w >= 1. If it fails, Gordan's theorem gives a conflict: at most p
// + 1 of the normals with a non-negative combination that vanishes, so that no classifier is on all their
// positive sides.
class OpenCone {
 public:
    explicit OpenCone(int p) : p_(p), active_(p) {}

    // `normals` has shape (count, p), unit rows; only rows listed in `members` are constraints.
    bool find(const double* normals, const std::vector<int>& members);

    const double* interior() const { return active_.point(); }      // after success: a_j'w >= 1 for every member
    const std::vector<int>& conflict() const { return conflict_; }  // after failure: members that exclude each other

 private:
    int p_;
    ActiveSet active_;
    std::vector<int> conflict_;
};

}  // namespace cudbound
