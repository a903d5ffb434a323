// How much gain strict homogeneous inequalities can collect at once, by subdividing the directions.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "control/budget.hpp"
#include "linear_algebra/vector.hpp"
#include "search/best_cell.hpp"

namespace cudbound {

// The largest total gain of hyperplanes a_j'w = 0 that an open cell has on their positive sides.
//
// Branch and bound on simplicial cones. A hyperplane cuts a cone or leaves it on one side, as its signs at the vertices
// show; those that cut it count as collected. Where few of them are left, conflicts between them decide it: at
// least one member of each conflict has to be given up. Where all that are left share a line or a larger flat, they
// form an arrangement in fewer dimensions around it, whose cells are searched in turn.
class GainByCones : public ConflictSearch {
 public:
    // For normals with p entries; `exact` has the rows of the arrangement.
    GainByCones(const Arrangement& arrangement, int p, std::shared_ptr<ExactRank> exact);

    // Searches for a cell with gain above `enough` in at most `nodes` nodes of the budget, each of which pays for
    // Settings::cones_per_node cones. No two normals may be collinear, and their rows span no more than p dimensions.
    // Afterwards best() is the largest gain found (or -1), direction() a point inside its cell, clear of every
    // hyperplane, and upper() an upper bound on max(gain of any cell, enough): equal to max(best, enough) unless nodes
    // or budget ran out, or rounding prevents telling whether some cell is open.
    void search(const CentralHyperplanes& hyperplanes, double enough, double nodes, Budget& budget);

 private:
    // What is left of an arrangement around a flat that all of its hyperplanes contain.
    struct Flat {
        Vector<double> normals;      // (k, rank)
        Vector<double> gains;        // (k)
        Vector<int> in_arrangement;  // (k)
        std::unique_ptr<GainByCones> cones;
    };

    void process(int depth);
    void search_leaf(const SimplicialCone& cone);
    OpenCone::Answer find_conflict(const SimplicialCone& cone);
    void branch(const SimplicialCone& cone, double bound);
    void search_around_flat(SimplicialCone& cone);
    int span(const SimplicialCone& cone, std::size_t rows);
    bool offer_cell_of(const double* w);
    double cut() const { return known() + rounding_; }
    bool spend(double bound);
    SimplicialCone& level(int depth) { return at_depth(levels_, depth); }

    int p_;
    const Arrangement& arrangement_;
    std::shared_ptr<ExactRank> exact_;
    SimplicialCones cones_;
    CentralHyperplanes hyperplanes_;
    Budget* budget_ = nullptr;
    double nodes_ = 0.0;     // still allowed
    int paid_ = 0;           // cones that the last node pays for
    int leaf_nodes_ = 0;     // still allowed in the leaf
    double rounding_ = 0.0;  // error that sums of gains may carry
    std::deque<SimplicialCone> levels_;

    // the leaf, in its own coordinates
    OpenCone open_;
    Vector<double> rows_;    // (k + p, p) unit sides at the vertices of the hyperplanes that cut it, and its facets
    Vector<double> errors_;  // (k)
    Vector<int> cut_;        // (k) in the arrangement
    Vector<int> wanted_;     // scratch: those not given up, and the facets

    Vector<double> rest_;           // (k, p) scratch: the parts of normals outside of the span found so far
    Vector<double> basis_;          // (p, p) orthonormal rows, of that span
    double outside_ = 0.0;          // what rounding left of the normals outside of it
    Vector<double> trial_;          // (p) scratch
    Vector<std::int64_t> members_;  // scratch
    Vector<Flat> flats_;            // (p) by rank
};

}  // namespace cudbound
