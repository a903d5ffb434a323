#include "cudbound/fits.hpp"

#include <optional>

#include "control/parallel.hpp"
#include "control/requirements.hpp"
#include "linear_algebra/row_space.hpp"
#include "refits/newton_fit.hpp"

namespace cudbound {

namespace {

bool penalizes_alike(const Fits& fits) {
    const std::int64_t size = fits.coefficients();
    for (std::int64_t f = 0; f < fits.fits; ++f) {
        const double* strengths = fits.penalty + f * size + (fits.intercept ? 1 : 0);
        for (std::int64_t j = 0; j < fits.p; ++j) {
            if (strengths[j] != strengths[0] || strengths[0] == 0.0) return false;
        }
    }
    return fits.p > 0;
}

// Columns with scale 0 are left out of a fit, and rotated columns are never more than rows.
std::int64_t most_coefficients(const Fits& fits, bool alike) {
    std::int64_t most = fits.scale == nullptr ? fits.p : 0;
    for (std::int64_t f = 0; f < fits.fits && fits.scale != nullptr; ++f) {
        const double* scale = fits.scale + f * fits.p;
        most = std::max<std::int64_t>(most, fits.p - std::count(scale, scale + fits.p, 0.0));
    }
    return (alike ? std::min(fits.n, most) : most) + (fits.intercept ? 1 : 0);
}

// Never 0, even if all coefficients are.
double doubt_of(double moved, double change, double terms) {
    const double doubt = Settings::fit_reach * std::max(std::abs(moved), change) + Settings::fit_rounding * terms;
    return std::max(doubt, std::numeric_limits<double>::min());
}

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

// What one thread needs to make fits one after another.
class FitWorker {
 public:
    explicit FitWorker(const Fits& fits)
        : fits_(fits),
          alike_(penalizes_alike(fits)),
          newton_(fits.n, static_cast<int>(most_coefficients(fits, alike_))) {
        places_.resize(fits.n);
        kept_.resize(fits.p);
        mapped_.resize(fits.n * fits.p);
        if (alike_) space_.emplace(fits.n, fits.p);
    }

    // Fits number `fit` and writes its row of the results. Allocates nothing.
    void operator()(std::int64_t fit, const Scores& results) {
        double* scores = results.scores + fit * fits_.n;
        double* doubt = results.doubt + fit * fits_.n;
        find_drawn(fit);
        map_rows(fit);
        // Under a penalty that treats all columns equally the minimizer lies in the span of the rows with weight:
        // coordinates there replace the columns where these are more, and the penalty is the same.
        const bool rotate = alike_ && n_kept_ > newton_.count;
        const int size = rotate ? space_->span(mapped_, places_, newton_.count) : static_cast<int>(n_kept_);
        const double* strengths = fits_.penalty + fit * fits_.coefficients();
        const int first = fits_.intercept ? 1 : 0;
        if (fits_.intercept) {
            newton_.strength[0] = strengths[0];
            for (std::size_t k = 0; k < newton_.count; ++k) newton_.columns[k] = fits_.labels[places_[k]];
        }
        for (int l = 0; l < size; ++l) {
            newton_.strength[first + l] = strengths[first + (rotate ? 0 : kept_[l])];
            double* column = newton_.columns.row(first + l, newton_.count);
            const std::int64_t at = rotate ? l : kept_[l];
            for (std::size_t k = 0; k < newton_.count; ++k) {
                const std::int64_t i = places_[k];
                column[k] = fits_.labels[i] * (rotate ? space_->coordinates(i) : mapped_.row(i, fits_.p))[at];
            }
        }
        newton_.size = first + size;
        results.found[fit] = newton_.minimize(fits_.loss);
        if (!results.found[fit]) {
            std::fill_n(scores, fits_.n, 0.0);
            std::fill_n(doubt, fits_.n, 0.0);
        } else if (rotate) {
            score_coordinates(fit, scores, doubt);
        } else {
            score(fit, scores, doubt);
        }
    }

 private:
    const double* rows_of(std::int64_t fit) const {
        return fits_.rows + (fits_.own_rows ? fit * fits_.n * fits_.p : 0);
    }
    double shift(std::int64_t fit, std::int64_t j) const {
        return fits_.shift == nullptr ? 0.0 : fits_.shift[fit * fits_.p + j];
    }
    double scale(std::int64_t fit, std::int64_t j) const {
        return fits_.scale == nullptr ? 1.0 : fits_.scale[fit * fits_.p + j];
    }

