// How much gain strict homogeneous inequalities can collect at once, by visiting every open cell.
#pragma once

#include <vector>

#include "budget.hpp"

namespace cudbound {

// Every open cell has a facet, and along a facet's hyperplane the other hyperplanes form an arrangement of one
// dimension less. Restricting to facets until a plane is left and sweeping a ray once around it visits all cells: C(m,
// p - 2) sweeps of O(m log m). Facets are taken in order: a cell is found at its first one.
class FacetSearch {
 public:
    explicit FacetSearch(int p);

    // Number of planes that a search among m hyperplanes sweeps.
    static double sweeps(int m, int p);

    // `normals` has shape (m, p), m >= 1, unit rows, no two collinear. Afterwards best() is the largest total gain of
    // rows with a_j'w > 0 over open cells and direction() such a w; if the budget ran out, over the cells visited.
    // Returns whether all cells were visited.
    bool search(const double* normals, const std::vector<double>& gains, Budget& budget);

    double best() const { return best_; }
    const std::vector<double>& direction() const { return direction_; }

 private:
    // Hyperplanes that coincide along the facets chosen so far count as one, with the net gain of its positive side.
    struct Restriction {
        int dimension = 0;
        double constant = 0.0;        // gain collected whatever the cell
        std::vector<double> normals;  // (count, dimension) unit rows
        std::vector<double> gains;    // (count) non-negative
        std::vector<int> labels;      // (count) largest index among the hyperplanes that coincide
        std::vector<double> basis;    // (dimension, dimension + 1) orthonormal rows: the facet within its parent
        int facet = -1;               // row of the parent this one restricts to
    };
    struct Line {             // trace of a hyperplane in the swept plane
        double angle;         // of its ray in the upper half plane, as a monotone number in [0, 2)
        double ray_x, ray_y;  // that ray, |x| + |y| = 1
        double change;        // of the gain when the ray is crossed counter-clockwise
    };

    bool descend(int depth, int after);
    void restrict_to(const Restriction& parent, int facet, Restriction& child) const;
    static void merge_last(Restriction& restriction);
    void sweep(const Restriction& plane, int depth);
    void offer(double gain, int depth, double x, double y);

    int p_;
    double best_ = -1.0;
    std::vector<double> direction_;
    std::vector<double> lifted_;       // scratch
    std::vector<Restriction> levels_;  // levels_[d] has dimension p - d
    std::vector<Line> lines_;
    Budget* budget_ = nullptr;
};

}  // namespace cudbound
