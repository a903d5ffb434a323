// Subdivision of all directions into simplicial cones, and which hyperplanes cut them.
#pragma once

#include <numeric>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// Hyperplanes through w = 0 whose positive sides have a gain.
struct CentralHyperplanes {
    int p = 0;
    int count = 0;
    const double* normals = nullptr;            // (count, p) unit rows
    const double* gains = nullptr;              // (count) positive
    double rounding = Settings::cone_rounding;  // possible error of sides at points of length 1
    const int* in_arrangement = nullptr;        // (count) which they are there: the rows of the design decide ties

    const double* normal(int j) const { return normals + static_cast<std::ptrdiff_t>(j) * p; }
    double total() const { return std::accumulate(gains, gains + count, 0.0); }
};

// The directions that p of them, the vertices, span with non-negative coefficients, and the hyperplanes that pass
// between the vertices. Reused from search to search, so that its vectors keep their memory.
struct SimplicialCone {
    std::size_t p = 0;
    Vector<double> vertices;  // (p, p), one per row
    Vector<int> cut;          // (k) hyperplanes
    Vector<double> sides;     // (p, k) of the vertices
    double bound = 0.0;       // gain of all hyperplanes that are positive somewhere in the cone, and what is fixed
    int stale = 0;            // bisections since the last one that removed a hyperplane

    // Where the cone is bisected, after SimplicialCones::bisect:
    int ends[2] = {0, 1};           // of the edge: each half has the middle in place of one of them
    double width = 0.0;             // of that edge: the distance of its ends as the cutting hyperplanes measure it
    double bounds[2] = {0.0, 0.0};  // of the halves; the first lacks ends[0]
    Vector<double> point;           // (p) the middle of the edge
    Vector<double> middle;          // (k) its sides
    Vector<double> least, most;     // (k) over it and the vertices that both halves have

    const double* sides_at(int v) const { return sides.row(v, cut.size()); }
    const double* vertex(int v) const { return vertices.row(v, p); }
};

// The cones start as the orthants of an orthonormal basis in general position. An edge between two vertices is
// bisected in its middle, so that the vertices of all cones lie on the flat facets of the orthants: their lengths are
// between 1 / sqrt(p) and 1, and their sides are found by averaging.
//
// A hyperplane is lost to a cone only if its sides at all vertices are less than -rounding, so the bound of the cone
// that holds a point counts every hyperplane that has the point on its positive side, despite rounding. It no longer
// cuts the cone once all sides are at least -rounding.
class SimplicialCones {
 public:
    explicit SimplicialCones(int p);

    std::uint64_t count() const { return std::uint64_t{1} << p_; }  // of the cones at the start

    // The start's cone `which`; `worth` is the value of having all hyperplanes.
    void begin(std::uint64_t which, const CentralHyperplanes& hyperplanes, double worth, SimplicialCone& cone) const;

    // Chooses the edge along which the cutting hyperplanes differ most, and finds its middle and what the halves are
    // worth.
    void bisect(const CentralHyperplanes& hyperplanes, SimplicialCone& cone) const;
    void half(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone, int which,
              SimplicialCone& child) const;

 private:
    int p_;
    Vector<double> basis_;  // (p, p)
};

}  // namespace cudbound
