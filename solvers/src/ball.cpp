#include "ball.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudbound/settings.hpp"

namespace cudbound {

namespace {

std::size_t at(int row, int column, int p) { return static_cast<std::size_t>(row) * p + column; }

}  // namespace

Ball::Ball(const Problem& problem, const Arrangement& arrangement)
    : p(static_cast<int>(problem.p)),
      anchor(p),
      apex(p),
      problem_(problem),
      arrangement_(arrangement),
      gram_(static_cast<std::size_t>(p) * p),
      moment_(p),
      order_(p),
      reciprocal_(p),
      minimiser_(p),
      flat_(static_cast<std::size_t>(p) * p),
      scratch_(p) {
    rate = problem.alpha / static_cast<double>(problem.n);
}

void Ball::set(std::int64_t draw) {
    const std::int64_t n = problem_.n;
    const std::int32_t* counts = problem_.counts + draw * n;
    if (problem_.penalty != nullptr) {
        for (std::size_t k = 0; k < gram_.size(); ++k) gram_[k] = static_cast<double>(n) * problem_.penalty[k];
    } else {
        std::fill(gram_.begin(), gram_.end(), 0.0);
    }
    std::fill(moment_.begin(), moment_.end(), 0.0);
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (counts[i] == 0) continue;
        const double* row = problem_.design + i * p;
        total += counts[i];
        if (arrangement_.of_row[i] < 0) continue;  // a zero row adds a constant to the loss
        for (int a = 0; a < p; ++a) {
            const double weighted = counts[i] * row[a];
            moment_[a] += weighted * problem_.labels[i];
            double* target = &gram_[at(a, 0, p)];
            for (int b = a; b < p; ++b) target[b] += weighted * row[b];
        }
    }
    factorise();

    // n (L(anchor) - min L): the curved part of the anchor, and what its own penalty exceeds the one modelled.
    for (int k = 0; k < p; ++k) scratch_[k] = problem_.anchor[order_[k]] - minimiser_[order_[k]];
    std::vector<double>& v = anchor;
    radius2 = 0.0;
    for (int k = 0; k < rank; ++k) {
        double sum = 0.0;
        for (int l = k; l < p; ++l) sum += gram_[at(k, l, p)] * scratch_[l];
        v[k] = sum;
        radius2 += sum * sum;
    }
    for (int k = rank; k < p; ++k) v[k] = Settings::flat_step * scratch_[k];
    if (problem_.penalty != nullptr) {
        double modelled = 0.0;
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b)
                modelled += problem_.anchor[a] * problem_.penalty[at(a, b, p)] * problem_.anchor[b];
        }
        radius2 += std::max(0.0, static_cast<double>(n) * (problem_.anchor_penalty - modelled));
    }
    apex2 = 0.0;
    for (int k = 0; k < rank; ++k) {
        double sum = 0.0;
        for (int l = k; l < p; ++l) sum -= gram_[at(k, l, p)] * minimiser_[order_[l]];
        apex[k] = sum;
        apex2 += sum * sum;
    }
    for (int k = rank; k < p; ++k) apex[k] = 0.0;
    slack = Settings::excess * (total + radius2 + apex2);
}

