#include "facet_search.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

FacetSearch::FacetSearch(int p) : p_(p), direction_(p), lifted_(p), levels_(std::max(1, p - 1)) {}

double FacetSearch::sweeps(int m, int p) {
    double count = 1.0;
    for (int k = 0; k < p - 2; ++k) count *= static_cast<double>(m - k) / (k + 1);
    return std::max(count, 1.0);
}

bool FacetSearch::search(const double* normals, const std::vector<double>& gains, Budget& budget) {
    budget_ = &budget;
    best_ = -1.0;
    const int m = static_cast<int>(gains.size());
    Restriction& top = levels_[0];
    top.dimension = p_;
    top.constant = 0.0;
    top.normals.assign(normals, normals + static_cast<std::ptrdiff_t>(m) * p_);
    top.gains = gains;
    top.labels.resize(m);
    for (int j = 0; j < m; ++j) top.labels[j] = j;
    if (p_ == 1) {  // the half line on the positive side of the only hyperplane
        best_ = gains[0];
        direction_ = top.normals;
        return true;
    }
    return descend(0, -1);
}

bool FacetSearch::descend(int depth, int after) {
    const Restriction& here = levels_[depth];
    if (here.dimension == 2) {
        if (!budget_->spend()) return false;
        sweep(here, depth);
        return true;
    }
    if (here.gains.empty()) {  // no hyperplane left: any direction within this flat will do
        offer(here.constant, depth, 1.0, 0.0);
        return true;
    }
    for (int facet = 0; facet < static_cast<int>(here.gains.size()); ++facet) {
        // A cell is visited from its first facet. Every facet of that facet lies on a later one as well.
        if (here.labels[facet] <= after) continue;
        restrict_to(here, facet, levels_[depth + 1]);
        if (!descend(depth + 1, here.labels[facet])) return false;
    }
    return true;
}

void FacetSearch::restrict_to(const Restriction& parent, int facet, Restriction& child) const {
    const int p = parent.dimension;
    const double* a = &parent.normals[static_cast<std::size_t>(facet) * p];
    child.dimension = p - 1;
    child.facet = facet;
    child.constant = parent.constant + parent.gains[facet];  // cells on its positive side are next to it as well
    child.normals.clear();
    child.gains.clear();
    child.labels.clear();

    // The Householder reflection that takes `a` to a coordinate axis takes the other axes to a basis of the facet.
    int axis = 0;
    for (int k = 1; k < p; ++k) {
        if (std::abs(a[k]) > std::abs(a[axis])) axis = k;
    }
    const double sign = a[axis] < 0.0 ? -1.0 : 1.0;
    const double scale = 1.0 / (1.0 + std::abs(a[axis]));
    child.basis.assign(static_cast<std::size_t>(p - 1) * p, 0.0);
    for (int k = 0, row = 0; k < p; ++k) {
        if (k == axis) continue;
        double* e = &child.basis[static_cast<std::size_t>(row++) * p];
        for (int l = 0; l < p; ++l) e[l] = -scale * a[k] * (l == axis ? a[l] + sign : a[l]);
        e[k] += 1.0;
    }

    for (int j = 0; j < static_cast<int>(parent.gains.size()); ++j) {
        if (j == facet) continue;
        const double* b = &parent.normals[static_cast<std::size_t>(j) * p];
        const std::size_t start = child.normals.size();
        for (int row = 0; row < p - 1; ++row) {
            child.normals.push_back(dot(&child.basis[static_cast<std::size_t>(row) * p], b, p));
        }
        double* normal = &child.normals[start];
        const double length = std::sqrt(dot(normal, normal, p - 1));
        if (length <= Settings::thinnest_cone) {  // the facet's own hyperplane, as far as rounding can tell
            if (dot(a, b, p) > 0.0) child.constant += parent.gains[j];
            child.normals.resize(start);
            continue;
        }
        for (int row = 0; row < p - 1; ++row) normal[row] /= length;
        child.gains.push_back(parent.gains[j]);
        child.labels.push_back(parent.labels[j]);
        if (child.dimension > 2) merge_last(child);  // a sweep takes coinciding lines together by itself
    }
}

