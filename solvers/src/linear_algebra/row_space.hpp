// Coordinates of rows in the space that some of them span: these replace many columns when rows are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudbound {

class RowSpace {
 public:
    // Capacity for n rows of p columns.
    RowSpace(std::int64_t n, std::int64_t p);

    // Finds an orthonormal basis of the span of the rows of `rows` (n, p) at the first `count` places, and the
    // coordinates of all rows. Returns the dimension, at most `count` and p.
    int span(const double* rows, const std::vector<std::int64_t>& places, std::size_t count);

    // Coordinates of row i, as many as there are dimensions.
    const double* coordinates(std::int64_t i) const { return coordinates_.data() + i * most_; }

 private:
    // Subtracts the components along the basis from `rest_`; returns the remaining squared length.
    double reduce(int dimension);

    std::int64_t n_, p_, most_;
    std::vector<double> basis_;        // (most, p)
    std::vector<double> coordinates_;  // (n, most)
    std::vector<double> rest_;         // (p)
};

}  // namespace cudbound
