// A set of independent normals and the orthonormal basis that goes with it.
#pragma once

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

// At most p independent vectors of R^p, normals = basis * triangle: the first size() columns of the basis span them,
// the others their orthogonal complement.
class NormalBasis {
 public:
    explicit NormalBasis(int p);

    void clear();

    int size() const { return size_; }
    const double* column(int k) const { return basis_.row(k, p_); }

    // Smallest absolute value on the diagonal of the triangle, 1 if it is empty.
    double smallest_pivot() const;

    // projected (p) = basis'a; returns the squared length of the part of `a` outside the span.
    double project(const double* a, double* projected) const;
    // Solves triangle x = y and triangle'x = y, x and y of length size(); x and y may be the same.
    void solve(const double* y, double* x) const;
    void solve_transposed(const double* y, double* x) const;

    // Adds the independent vector with these coordinates in the basis.
    void append(const double* projected);
    // Removes the normal at position k; those after it move up.
    void drop(int k);

 private:
    double* entries(int k) { return triangle_.row(k, p_); }
    const double* entries(int k) const { return triangle_.row(k, p_); }

    int p_;
    int size_ = 0;
    Vector<double> basis_;     // (p, p) column-major, orthonormal
    Vector<double> triangle_;  // (p, size) column-major, upper
    Scratch reflector_;        // (p)
};

}  // namespace cudbound
