// Eigenvalues and eigenvectors of small symmetric matrices.
#pragma once

#include "linear_algebra/vector.hpp"

namespace cudbound {

// matrix (p, p) = sum_k values[k] e_k e_k', e_k in row k of vectors (p, p). Cyclic Jacobi rotations: eigenvectors are
// orthonormal to rounding, eigenvalues have errors of rounding relative to the largest (Golub & Van Loan, Matrix
// Computations, 4th ed., section 8.5).
struct SymmetricEigen {
    SymmetricEigen(int p, const double* matrix);

    Vector<double> values;   // (p), in no order
    Vector<double> vectors;  // (p, p) row-major
};

}  // namespace cudbound
