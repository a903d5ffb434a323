#include "plane_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"

namespace cudbound {

void PlaneSweep::search(const double* normals, const std::vector<double>& gains) {
    const int m = static_cast<int>(gains.size());
    best_ = -1.0;
    if (p_ == 1 || m == 1) {
        // one hyperplane: its positive side is a cell
        best_ = gains[0];
        direction_.assign(normals, normals + p_);
        return;
    }
    if (p_ == 2) {
        lines_.clear();
        for (int j = 0; j < m; ++j) add_line(normals[2 * j], normals[2 * j + 1], gains[j]);
        sweep(0.0);
        direction_.assign(ray_, ray_ + 2);
        return;
    }
    for (int i = 0; i < m; ++i) {
        const double* a = normals + 3 * i;
        // orthonormal basis e, f of the plane a'w = 0
        const int smallest = std::abs(a[0]) < std::abs(a[1]) ? (std::abs(a[0]) < std::abs(a[2]) ? 0 : 2)
                                                             : (std::abs(a[1]) < std::abs(a[2]) ? 1 : 2);
        double e[3] = {-a[smallest] * a[0], -a[smallest] * a[1], -a[smallest] * a[2]};
        e[smallest] += 1.0;
        const double length = std::sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
        for (double& x : e) x /= length;
        const double f[3] = {a[1] * e[2] - a[2] * e[1], a[2] * e[0] - a[0] * e[2], a[0] * e[1] - a[1] * e[0]};
        lines_.clear();
        for (int j = 0; j < m; ++j) {
            const double* b = normals + 3 * j;
            if (j != i)
                add_line(b[0] * e[0] + b[1] * e[1] + b[2] * e[2], b[0] * f[0] + b[1] * f[1] + b[2] * f[2], gains[j]);
        }
        const double before = best_;
        sweep(gains[i]);
        if (best_ > before) {
            // leave the facet to its positive side, by less than would cross another plane
            const double step = 0.5 * clearance();
            for (int l = 0; l < 3; ++l) direction_[l] = ray_[0] * e[l] + ray_[1] * f[l] + step * a[l];
        }
    }
}

void PlaneSweep::add_line(double x, double y, double gain) {
    Line line{x, y, 0.0, -y, x, gain, false};
    if (line.ray_y < 0.0 || (line.ray_y == 0.0 && line.ray_x < 0.0)) {
        line.ray_x = -line.ray_x;
        line.ray_y = -line.ray_y;
    }
    const double size = std::abs(x) + std::abs(y);
    line.ray_x /= size;
    line.ray_y /= size;
    line.angle = 1.0 - line.ray_x;  // |ray|_1 = 1 in the upper half plane: monotone from 0 to 2
    // the ray turns counter-clockwise along (-ray_y, ray_x); the normal is positive before it if it points back
    line.before = -x * line.ray_y + y * line.ray_x < 0.0;
    lines_.push_back(line);
}

double PlaneSweep::sweep(double extra) {
    std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.angle < b.angle; });
    double total = extra;
    double score = extra;  // of the wedge before the first ray, then of the wedge after each
    for (const Line& line : lines_) {
        total += line.gain;
        if (line.before) score += line.gain;
    }
    const std::size_t m = lines_.size();
    for (std::size_t j = 0; j < m; ++j) {
        score += lines_[j].before ? -lines_[j].gain : lines_[j].gain;
        // the wedge from this ray to the next; after the last one it ends at the first ray turned around
        const bool last = j + 1 == m;
        const double next_angle = last ? lines_[0].angle + 2.0 : lines_[j + 1].angle;
        if (next_angle - lines_[j].angle <= Settings::thinnest_cone) continue;
        const double next_x = last ? -lines_[0].ray_x : lines_[j + 1].ray_x;
        const double next_y = last ? -lines_[0].ray_y : lines_[j + 1].ray_y;
        double x = lines_[j].ray_x + next_x;
        double y = lines_[j].ray_y + next_y;
        if (m == 1) {  // half a turn: the bisector is the side of the line
            x = -lines_[0].ray_y;
            y = lines_[0].ray_x;
        }
        // the opposite wedge has what this one has not, but for the facet's own gain
        const double opposite = total - score + extra;
        if (std::max(score, opposite) > best_) {
            best_ = std::max(score, opposite);
            const double turn = score >= opposite ? 1.0 : -1.0;
            ray_[0] = turn * x;
            ray_[1] = turn * y;
        }
    }
    return best_;
}

double PlaneSweep::clearance() const {
    double least = 1.0;
    for (const Line& line : lines_) least = std::min(least, std::abs(line.x * ray_[0] + line.y * ray_[1]));
    return least;
}

}  // namespace cudbound
