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
Vector unit(Vector a);

// Solves a x = b for a square matrix, with complete pivoting. False if the matrix is singular.
bool solve_linear(std::vector<std::vector<long double>> a, std::vector<long double> b, std::vector<long double>* x);

// The rank of rows of whole numbers, from their minors, without rounding as long as these fit into 127 bits.
int rank_of_whole_numbers(const Rows& rows);

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

// Value, slope and bend of a loss at a margin, from its definition.
struct Surrogate {
    long double value;
    long double slope;
    long double bend;
};
Surrogate surrogate(cudbound::Loss loss, long double margin);

// A minimizer of the loss on an intersection of hyperplanes.
struct Minimum {
    Vector point;
    double loss;
};

// All of those with a single minimizer, for intersections of at most p of the hyperplanes row'beta = 0. Newton's method
// on the linear system that holds the rows at 0, in long double; a smooth loss.
std::vector<Minimum> minima_on_flats(const cudbound::Problem& problem, std::int64_t draw, const Rows& rows);

// The least loss on the cone normal'beta >= 0, and where. The minimizer on a cone is the minimizer on the intersection
// of the hyperplanes that it lies on: the best of the above that lies in the cone. The loss must be strictly convex.
Minimum least_on_cone(const cudbound::Problem& problem, std::int64_t draw, const Rows& normals);

// n times the gradient of the loss.
Vector gradient(const cudbound::Problem& problem, std::int64_t draw, const Vector& beta);

// How far `slope` is from the cone of the normals whose hyperplanes the point lies on, to within `close`. 0 at a
// minimizer of a convex function with that gradient on normal'beta >= 0, and only there.
double distance_from_optimality(const Vector& slope, const Vector& point, const Rows& normals, double close);

// Whether normal'w > 0 has a solution for all rows at once.
bool is_open_cone(const Rows& normals, int p);

// sup of S g (positive), sup of -S g (negative) over all open cells, 0 if no cell has a positive value, and the larger
// of the two (both): all cells, and for each the minimum of the loss over its closure by enumeration of the active
// rows. The rows of the design must span R^p, and the loss must be squared or strictly convex and smooth.
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
