#include "linear_algebra/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cudbound/settings.hpp"

namespace cudbound {

SymmetricEigen::SymmetricEigen(int p, const double* matrix) : values(p), vectors(p * p, 0.0) {
    const auto at = [p](int row, int column) { return row * p + column; };
    Vector<double> a(matrix, matrix + vectors.size());
    for (int k = 0; k < p; ++k) vectors[at(k, k)] = 1.0;
    // turns rows i and j of a matrix by an angle with this sine, s / (1 + c) = half_angle
    const auto turn = [](double* row_i, double* row_j, int stride, int count, double s, double half_angle) {
        for (int l = 0; l < count; ++l) {
            double& x = row_i[static_cast<std::ptrdiff_t>(l) * stride];
            double& y = row_j[static_cast<std::ptrdiff_t>(l) * stride];
            const double before = x;
            x -= s * (y + half_angle * before);
            y += s * (before - half_angle * y);
        }
    };
    double largest = 0.0;
    for (const double x : a) largest = std::max(largest, std::abs(x));
    for (int sweep = 0; sweep < Effort::eigen_sweeps; ++sweep) {
        bool diagonal = true;
        for (int i = 0; i < p; ++i) {
            for (int j = i + 1; j < p; ++j) {
                if (std::abs(a[at(i, j)]) <= Settings::eigen_diagonal * largest) continue;
                diagonal = false;
                const double theta = 0.5 * (a[at(j, j)] - a[at(i, i)]) / a[at(i, j)];
                const double t = (theta < 0.0 ? -1.0 : 1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
                const double c = 1.0 / std::sqrt(t * t + 1.0);
                const double s = t * c;
                turn(&a[at(i, 0)], &a[at(j, 0)], 1, p, s, s / (1.0 + c));
                turn(&a[at(0, i)], &a[at(0, j)], p, p, s, s / (1.0 + c));
                a[at(i, j)] = a[at(j, i)] = 0.0;
                turn(&vectors[at(i, 0)], &vectors[at(j, 0)], 1, p, s, s / (1.0 + c));
            }
        }
        if (diagonal) break;
    }
    for (int k = 0; k < p; ++k) values[k] = a[at(k, k)];
}

}  // namespace cudbound
