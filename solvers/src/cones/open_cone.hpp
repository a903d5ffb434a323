// Whether strict homogeneous inequalities a_j'w > 0 have a solution.
#pragma once

#include <memory>

#include "cones/active_set.hpp"
#include "control/budget.hpp"
#include "problem/arrangement.hpp"

namespace cudbound {

// Unit normals, and which hyperplane of the arrangement each of them is: rounding cannot distinguish a thin cone from
// an empty one, but the rows of the design can.
struct Normals {
    const double* rows = nullptr;                  // (count, p)
    const int* hyperplanes = nullptr;              // (count), -1 where it is none of the arrangement; null if none is
    const double* errors = nullptr;                // (count) of the rows, or null for those of the arrangement
    int facets = std::numeric_limits<int>::max();  // from this one on: a_j'w >= 0, in general position
    const double* row(int j, int p) const { return rows + static_cast<std::ptrdiff_t>(j) * p; }
};

// Strict feasibility by min |w|^2 s.t. a_j'w >= 1. If it fails, Gordan's theorem gives a conflict: at most p + 1 of the
// normals with a non-negative combination that vanishes, so that no classifier is on all their positive sides.
class OpenCone {
 public:
    // `unclear`: the conflict may be a cone that is too thin for floating-point numbers.
    enum class Answer { open, empty, unclear };

    explicit OpenCone(const Arrangement& arrangement)
        : OpenCone(arrangement, arrangement.p, std::make_shared<ExactRank>(arrangement.exact_rows())) {}
    // For normals with p entries; `exact` has the rows of the arrangement.
    OpenCone(const Arrangement& arrangement, int p, std::shared_ptr<ExactRank> exact)
        : p_(p), arrangement_(arrangement), active_(p), exact_(std::move(exact)) {}

    // What it takes is charged to this budget from now on.
    void charge_to(Budget& budget) { budget_ = &budget; }

    // Only the normals listed in `members` are constraints.
    Answer find(const Normals& normals, const Vector<int>& members);

    const double* interior() const { return active_.point(); }  // after `open`: a_j'w >= 1 for every member
    // Members that exclude each other; after the other answers, those that leave the least room. No facets.
    const Vector<int>& conflict() const { return conflict_; }

 private:
    Answer look(const Normals& normals, const Vector<int>& members);
    void blame_active(const Normals& normals, int next);
    bool is_certain(const Normals& normals, int next);

    int p_;
    const Arrangement& arrangement_;
    ActiveSet active_;
    const SoftConstraints nothing_;
    std::shared_ptr<ExactRank> exact_;
    Budget* budget_ = nullptr;
    std::int64_t steps_ = 0;       // of the last look
    std::int64_t exact_rows_ = 0;  // of its exact rank
    Vector<int> conflict_;
    Vector<std::int64_t> rows_;  // scratch
    Vector<double> columns_;     // (p, members) scratch: the normals, transposed
    Vector<double> products_;    // (members) scratch
};

}  // namespace cudbound
