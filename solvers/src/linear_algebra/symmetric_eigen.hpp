// Eigenvalues and eigenvectors of small symmetric matrices.
#pragma once

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// matrix (p, p) = sum_k values[k] e_k e_k', e_k in row k of vectors (p, p). Cyclic Jacobi rotations: eigenvectors are
// orthonormal to rounding, eigenvalues have errors of rounding relative to the largest (Golub & Van Loan, Matrix
// Computations, 4th ed., section 8.5).
struct SymmetricEigen {
    Vector<double> values;   // (p), in no order
    Vector<double> vectors;  // (p, p) row-major

    SymmetricEigen(int p, const double* matrix) : values(p), vectors(p * p, 0.0) {
        const auto at = [p](int row, int column) { return row * p + column; };
        // by an angle with this sine, s / (1 + c) = half_angle
        const auto turn = [](double& x, double& y, double s, double half_angle) {
            const double before = x;
            x -= s * (y + half_angle * before);
            y += s * (before - half_angle * y);
        };
        Vector<double> a(matrix, matrix + vectors.size());
        double largest = 0.0;
        for (const double x : a) largest = std::max(largest, std::abs(x));
        for (int k = 0; k < p; ++k) vectors[at(k, k)] = 1.0;
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
                    for (int l = 0; l < p; ++l) turn(a[at(i, l)], a[at(j, l)], s, s / (1.0 + c));
                    for (int l = 0; l < p; ++l) turn(a[at(l, i)], a[at(l, j)], s, s / (1.0 + c));
                    for (int l = 0; l < p; ++l) turn(vectors[at(i, l)], vectors[at(j, l)], s, s / (1.0 + c));
                    a[at(i, j)] = a[at(j, i)] = 0.0;
                }
            }
            if (diagonal) break;
        }
        for (int k = 0; k < p; ++k) values[k] = a[at(k, k)];
    }
};

}  // namespace cudbound