    void find_drawn(std::int64_t fit) {
        const double* weights = fits_.weights + fit * fits_.n;
        newton_.count = 0;
        for (std::int64_t i = 0; i < fits_.n; ++i) {
            if (weights[i] == 0.0) continue;
            newton_.weights[newton_.count] = weights[i];
            places_[newton_.count++] = i;
        }
    }

    void map_rows(std::int64_t fit) {
        const double* rows = rows_of(fit);
        n_kept_ = 0;
        for (std::int64_t j = 0; j < fits_.p; ++j) {
            const double from = shift(fit, j);
            const double by = scale(fit, j);
            if (by != 0.0) kept_[n_kept_++] = j;
            for (std::int64_t at = j; at < fits_.n * fits_.p; at += fits_.p) mapped_[at] = (rows[at] - from) * by;
        }
    }

    // Scores of all rows, and how far rounding may have moved them: what the last step moved the score, or a margin,
    // several times, and the rounding errors of the terms.
    void score(std::int64_t fit, double* scores, double* doubt) const {
        const std::size_t first = fits_.intercept ? 1 : 0;
        const Vector<double>& coef = newton_.coef();
        const Vector<double>& step = newton_.step();
        const double* rows = rows_of(fit);
        for (std::int64_t i = 0; i < fits_.n; ++i) {
            double score = fits_.intercept ? coef[0] : 0.0;
            double moved = fits_.intercept ? step[0] : 0.0;
            double terms = std::abs(score);
            bool zero = !fits_.intercept;  // only the score of a row of zeros is sure to be 0
            for (std::size_t l = 0; l < n_kept_; ++l) {
                const std::int64_t j = kept_[l];
                const double x = rows[i * fits_.p + j];
                const double from = shift(fit, j);
                const double by = scale(fit, j);
                const double z = mapped_[i * fits_.p + j];
                score += coef[first + l] * z;
                moved += step[first + l] * z;
                zero = zero && x == 0.0 && from == 0.0;
                terms += std::abs(coef[first + l] * by) * (std::abs(x) + std::abs(from));
            }
            scores[i] = score;
            doubt[i] = zero ? 0.0 : doubt_of(moved, newton_.change(), terms);
        }
    }

    void score_coordinates(std::int64_t fit, double* scores, double* doubt) const {
        const int first = fits_.intercept ? 1 : 0;
        const int dimension = newton_.size - first;
        const double* coef = newton_.coef().data();
        const double* step = newton_.step().data();
        const double* rows = rows_of(fit);
        const double length = length_of(coef + first, dimension);
        for (std::int64_t i = 0; i < fits_.n; ++i) {
            const double* row = space_->coordinates(i);
            const double intercept = fits_.intercept ? coef[0] : 0.0;
            scores[i] = intercept + dot(coef + first, row, dimension);
            const double moved = (fits_.intercept ? step[0] : 0.0) + dot(step + first, row, dimension);
            double size2 = 0.0;
            for (std::int64_t j = 0; j < fits_.p; ++j) {
                const double term = (std::abs(rows[i * fits_.p + j]) + std::abs(shift(fit, j))) * scale(fit, j);
                size2 += term * term;
            }
            const double size = std::sqrt(size2);
            const bool zero = !fits_.intercept && size == 0.0;
            doubt[i] = zero ? 0.0 : doubt_of(moved, newton_.change(), std::abs(intercept) + length * size);
        }
    }

    const Fits& fits_;
    bool alike_;  // whether every fit penalizes its columns equally, so that they may be rotated
    NewtonFit newton_;
    Vector<std::int64_t> places_;  // of the rows with weight
    std::size_t n_kept_ = 0;       // columns with a scale other than 0
    Vector<std::int64_t> kept_;    // those
    Vector<double> mapped_;        // (n, p) the rows less their shift times their scale
    std::optional<RowSpace> space_;
};

}  // namespace

bool fit_all(const Fits& fits, int threads, const Monitor& monitor, const Scores& scores) {
    validate(fits);
    require(threads >= 1, "threads must be at least 1");
    return in_parallel(fits.fits, threads, monitor, [&] {
        return [worker = FitWorker(fits), &scores](std::int64_t fit) mutable { worker(fit, scores); };
    });
}

}  // namespace cudbound
