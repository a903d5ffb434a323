// The sides of hyperplanes on which a point lies.
#pragma once

#include <cstddef>
#include <vector>

namespace cudbound {

// Hyperplanes in the coordinates of a relaxation; side j of a point v is normal_j'v + distance_j.
struct Sides {
    int p = 0;
    const double* normals = nullptr;    // (k, p) unit rows
    const double* distances = nullptr;  // (k)
    double tie = 0.0;                   // sides up to this may be rounding errors

    const double* normal(int j) const { return normals + static_cast<std::size_t>(j) * p; }
    double side(int j, const double* point) const {
        double sum = distances[j];
        for (int l = 0; l < p; ++l) sum += normal(j)[l] * point[l];
        return sum;
    }
    // The member of `members` that the point violates most, or -1 if none by more than `allowed`.
    int most_violated(const std::vector<int>& members, const double* point, double allowed) const {
        int worst = -1;
        double least = -allowed;
        for (const int j : members) {
            const double here = side(j, point);
            if (here < least) {
                least = here;
                worst = j;
            }
        }
        return worst;
    }
};

}  // namespace cudbound
