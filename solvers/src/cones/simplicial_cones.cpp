#include "cones/simplicial_cones.hpp"

#include <algorithm>

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

SimplicialCones::SimplicialCones(int p) : p_(p), basis_(p * p) {
    GenericPoints points;
    for (int k = 0; k < p; ++k) {
        double* row = basis_.row(k, p);
        double length = 0.0;
        while (!(length > Settings::generic_length)) {  // of a vector of length about 1, so that few digits are lost
            points.next(row, p);
            for (int twice = 0; twice < 2; ++twice) subtract_span(basis_.data(), k, row, p);  // that is enough
            length = length_of(row, p);
        }
        for (int l = 0; l < p; ++l) row[l] /= length;
    }
}

void SimplicialCones::begin(std::uint64_t which, const CentralHyperplanes& hyperplanes, double worth,
                            SimplicialCone& cone) const {
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

void SimplicialCones::bisect(const CentralHyperplanes& hyperplanes, SimplicialCone& cone) const {
    const std::size_t k = cone.cut.size();
    double longest = -1.0;
    for (int a = 0; a < p_; ++a) {
        for (int b = a + 1; b < p_; ++b) {
            const double* from = cone.sides_at(a);
            const double* to = cone.sides_at(b);
            double sums[4] = {0.0, 0.0, 0.0, 0.0};  // an order of summation that compilers can vectorize
            std::size_t j = 0;
            for (; j + 4 <= k; j += 4) {
                for (std::size_t l = 0; l < 4; ++l) sums[l] += (from[j + l] - to[j + l]) * (from[j + l] - to[j + l]);
            }
            for (; j < k; ++j) sums[0] += (from[j] - to[j]) * (from[j] - to[j]);
            const double length = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            if (length > longest) {
                longest = length;
                cone.ends[0] = a;
                cone.ends[1] = b;
            }
        }
    }
    cone.width = std::sqrt(std::max(longest, 0.0) / static_cast<double>(std::max<std::size_t>(k, 1)));
    for (int l = 0; l < p_; ++l) cone.point[l] = 0.5 * (cone.vertex(cone.ends[0])[l] + cone.vertex(cone.ends[1])[l]);

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

void SimplicialCones::half(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone, int which,
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

}  // namespace cudbound
