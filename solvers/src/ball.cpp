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
    if (problem.penalty != nullptr) factorise_penalty();
}

void Ball::set(std::int64_t draw) {
    const std::int64_t n = problem_.n;
    if (problem_.penalty != nullptr) {
        for (std::size_t k = 0; k < gram_.size(); ++k) gram_[k] = static_cast<double>(n) * problem_.penalty[k];
    } else {
        std::fill(gram_.begin(), gram_.end(), 0.0);
    }
    std::fill(moment_.begin(), moment_.end(), 0.0);
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (problem_.mass(draw, i) == 0.0) continue;
        const double* row = problem_.design + i * p;
        const double mass = problem_.mass(draw, i);
        const double target = problem_.target(i);
        total += mass * target * target;
        if (arrangement_.of_row[i] < 0) continue;  // a zero row adds a constant to the loss
        for (int a = 0; a < p; ++a) {
            const double weighted = mass * row[a];
            moment_[a] += weighted * target;
            double* gram = &gram_[at(a, 0, p)];
            for (int b = a; b < p; ++b) gram[b] += weighted * row[b];
        }
    }
    if (!factorise_gram()) factorise_rows(draw);
    finish();

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

// Cholesky: gram = R'R, R in the upper triangle of gram_. Squaring the rows has cost half of the digits; where that
// could show, this gives up.
bool Ball::factorise_gram() {
    double largest = 0.0;
    for (int a = 0; a < p; ++a) {
        order_[a] = a;
        largest = std::max(largest, gram_[at(a, a, p)]);
    }
    for (int k = 0; k < p; ++k) {
        double* row = &gram_[at(k, 0, p)];
        if (!(row[k] > Settings::gram * largest)) return false;
        row[k] = std::sqrt(row[k]);
        reciprocal_[k] = 1.0 / row[k];
        double sum = moment_[k];
        for (int l = 0; l < k; ++l) sum -= gram_[at(l, k, p)] * scratch_[l];
        scratch_[k] = sum * reciprocal_[k];
        for (int b = k + 1; b < p; ++b) row[b] *= reciprocal_[k];
        for (int a = k + 1; a < p; ++a) {
            double* target = &gram_[at(a, 0, p)];
            for (int b = a; b < p; ++b) target[b] -= row[a] * row[b];
        }
    }
    rank = p;
    return true;
}

// Householder reflections with column pivoting of the weighted rows themselves, sqrt(mass_i) (x_i, target_i), and of
// the rows that stand for the penalty.
void Ball::factorise_rows(std::int64_t draw) {
    const int width = p + 1;
    rows_.clear();
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        if (problem_.mass(draw, i) == 0.0 || arrangement_.of_row[i] < 0) continue;
        const double root = std::sqrt(problem_.mass(draw, i));
        for (int k = 0; k < p; ++k) rows_.push_back(root * problem_.design[i * p + k]);
        rows_.push_back(root * problem_.target(i));
    }
    rows_.insert(rows_.end(), penalty_rows_.begin(), penalty_rows_.end());
    const int count = static_cast<int>(rows_.size()) / width;
    for (int k = 0; k < p; ++k) order_[k] = k;
    double largest = 0.0;
    for (rank = 0; rank < std::min(p, count); ++rank) {
        int pivot = rank;
        double norm2 = 0.0;
        for (int column = rank; column < p; ++column) {
            double sum = 0.0;
            for (int i = rank; i < count; ++i) sum += rows_[at(i, column, width)] * rows_[at(i, column, width)];
            if (sum > norm2) {
                norm2 = sum;
                pivot = column;
            }
        }
        const double norm = std::sqrt(norm2);
        largest = std::max(largest, norm);
        if (!(norm > Settings::rank * largest)) break;
        if (pivot != rank) {
            std::swap(order_[rank], order_[pivot]);
            for (int i = 0; i < count; ++i) std::swap(rows_[at(i, rank, width)], rows_[at(i, pivot, width)]);
        }
        const double head = rows_[at(rank, rank, width)];
        const double diagonal = head > 0.0 ? -norm : norm;
        const double scale = 1.0 / (norm2 - diagonal * head);
        rows_[at(rank, rank, width)] = head - diagonal;  // the column now holds the reflector
        for (int column = rank + 1; column < width; ++column) {
            double along = 0.0;
            for (int i = rank; i < count; ++i) along += rows_[at(i, rank, width)] * rows_[at(i, column, width)];
            along *= scale;
            for (int i = rank; i < count; ++i) rows_[at(i, column, width)] -= along * rows_[at(i, rank, width)];
        }
        gram_[at(rank, rank, p)] = diagonal;
        reciprocal_[rank] = 1.0 / diagonal;
    }
    for (int k = 0; k < rank; ++k) {
        for (int column = k + 1; column < p; ++column) gram_[at(k, column, p)] = rows_[at(k, column, width)];
        scratch_[k] = rows_[at(k, p, width)];
    }
}

// Rows F with F'F = n * penalty, each followed by the label 0 it is fitted to: Cholesky with symmetric pivoting.
void Ball::factorise_penalty() {
    std::vector<double> rest(problem_.penalty, problem_.penalty + static_cast<std::ptrdiff_t>(p) * p);
    double largest = 0.0;
    for (int k = 0; k < p; ++k) {
        int pivot = 0;
        for (int a = 1; a < p; ++a) {
            if (rest[at(a, a, p)] > rest[at(pivot, pivot, p)]) pivot = a;
        }
        const double size = rest[at(pivot, pivot, p)];
        largest = std::max(largest, size);
        if (!(size > Settings::penalty_rank * largest)) return;
        std::vector<double> row(p);
        for (int a = 0; a < p; ++a) row[a] = rest[at(pivot, a, p)] / std::sqrt(size);
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) rest[at(a, b, p)] -= row[a] * row[b];
        }
        for (const double x : row) penalty_rows_.push_back(std::sqrt(static_cast<double>(problem_.n)) * x);
        penalty_rows_.push_back(0.0);
    }
}

// From the factor R (rank, p) and the transformed labels in scratch_: the minimiser with zeros on the flat coordinates,
// and the null space [-R1^{-1} R2; I], a column for every flat coordinate.
void Ball::finish() {
    for (int k = rank - 1; k >= 0; --k) {
        double sum = scratch_[k];
        for (int l = k + 1; l < rank; ++l) sum -= gram_[at(k, l, p)] * scratch_[l];
        scratch_[k] = sum * reciprocal_[k];
    }
    for (int k = 0; k < p; ++k) minimiser_[order_[k]] = k < rank ? scratch_[k] : 0.0;
    for (int f = rank; f < p; ++f) {
        double* column = &flat_[static_cast<std::size_t>(f - rank) * p];
        std::fill(column, column + p, 0.0);
        column[f] = 1.0;
        for (int k = rank - 1; k >= 0; --k) {
            double sum = -gram_[at(k, f, p)];
            for (int l = k + 1; l < rank; ++l) sum -= gram_[at(k, l, p)] * column[l];
            column[k] = sum * reciprocal_[k];
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
