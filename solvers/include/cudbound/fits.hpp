// The public interface of batched fits: one linear classifier fitted to the same rows many times, each time with
// different weights and, where a step before it was also fitted, with different columns.
#pragma once

#include <cstdint>

#include "cudbound/draws.hpp"

namespace cudbound {

// Fit f minimizes, over the coefficients beta of its columns z_ij and of the intercept beta_0,
//   sum_i weight_fi loss(y_i (beta_0 + z_i'beta)) + sum_j penalty_fj beta_j^2.
// Arrays are row-major and belong to the caller; they are only read.
struct Fits {
    std::int64_t n = 0;             // rows
    std::int64_t p = 0;             // columns, without that of the intercept
    std::int64_t fits = 0;          // fits
    const double* rows = nullptr;   // shape (n, p), or (fits, n, p) if each fit has its own
    bool own_rows = false;          // which of them
    const double* shift = nullptr;  // shape (fits, p), or null for 0
    const double* scale = nullptr;  // shape (fits, p), or null for 1: z = (rows - shift) * scale; 0 leaves a column out
    const double* labels = nullptr;   // shape (n), -1 or +1
    const double* weights = nullptr;  // shape (fits, n), non-negative
    const double* penalty = nullptr;  // shape (fits, intercept + p), non-negative, that of the intercept first
    bool intercept = true;
    Loss loss = Loss::LOGISTIC;  // any but HINGE, which has no second derivative

    std::int64_t coefficients() const { return p + (intercept ? 1 : 0); }
};

// Row f of every array belongs to fit f. `doubt` bounds the rounding error of a score; it is 0 only for the score of a
// row of zeros without an intercept. `found` is false where there is no unique minimizer, or rounding kept the search
// from it; scores and doubts of that fit are then 0.
struct Scores {
    double* scores = nullptr;  // shape (fits, n): of all rows, those without weight too
    double* doubt = nullptr;   // shape (fits, n)
    bool* found = nullptr;     // shape (fits)
};

// Fits all on `threads` threads. The answer does not depend on their number. Returns false if the monitor asked for a
// stop before all were fitted. Throws std::invalid_argument when the problem is not well formed.
bool fit_all(const Fits& fits, int threads, const Monitor& monitor, const Scores& scores);

}  // namespace cudbound