// Joins the last hyperplane of a restriction with one that it coincides with, if there is one.
void FacetSearch::merge_last(Restriction& r) {
    const int last = static_cast<int>(r.gains.size()) - 1;
    const double* normal = &r.normals[static_cast<std::size_t>(last) * r.dimension];
    for (int j = 0; j < last; ++j) {
        double* other = &r.normals[static_cast<std::size_t>(j) * r.dimension];
        double same = 0.0;
        double opposite = 0.0;
        for (int k = 0; k < r.dimension; ++k) {
            same += (normal[k] - other[k]) * (normal[k] - other[k]);
            opposite += (normal[k] + other[k]) * (normal[k] + other[k]);
        }
        if (std::min(same, opposite) > Settings::thinnest_cone * Settings::thinnest_cone) continue;
        const double gain = r.gains[last];
        if (same <= opposite) {
            r.gains[j] += gain;
        } else if (gain <= r.gains[j]) {
            r.constant += gain;
            r.gains[j] -= gain;
        } else {
            r.constant += r.gains[j];
            r.gains[j] = gain - r.gains[j];
            for (int k = 0; k < r.dimension; ++k) other[k] = normal[k];
        }
        r.labels[j] = std::max(r.labels[j], r.labels[last]);
        r.gains.pop_back();
        r.labels.pop_back();
        r.normals.resize(static_cast<std::size_t>(last) * r.dimension);
        return;
    }
}

void FacetSearch::sweep(const Restriction& plane, int depth) {
    lines_.clear();
    double total = 0.0;
    double score = 0.0;  // of the wedge before the first ray, then of the wedge after each
    for (std::size_t j = 0; j < plane.gains.size(); ++j) {
        const double x = plane.normals[2 * j];
        const double y = plane.normals[2 * j + 1];
        // Of the two rays of the line the one in the upper half plane. If the normal is a quarter turn before it,
        // crossing the ray leaves the normal's side.
        const bool leaves = x > 0.0 || (x == 0.0 && y < 0.0);
        const double scale = (leaves ? 1.0 : -1.0) / (std::abs(x) + std::abs(y));
        const double gain = plane.gains[j];
        lines_.push_back({1.0 + scale * y, -scale * y, scale * x, leaves ? -gain : gain});
        total += gain;
        if (leaves) score += gain;
    }
    const std::size_t m = lines_.size();
    if (m == 0) {
        offer(plane.constant, depth, 1.0, 0.0);
        return;
    }
    std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.angle < b.angle; });
    for (std::size_t j = 0; j < m; ++j) {
        const Line& line = lines_[j];
        score += line.change;
        // the wedge up to the next ray; after the last one it ends at the first ray turned around
        const bool last = j + 1 == m;
        const Line& next = lines_[last ? 0 : j + 1];
        const double width = (last ? next.angle + 2.0 : next.angle) - line.angle;
        if (width <= Settings::thinnest_cone) continue;
        double x = line.ray_x + (last ? -next.ray_x : next.ray_x);
        double y = line.ray_y + (last ? -next.ray_y : next.ray_y);
        if (width >= 2.0 - Settings::thinnest_cone) {  // half a turn, all lines coincide: straight away from them
            x = -line.ray_y;
            y = line.ray_x;
        }
        // the opposite wedge has the gains that this one has not
        if (score >= total - score) {
            offer(plane.constant + score, depth, x, y);
        } else {
            offer(plane.constant + total - score, depth, -x, -y);
        }
    }
}

// Keeps a new best cell. Its direction is found in the plane or flat at `depth`, here the first coordinates (x, y), and
// leaves one facet after the other to its positive side, by less than would cross another hyperplane.
void FacetSearch::offer(double gain, int depth, double x, double y) {
    if (gain <= best_) return;
    best_ = gain;
    direction_.assign(levels_[depth].dimension, 0.0);
    direction_[0] = x;
    direction_[1] = y;
    for (int d = depth; d > 0; --d) {
        const Restriction& child = levels_[d];
        const Restriction& parent = levels_[d - 1];
        const int p = parent.dimension;
        lifted_.assign(p, 0.0);
        for (int row = 0; row < p - 1; ++row) {
            const double* e = &child.basis[static_cast<std::size_t>(row) * p];
            for (int k = 0; k < p; ++k) lifted_[k] += direction_[row] * e[k];
        }
        double clearance = std::sqrt(dot(lifted_.data(), lifted_.data(), p));
        for (int j = 0; j < static_cast<int>(parent.gains.size()); ++j) {
            const double side = std::abs(dot(&parent.normals[static_cast<std::size_t>(j) * p], lifted_.data(), p));
            if (j != child.facet) clearance = std::min(clearance, side);
        }
        const double* a = &parent.normals[static_cast<std::size_t>(child.facet) * p];
        for (int k = 0; k < p; ++k) lifted_[k] += 0.5 * clearance * a[k];
        direction_.swap(lifted_);
    }
}

}  // namespace cudbound
