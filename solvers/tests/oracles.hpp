// Slow and simple answers to compare with: enumeration, Gaussian elimination, nothing shared with the solver.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cudbound/draws.hpp"

namespace oracle {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

double dot(const Vector& a, const Vector& b);

// Solves a x = b for a square matrix, with complete pivoting. False if the matrix is singular.
bool solve_linear(std::vector<std::vector<long double>> a, std::vector<long double> b, std::vector<long double>* x);

// Calls visit for every subset of {0, ..., m - 1} with at most `largest` members.
void for_each_subset(int m, int largest, const std::function<void(const std::vector<int>&)>& visit);

// A point inside every open cell of the hyperplanes normal'w = 0 through the origin of R^p, each cell once. Zero rows
// are no hyperplanes, collinear rows one.
//
// Every cell has a facet. The facets within one hyperplane are the cells of the arrangement that the others cut out of
// it, which recursion finds; either side of a facet is a cell.
Rows cells(const Rows& normals, int p);

// The largest total gain of rows with normal'w > 0 over open cells.
double largest_gain(const Rows& normals, const Vector& gains, int p);

// Whether normal'w > 0 has a solution for all rows at once.
bool is_open_cone(const Rows& normals, int p);

// sup of S g (positive), sup of -S g (negative) over all open cells, 0 if no cell has a positive value, and the larger
// of the two (both): all cells, and for each the minimum of the loss over its closure by enumeration of the active
// rows. The rows of the design must span R^p.
struct Values {
    double positive = 0.0;
    double negative = 0.0;
    double both = 0.0;
};
Values enumerate_cells(const cudbound::Problem& problem, std::int64_t draw);

// S and L at given coefficients, and g at a given loss, from their definitions.
double score(const cudbound::Problem& problem, std::int64_t draw, const double* beta);
double loss(const cudbound::Problem& problem, std::int64_t draw, const double* beta);
double anchor_loss(const cudbound::Problem& problem, std::int64_t draw);
double g(double alpha, double excess);

}  // namespace oracle
