#include "cudbound/fits.hpp"

#include "control/parallel.hpp"
#include "control/requirements.hpp"
#include "refits/fit_worker.hpp"

namespace cudbound {

namespace {

void validate(const Fits& fits) {
    const std::int64_t all = fits.fits * fits.p;
    require(fits.n > 0 && fits.p >= 0 && fits.coefficients() > 0, "there must be rows, and columns or an intercept");
    require(fits.loss != Loss::HINGE, "the hinge loss has no second derivative");
    require(all_are(fits.rows, (fits.own_rows ? fits.fits : 1) * fits.n * fits.p, is_finite), "rows must be finite");
    require(all_are(fits.shift, all, is_finite) && all_are(fits.scale, all, is_finite),
            "shift and scale must be finite");
    require(all_are(fits.labels, fits.n, is_sign), "labels must be -1 or +1");
    require(all_are(fits.weights, fits.fits * fits.n, is_strength), "weights must be finite and not negative");
    require(all_are(fits.penalty, fits.fits * fits.coefficients(), is_strength),
            "penalty must be finite and not negative");
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
