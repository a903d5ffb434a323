// What one thread needs to make one fit after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "cudbound/fits.hpp"
#include "newton_fit.hpp"

namespace cudbound {

class FitWorker {
 public:
    explicit FitWorker(const Fits& fits);

    // Fits number `fit` and writes its row of the results. Allocates nothing.
    void operator()(std::int64_t fit, const Scores& results);

 private:
    void gather(std::int64_t fit);
    void score(std::int64_t fit, double* scores, double* doubt) const;

    const double* rows_of(std::int64_t fit) const {
        return fits_.rows + (fits_.own_rows ? fit * fits_.n * fits_.p : 0);
    }

    const Fits& fits_;
    NewtonFit newton_;
    SignedRows drawn_;
    std::vector<double> columns_;  // (coefficients, drawn rows)
    std::vector<double> weights_;  // (drawn rows)
    std::vector<std::int64_t> places_;
};

}  // namespace cudbound
