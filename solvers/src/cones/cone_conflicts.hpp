// Whether hyperplanes that cut a simplicial cone can all be positive at once inside it.
#pragma once

#include <memory>
#include <vector>

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"

namespace cudbound {

// In a cone's own coordinates, w = sum of x_v times vertex v with x >= 0, the side of hyperplane j is s_j'x for the
// vector s_j of its sides at the vertices: these and the facets x_v >= 0 form a cone that is open or empty.
class ConeConflicts {
 public:
    // Hyperplanes that span p dimensions.
    ConeConflicts(const Arrangement& arrangement, int p, std::shared_ptr<ExactRank> exact)
        : p_(p), cone_(arrangement, p, std::move(exact)), point_(p) {}

    void set(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone);

    // Of the hyperplanes that cut the cone, those at the positions j with wanted[j].
    OpenCone::Answer find(const std::vector<char>& wanted);

    const std::vector<double>& point() const { return point_; }  // after `open`: inside, of the cone as well
    const std::vector<int>& conflict() const { return cone_.conflict(); }

 private:
    int p_;
    OpenCone cone_;
    const SimplicialCone* within_ = nullptr;
    std::vector<double> rows_;      // (k + p, p) unit s_j, and the facets
    std::vector<double> errors_;    // (k)
    std::vector<int> hyperplanes_;  // (k)
    std::vector<int> members_;
    std::vector<double> point_;  // (p)
};

}  // namespace cudbound
