// Subdivision of all directions into simplicial cones, and which hyperplanes cut them.
#pragma once

#include <numeric>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

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
    explicit SimplicialCones(int p) : p_(p), basis_(p * p) {
        GenericPoints points;
        for (int k = 0; k < p; ++k) {
            double* row = basis_.row(k, p);
            double length = 0.0;
            // of a vector of length about 1, so that few digits are lost
            while (!(length > Settings::generic_length)) {
                points.next(row, p);
                for (int twice = 0; twice < 2; ++twice) subtract_span(basis_.data(), k, row, p);  // that is enough
                length = length_of(row, p);
            }
            for (int l = 0; l < p; ++l) row[l] /= length;
        }
    }

    std::uint64_t count() const { return std::uint64_t{1} << p_; }  // of the cones at the start

    // The start's cone `which`; `worth` is the value of having all hyperplanes.
    void begin(std::uint64_t which, const CentralHyperplanes& hyperplanes, double worth, SimplicialCone& cone) const {
        const auto size = static_cast<std::size_t>(p_);
        cone.p = size;
        cone.vertices.resize(size * size);
        cone.point.resize(size);
        for (std::size_t v = 0; v < size; ++v) {
            const double sign = (which >> v) % 2 == 0 ? 1.0 : -1.0;
            for (std::size_t l = 0; l < size; ++l) cone.vertices[v * size + l] = sign * basis_[v * size + l];
        }
        cone.bound = worth;
        cone.stale = 0;
        cone.cut.clear();
        for (int j = 0; j < hyperplanes.count; ++j) {
            double least = 1.0;
            double most = -1.0;
            for (int v = 0; v < p_; ++v) {
                const double side = dot(hyperplanes.normal(j), cone.vertex(v), p_);
                least = std::min(least, side);
                most = std::max(most, side);
            }
            if (most < -hyperplanes.rounding) {
                cone.bound -= hyperplanes.gains[j];
            } else if (least < -hyperplanes.rounding) {
                cone.cut.push_back(j);
            }
        }
        const std::size_t k = cone.cut.size();
        cone.sides.resize(size * k);
        for (std::size_t v = 0; v < size; ++v) {
            for (std::size_t j = 0; j < k; ++j) {
                cone.sides[v * k + j] = dot(hyperplanes.normal(cone.cut[j]), cone.vertex(static_cast<int>(v)), p_);
            }
        }
    }

    // Chooses the edge along which the cutting hyperplanes differ most, and finds its middle and what the halves are
    // worth.
    void bisect(const CentralHyperplanes& hyperplanes, SimplicialCone& cone) const {
        const std::size_t k = cone.cut.size();
        double longest = -1.0;
        for (int a = 0; a < p_; ++a) {
            for (int b = a + 1; b < p_; ++b) {
                const double* from = cone.sides_at(a);
                const double* to = cone.sides_at(b);
                const double length =
                    sum_in_fours(k, [&](std::size_t j) { return (from[j] - to[j]) * (from[j] - to[j]); });
                if (length > longest) {
                    longest = length;
                    cone.ends[0] = a;
                    cone.ends[1] = b;
                }
            }
        }
        cone.width = std::sqrt(std::max(longest, 0.0) / static_cast<double>(std::max<std::size_t>(k, 1)));
        for (int l = 0; l < p_; ++l)
            cone.point[l] = 0.5 * (cone.vertex(cone.ends[0])[l] + cone.vertex(cone.ends[1])[l]);

        const double* ends[] = {cone.sides_at(cone.ends[0]), cone.sides_at(cone.ends[1])};
        cone.middle.resize(k);
        cone.least.resize(k);
        cone.most.resize(k);
        for (std::size_t j = 0; j < k; ++j) {
            cone.middle[j] = 0.5 * (ends[0][j] + ends[1][j]);
            cone.least[j] = cone.middle[j];
            cone.most[j] = cone.middle[j];
        }
        for (int v = 0; v < p_; ++v) {
            if (v == cone.ends[0] || v == cone.ends[1]) continue;
            const double* sides = cone.sides_at(v);
            for (std::size_t j = 0; j < k; ++j) {
                cone.least[j] = std::min(cone.least[j], sides[j]);
                cone.most[j] = std::max(cone.most[j], sides[j]);
            }
        }
        cone.bounds[0] = cone.bounds[1] = cone.bound;
        for (std::size_t j = 0; j < k; ++j) {
            if (cone.most[j] >= -hyperplanes.rounding) continue;
            const double gain = hyperplanes.gains[cone.cut[j]];
            if (ends[1][j] < -hyperplanes.rounding) cone.bounds[0] -= gain;
            if (ends[0][j] < -hyperplanes.rounding) cone.bounds[1] -= gain;
        }
    }

    void half(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone, int which,
              SimplicialCone& child) const {
        const std::size_t k = cone.cut.size();
        const int replaced = cone.ends[which];
        const double* stays = cone.sides_at(cone.ends[1 - which]);
        child.p = cone.p;
        child.vertices = cone.vertices;
        child.point.resize(cone.p);
        std::copy(cone.point.begin(), cone.point.end(),
                  child.vertices.begin() + static_cast<std::ptrdiff_t>(replaced) * p_);
        child.bound = cone.bounds[which];
        child.cut.resize(k);
        child.sides.resize(std::ssize(cone.cut) * p_);
        std::size_t kept = 0;
        for (std::size_t j = 0; j < k; ++j) {  // positions first, without branches
            child.cut[kept] = static_cast<int>(j);
            const bool cuts = std::max(cone.most[j], stays[j]) >= -hyperplanes.rounding &&
                              std::min(cone.least[j], stays[j]) < -hyperplanes.rounding;
            kept += cuts ? 1U : 0U;
        }
        for (int v = 0; v < p_; ++v) {
            const double* from = v == replaced ? cone.middle.data() : cone.sides_at(v);
            double* to = child.sides.row(v, kept);
            for (std::size_t j = 0; j < kept; ++j) to[j] = from[child.cut[j]];
        }
        child.cut.resize(kept);
        for (int& j : child.cut) j = cone.cut[j];
        child.stale = kept == k ? cone.stale + 1 : 0;
    }

 private:
    int p_;
    Vector<double> basis_;  // (p, p)
};

}  // namespace cudbound
