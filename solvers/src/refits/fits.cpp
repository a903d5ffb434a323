#include "cudbound/fits.hpp"

#include <cmath>
#include <stdexcept>

#include "control/parallel.hpp"
#include "refits/fit_worker.hpp"

namespace cudbound {

namespace {

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

bool all_finite(const double* values, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) {
        if (!std::isfinite(values[k])) return false;
    }
    return true;
}

bool none_negative(const double* values, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) {
        if (!(values[k] >= 0.0 && std::isfinite(values[k]))) return false;
    }
    return true;
}

void validate(const Fits& fits) {
    require(fits.n > 0 && fits.p >= 0 && fits.coefficients() > 0, "there must be rows, and columns or an intercept");
    require(fits.loss != Loss::HINGE, "the hinge loss has no second derivative");
    require(all_finite(fits.rows, (fits.own_rows ? fits.fits : 1) * fits.n * fits.p), "rows must be finite");
    for (const double* map : {fits.shift, fits.scale}) {
        require(map == nullptr || all_finite(map, fits.fits * fits.p), "shift and scale must be finite");
    }
    for (std::int64_t i = 0; i < fits.n; ++i) {
        require(std::abs(fits.labels[i]) == 1.0, "labels must be -1 or +1");
    }
    require(none_negative(fits.weights, fits.fits * fits.n), "weights must be finite and not negative");
    require(none_negative(fits.penalty, fits.fits * fits.coefficients()), "penalty must be finite and not negative");
}

}  // namespace

bool fit_all(const Fits& fits, int threads, const Monitor& monitor, const Scores& scores) {
    validate(fits);
    require(threads >= 1, "threads must be at least 1");
    return in_parallel(fits.fits, threads, monitor, [&] {
        return [worker = FitWorker(fits), &scores](std::int64_t fit) mutable { worker(fit, scores); };
    });
}

}  // namespace cudbound
