// How much gain strict homogeneous inequalities can collect at once, in up to three dimensions.
#pragma once

#include <vector>

namespace cudbound {

// Every open cell of at least two planes through the origin of R^3 has a facet, and along a facet's plane the
// other planes are lines: sweeping a ray once around each plane visits every cell, O(m^2 log m) in all. In
// R^2 one sweep does.
class PlaneSweep {
 public:
    static constexpr int max_dimension = 3;

    explicit PlaneSweep(int p) : p_(p), direction_(p) {}

    // `normals` has shape (m, p) with p <= max_dimension and m >= 1: unit rows, no two collinear. Afterwards
    // best() is the largest total gain of rows with a_j'w > 0 over open cells, and direction() such a w.
    void search(const double* normals, const std::vector<double>& gains);

    double best() const { return best_; }
    const std::vector<double>& direction() const { return direction_; }

 private:
    struct Line {             // trace of one hyperplane in the swept plane
        double x, y;          // its normal there
        double angle;         // of its ray in the upper half plane, as a monotone number in [0, 2)
        double ray_x, ray_y;  // that ray, |x| + |y| = 1
        double gain;
        bool before;  // positive just before the ray
    };

    double sweep(double extra);  // best gain over the wedges between lines_, plus extra; sets ray_ if it is a new best
    void add_line(double x, double y, double gain);
    double clearance() const;

    int p_;
    double best_ = -1.0;
    std::vector<double> direction_;
    std::vector<Line> lines_;
    double ray_[2] = {0.0, 0.0};
};

}  // namespace cudbound
