// What one thread needs to make fits one after another.
#pragma once

#include <cstdint>
#include <optional>

#include "cudbound/fits.hpp"
#include "linear_algebra/row_space.hpp"
#include "linear_algebra/vector.hpp"
#include "refits/newton_fit.hpp"

namespace cudbound {

class FitWorker {
 public:
    explicit FitWorker(const Fits& fits);

    // Fits number `fit` and writes its row of the results. Allocates nothing.
    void operator()(std::int64_t fit, const Scores& results);

 private:
    void find_drawn(std::int64_t fit);
    void find_kept(std::int64_t fit);
    // Each writes the columns after that of the intercept, and returns their number.
    int gather(std::int64_t fit, double* column) const;
    int gather_coordinates(std::int64_t fit, double* column);
    void score(std::int64_t fit, double* scores, double* doubt) const;
    void score_coordinates(double* scores, double* doubt) const;

    const double* rows_of(std::int64_t fit) const {
        return fits_.rows + (fits_.own_rows ? fit * fits_.n * fits_.p : 0);
    }
    double shift(std::int64_t fit, std::int64_t j) const {
        return fits_.shift == nullptr ? 0.0 : fits_.shift[fit * fits_.p + j];
    }
    double scale(std::int64_t fit, std::int64_t j) const {
        return fits_.scale == nullptr ? 1.0 : fits_.scale[fit * fits_.p + j];
    }

    const Fits& fits_;
    bool alike_;  // whether every fit penalizes its columns equally, so that they may be rotated
    NewtonFit newton_;
    Vector<std::int64_t> places_;  // of the rows with weight
    std::size_t n_kept_ = 0;       // columns with a scale other than 0
    Vector<std::int64_t> kept_;    // those

    // for more columns than rows with weight
    std::optional<RowSpace> space_;
    Vector<double> mapped_;   // (n, p)
    Vector<double> lengths_;  // (n), of the rows before they were mapped
};

}  // namespace cudbound
