// Coordinates of rows in the space that some of them span: these replace many columns when rows are few.
#pragma once

#include <cstddef>
#include <cstdint>

#include "linear_algebra/vector.hpp"

namespace cudbound {

class RowSpace {
 public:
    // Capacity for n rows of p columns.
    RowSpace(std::int64_t n, std::int64_t p);

    // Finds an orthonormal basis of the span of the rows of `rows` (n, p) at the first `count` places, and the
    // coordinates of all rows. Returns the dimension, at most `count` and p.
    int span(const double* rows, const Vector<std::int64_t>& places, std::size_t count);

    // Coordinates of row i, as many as there are dimensions.
    const double* coordinates(std::int64_t i) const { return coordinates_.data() + i * most_; }

 private:
    // Subtracts the components along the basis from `rest_`; returns the remaining squared length.
    double reduce(int dimension);

    std::int64_t n_, p_, most_;
    Vector<double> basis_;        // (most, p)
    Vector<double> coordinates_;  // (n, most)
    Vector<double> rest_;         // (p)
};

}  // namespace cudbound
