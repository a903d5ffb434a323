// Whether hyperplanes that cut a simplicial cone can all be positive at once inside it.
#pragma once

#include <cstdint>
#include <vector>

#include "cones/active_set.hpp"
#include "cones/simplicial_cones.hpp"
#include "problem/exact_rank.hpp"

namespace cudbound {

// In a cone's own coordinates, w = sum of x_v times vertex v with x >= 0, the side of hyperplane j is s_j'x for the
// vector s_j of its sides at the vertices. Strict feasibility is decided by min |x|^2 s.t. s_j'x >= |s_j|, x >= 0. If
// it fails, Gordan's theorem gives weights mu_j >= 0 such that sum of mu_j s_j has no positive entry: nowhere in the
// cone are all of these hyperplanes positive. For p + 1 hyperplanes and facets, weights well above rounding decide;
// fewer have to be dependent, which the rows of the design decide.
class ConeConflicts {
 public:
    enum class Verdict { open, conflict, unknown };

    // Hyperplanes that span p dimensions; `exact` outlives this object.
    ConeConflicts(int p, ExactRank& exact);

    void set(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone);

    // Of the hyperplanes that cut the cone, those at the positions j with wanted[j].
    Verdict find(const std::vector<char>& wanted);

    const std::vector<double>& point() const { return point_; }  // after `open`: inside, of the cone as well
    // Positions that exclude each other; after the other verdicts, those that leave the least room.
    const std::vector<int>& conflict() const { return conflict_; }

 private:
    bool is_certain(int next);
    void blame_active(int next);

    int p_;
    ExactRank& exact_;
    CentralHyperplanes hyperplanes_;
    const SimplicialCone* cone_ = nullptr;
    ActiveSet active_;
    std::vector<double> rows_;     // (k, p) unit s_j
    std::vector<double> lengths_;  // (k)
    std::vector<double> axis_;     // (p) scratch
    std::vector<double> point_;    // (p)
    std::vector<int> conflict_;
    std::vector<std::int64_t> members_;  // scratch: their rows
};

}  // namespace cudbound