// Cholesky with symmetric pivoting: P' gram P = R'R, R (rank, p) upper trapezoidal in the upper triangle of
// gram_.
void Ball::factorise() {
    for (int a = 0; a < p; ++a) order_[a] = a;
    for (int a = 1; a < p; ++a) {
        for (int b = 0; b < a; ++b) gram_[at(a, b, p)] = gram_[at(b, a, p)];
    }
    double largest = 0.0;
    for (int a = 0; a < p; ++a) largest = std::max(largest, gram_[at(a, a, p)]);
    for (rank = 0; rank < p; ++rank) {
        int pivot = rank;
        for (int a = rank + 1; a < p; ++a) {
            if (gram_[at(a, a, p)] > gram_[at(pivot, pivot, p)]) pivot = a;
        }
        if (!(gram_[at(pivot, pivot, p)] > Settings::rank * largest)) break;
        if (pivot != rank) {
            std::swap(order_[rank], order_[pivot]);
            for (int k = 0; k < p; ++k) std::swap(gram_[at(rank, k, p)], gram_[at(pivot, k, p)]);
            for (int k = 0; k < p; ++k) std::swap(gram_[at(k, rank, p)], gram_[at(k, pivot, p)]);
        }
        const double root = std::sqrt(gram_[at(rank, rank, p)]);
        gram_[at(rank, rank, p)] = root;
        for (int b = rank + 1; b < p; ++b) gram_[at(rank, b, p)] /= root;
        for (int a = rank + 1; a < p; ++a) {
            const double factor = gram_[at(rank, a, p)];
            for (int b = a; b < p; ++b) {
                gram_[at(a, b, p)] -= factor * gram_[at(rank, b, p)];
                gram_[at(b, a, p)] = gram_[at(a, b, p)];
            }
        }
    }

    for (int k = 0; k < rank; ++k) reciprocal_[k] = 1.0 / gram_[at(k, k, p)];

    // The minimiser with zeros on the flat coordinates: R1'R1 x = moment on the first `rank` pivots.
    for (int k = 0; k < rank; ++k) {
        double sum = moment_[order_[k]];
        for (int l = 0; l < k; ++l) sum -= gram_[at(l, k, p)] * scratch_[l];
        scratch_[k] = sum / gram_[at(k, k, p)];
    }
    for (int k = rank - 1; k >= 0; --k) {
        double sum = scratch_[k];
        for (int l = k + 1; l < rank; ++l) sum -= gram_[at(k, l, p)] * scratch_[l];
        scratch_[k] = sum / gram_[at(k, k, p)];
    }
    for (int k = 0; k < p; ++k) minimiser_[order_[k]] = k < rank ? scratch_[k] : 0.0;

    // Null space [-R1^{-1} R2; I], a column for every flat coordinate.
    for (int f = rank; f < p; ++f) {
        double* column = &flat_[static_cast<std::size_t>(f - rank) * p];
        std::fill(column, column + p, 0.0);
        column[f] = 1.0;
        for (int k = rank - 1; k >= 0; --k) {
            double sum = -gram_[at(k, f, p)];
            for (int l = k + 1; l < rank; ++l) sum -= gram_[at(k, l, p)] * column[l];
            column[k] = sum / gram_[at(k, k, p)];
        }
    }
}

bool Ball::transform(const double* normal, double* unit, double* offset) const {
    double constant = 0.0;
    double curved = 0.0;
    for (int k = 0; k < p; ++k) constant += normal[k] * minimiser_[k];
    for (int k = 0; k < rank; ++k) {
        double sum = normal[order_[k]];
        for (int l = 0; l < k; ++l) sum -= gram_[at(l, k, p)] * unit[l];
        unit[k] = sum * reciprocal_[k];
        curved += unit[k] * unit[k];
    }
    double flat = 0.0;
    for (int f = rank; f < p; ++f) {
        const double* column = &flat_[static_cast<std::size_t>(f - rank) * p];
        double sum = 0.0;
        for (int k = 0; k < p; ++k) sum += column[k] * normal[order_[k]];
        if (std::abs(sum) <= Settings::flat_part) sum = 0.0;  // a drawn row has no flat part but for rounding
        unit[f] = sum / Settings::flat_step;
        flat += unit[f] * unit[f];
    }
    const double scale = 1.0 / std::sqrt(curved + flat);
    for (int k = 0; k < p; ++k) unit[k] *= scale;
    *offset = constant * scale;
    return flat > 0.0;
}

void Ball::direction_to_beta(const double* v, double* beta) const {
    std::vector<double>& x = scratch_;
    std::fill(x.begin(), x.end(), 0.0);
    for (int k = rank - 1; k >= 0; --k) {
        double sum = v[k];
        for (int l = k + 1; l < rank; ++l) sum -= gram_[at(k, l, p)] * x[l];
        x[k] = sum / gram_[at(k, k, p)];
    }
    for (int f = rank; f < p; ++f) {
        const double* column = &flat_[static_cast<std::size_t>(f - rank) * p];
        for (int k = 0; k < p; ++k) x[k] += column[k] * (v[f] / Settings::flat_step);
    }
    for (int k = 0; k < p; ++k) beta[order_[k]] = x[k];
}

void Ball::direction_from_beta(const double* beta, double* v) const {
    for (int k = 0; k < rank; ++k) {
        double sum = 0.0;
        for (int l = k; l < p; ++l) sum += gram_[at(k, l, p)] * beta[order_[l]];
        v[k] = sum;
    }
    for (int f = rank; f < p; ++f) v[f] = Settings::flat_step * beta[order_[f]];
}

void Ball::to_beta(const double* v, double* beta) const {
    direction_to_beta(v, beta);
    for (int k = 0; k < p; ++k) beta[k] += minimiser_[k];
}

}  // namespace cudbound
