#include "fit_worker.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"

namespace cudbound {

FitWorker::FitWorker(const Fits& fits)
    : fits_(fits), newton_(static_cast<std::size_t>(fits.n), static_cast<int>(fits.coefficients())) {
    const auto n = static_cast<std::size_t>(fits.n);
    columns_.resize(n * static_cast<std::size_t>(fits.coefficients()));
    weights_.resize(n);
    places_.resize(n);
}

void FitWorker::operator()(std::int64_t fit, const Scores& results) {
    gather(fit);
    double* scores = results.scores + fit * fits_.n;
    double* doubt = results.doubt + fit * fits_.n;
    results.found[fit] = newton_.minimise(fits_.loss, drawn_);
    if (results.found[fit]) {
        score(fit, scores, doubt);
    } else {
        std::fill_n(scores, fits_.n, 0.0);
        std::fill_n(doubt, fits_.n, 0.0);
    }
}

void FitWorker::gather(std::int64_t fit) {
    const double* weights = fits_.weights + fit * fits_.n;
    std::size_t count = 0;
    for (std::int64_t i = 0; i < fits_.n; ++i) {
        if (weights[i] == 0.0) continue;
        weights_[count] = weights[i];
        places_[count] = i;
        ++count;
    }
    double* column = columns_.data();
    if (fits_.intercept) {
        for (std::size_t k = 0; k < count; ++k) column[k] = fits_.labels[places_[k]];
        column += count;
    }
    const double* rows = rows_of(fit);
    for (std::int64_t j = 0; j < fits_.p; ++j) {
        const double shift = fits_.shift == nullptr ? 0.0 : fits_.shift[fit * fits_.p + j];
        const double scale = fits_.scale == nullptr ? 1.0 : fits_.scale[fit * fits_.p + j];
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t i = places_[k];
            column[k] = fits_.labels[i] * ((rows[i * fits_.p + j] - shift) * scale);
        }
        column += count;
    }
    const std::int64_t size = fits_.coefficients();
    drawn_ = {count, static_cast<int>(size), columns_.data(), weights_.data(), fits_.penalty + fit * size};
}

// Scores of all rows, and how far rounding may have moved them: what the last step moved the score, or a margin,
// several times, and the rounding errors of the terms.
void FitWorker::score(std::int64_t fit, double* scores, double* doubt) const {
    const int first = fits_.intercept ? 1 : 0;
    const std::vector<double>& coef = newton_.coef();
    const std::vector<double>& step = newton_.step();
    const double* rows = rows_of(fit);
    for (std::int64_t i = 0; i < fits_.n; ++i) {
        double score = fits_.intercept ? coef[0] : 0.0;
        double moved = fits_.intercept ? step[0] : 0.0;
        double terms = std::abs(score);
        for (std::int64_t j = 0; j < fits_.p; ++j) {
            const double shift = fits_.shift == nullptr ? 0.0 : fits_.shift[fit * fits_.p + j];
            const double scale = fits_.scale == nullptr ? 1.0 : fits_.scale[fit * fits_.p + j];
            const double x = rows[i * fits_.p + j];
            const double z = (x - shift) * scale;
            score += coef[first + j] * z;
            moved += step[first + j] * z;
            terms += std::abs(coef[first + j] * scale) * (std::abs(x) + std::abs(shift));
        }
        scores[i] = score;
        doubt[i] = terms == 0.0 ? 0.0
                                : Settings::fit_reach * std::max(std::abs(moved), newton_.change()) +
                                      Settings::fit_rounding * terms;
    }
}

}  // namespace cudbound
