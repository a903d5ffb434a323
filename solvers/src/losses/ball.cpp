#include "losses/ball.hpp"

#include <numeric>

#include "linear_algebra/symmetric_eigen.hpp"

namespace cudbound {

Ball::Ball(const Problem& problem, const Arrangement& arrangement)
    : p(static_cast<int>(problem.p)),
      anchor(p),
      apex(p),
      problem_(problem),
      arrangement_(arrangement),
      exact_(arrangement.exact_rows()),
      is_drawn_(arrangement.count),
      gram_(p * p),
      moment_(p),
      order_(p),
      factor_(p),
      minimizer_(p),
      flat_(p * p),
      apart_(p),
      scratch_(p) {
    if (problem.penalty != nullptr) factorize_penalty();
}

// What each row adds to the Gram matrix and the moments.
void Ball::list_products() {
    products_.reserve(problem_.n * p * (p + 3) / 2);
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double* row = problem_.design + i * p;
        for (int a = 0; a < p; ++a) {
            products_.push_back(row[a] * problem_.target(i));
            for (int b = a; b < p; ++b) products_.push_back(row[a] * row[b]);
        }
    }
}

void Ball::set(std::int64_t draw) {
    const std::int64_t n = problem_.n;
    double total = 0.0;  // sum of the squared targets
    for (std::int64_t i = 0; i < n; ++i) {
        const double mass = problem_.mass(draw, i);
        if (mass > 0.0) total += mass * problem_.target(i) * problem_.target(i);
    }
    accumulate(draw);
    const bool squared = factorize_gram(Settings::gram);  // squaring the rows squares their condition
    if (!squared) factorize_rows(draw);
    measure_condition(squared);
    certain = true;
    if (rank < p) list_drawn(draw);
    finish();

    // n (L(anchor) - min L): the curved part of the anchor, and what its own penalty exceeds the one modeled.
    place_anchor();
    radius2 = 0.0;
    for (int k = 0; k < rank; ++k) {
        double size_of_terms = 0.0;
        for (int l = k; l < p; ++l) size_of_terms += std::abs(factor_.row(k)[l] * apart_[order_[l]]);
        // rounded upwards: where terms are large and cancel, the anchor may lie farther out
        const double most = std::abs(anchor[k]) + (Settings::unit_error * p + problem_.raw.error) * size_of_terms;
        radius2 += most * most;
    }
    double modeled = 0.0;
    for (int k = 0; k < std::ssize(penalty_rows_) / (p + 1); ++k) {
        const double along = dot(penalty_rows_.row(k, p + 1), problem_.anchor, p);
        modeled += along * along;
    }
    radius2 += problem_.beyond_penalty(modeled);
    size = total + radius2 + apex2;
}

bool Ball::set(const Quadratic& quadratic) {
    gram_ = quadratic.gram;
    std::fill(moment_.begin(), moment_.end(), 0.0);
    if (!factorize_gram(Settings::minorant_pivot)) return false;
    measure_condition(true);
    certain = true;
    minimizer_ = quadratic.center;
    place_anchor();
    radius2 = quadratic.anchor_rise;
    size = std::abs(quadratic.least) + radius2 + apex2;
    return true;
}

void Ball::measure_condition(bool squared) {
    double shortest = 1.0;
    double longest = 1.0;
    for (int k = 0; k < rank; ++k) {
        const double pivot = std::abs(factor_.reciprocal(k));
        shortest = k == 0 ? pivot : std::min(shortest, pivot);
        longest = k == 0 ? pivot : std::max(longest, pivot);
    }
    const double condition = longest / shortest;
    error =
        Settings::unit_error * p * (squared ? condition * condition : condition) + 2.0 * problem_.raw.error * condition;
}

void Ball::place_anchor() {
    for (int k = 0; k < p; ++k) apart_[k] = problem_.anchor[k] - minimizer_[k];
    direction_from_beta(apart_.data(), anchor.data());
    direction_from_beta(minimizer_.data(), apex.data());
    for (double& x : apex) x = -x;
    apex2 = dot(apex.data(), apex.data(), rank);
}

// A rank-deficient draw: that the loss is flat where it seems so must follow from the rows themselves. No more
// dimensions than rows are certain; fewer are decided exactly, where no penalty has a share in it.
void Ball::list_drawn(std::int64_t draw) {
    std::fill(is_drawn_.begin(), is_drawn_.end(), 0);
    drawn_.clear();
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const int h = arrangement_.of_row[i];
        if (h < 0 || problem_.mass(draw, i) == 0.0 || is_drawn_[h]) continue;
        is_drawn_[h] = 1;
        drawn_.push_back(arrangement_.representatives[h]);
    }
    const auto curved = static_cast<int>(drawn_.size()) + static_cast<int>(penalty_rows_.size()) / (p + 1);
    if (curved <= rank) return;
    certain = penalty_rows_.empty() && exact_.rank_at_most(drawn_.data(), static_cast<int>(drawn_.size()), rank);
}

// Whether a row is a combination of drawn ones.
bool Ball::lies_in_drawn(int hyperplane) {
    if (is_drawn_[hyperplane]) return true;
    if (!penalty_rows_.empty()) return false;
    drawn_.push_back(arrangement_.representatives[hyperplane]);
    const bool dependent = exact_.rank_at_most(drawn_.data(), static_cast<int>(drawn_.size()), rank);
    drawn_.pop_back();
    return dependent;
}

// The Gram matrix (its upper triangle) and the moments of the drawn rows; a zero row only adds a constant to the loss.
void Ball::accumulate(std::int64_t draw) {
    const int width = p * (p + 3) / 2;
    if (products_.empty()) list_products();
    sums_.assign(width, 0.0);
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        const double mass = problem_.mass(draw, i);
        if (mass == 0.0 || arrangement_.of_row[i] < 0) continue;
        const double* products = products_.row(i, width);
        for (int k = 0; k < width; ++k) sums_[k] += mass * products[k];
    }
    const double* next = sums_.data();
    for (int a = 0; a < p; ++a) {
        moment_[a] = *next++;
        for (int b = a; b < p; ++b) {
            double& entry = gram_.row(a, p)[b];
            entry = *next++;
            if (problem_.penalty != nullptr) entry += static_cast<double>(problem_.n) * problem_.penalty[a * p + b];
        }
    }
}

// Squaring the rows has cost half of the digits; where that could show, this gives up.
bool Ball::factorize_gram(double least) {
    if (!factor_.factorize(gram_, least)) return false;
    std::iota(order_.begin(), order_.end(), 0);
    factor_.solve_transposed(moment_.data(), scratch_.data());
    rank = p;
    return true;
}

// The weighted rows themselves, sqrt(mass_i) (x_i, target_i), and the rows that stand for the penalty.
void Ball::factorize_rows(std::int64_t draw) {
    rows_.clear();
    for (std::int64_t i = 0; i < problem_.n; ++i) {
        if (problem_.mass(draw, i) == 0.0 || arrangement_.of_row[i] < 0) continue;
        const double root = std::sqrt(problem_.mass(draw, i));
        for (int k = 0; k < p; ++k) rows_.push_back(root * problem_.design[i * p + k]);
        rows_.push_back(root * problem_.target(i));
    }
    rows_.insert(rows_.end(), penalty_rows_.begin(), penalty_rows_.end());
    rank = factor_.factorize_rows(rows_, Settings::rank, order_, scratch_.data());
}

// Rows F with F'F = n * penalty, each followed by the label 0 it is fitted to: the strengths of the caller's penalty,
// or its eigenvectors.
void Ball::factorize_penalty() {
    if (problem_.raw.design != nullptr && problem_.raw.penalty != nullptr) {
        for (std::int64_t j = 0; j < problem_.raw.p; ++j) {
            const double root = std::sqrt(static_cast<double>(problem_.n) * problem_.raw.penalty[j]);
            if (root == 0.0) continue;
            for (int k = 0; k < p; ++k) penalty_rows_.push_back(root * problem_.raw.map[j * p + k]);
            penalty_rows_.push_back(0.0);
        }
        return;
    }
    const SymmetricEigen eigen(p, problem_.penalty);
    const double largest = *std::max_element(eigen.values.begin(), eigen.values.end());
    for (int k = 0; k < p; ++k) {
        if (!(eigen.values[k] > Settings::penalty_rank * largest)) continue;
        // sqrt(n) P e / sqrt(e'P e)
        const double root = std::sqrt(static_cast<double>(problem_.n)) * (eigen.values[k] / std::sqrt(eigen.values[k]));
        for (int l = 0; l < p; ++l) penalty_rows_.push_back(root * eigen.vectors.row(k, p)[l]);
        penalty_rows_.push_back(0.0);
    }
}

// From the factor R (rank, p) and the transformed labels in scratch_: the minimizer with zeros on the flat coordinates,
// and the null space [-R1^{-1} R2; I], a column for every flat coordinate.
void Ball::finish() {
    factor_.solve(scratch_.data(), scratch_.data());
    for (int k = 0; k < p; ++k) minimizer_[order_[k]] = k < rank ? scratch_[k] : 0.0;
    for (int f = rank; f < p; ++f) {
        double* column = flat_.row(f - rank, p);
        std::fill(column, column + p, 0.0);
        column[f] = 1.0;
        for (int k = 0; k < rank; ++k) column[k] = -factor_.row(k)[f];
        factor_.solve(column, column);
    }
}

void Ball::place_curved(const Vector<int>& hyperplanes, double* units, double* offsets) {
    const std::size_t m = hyperplanes.size();
    columns_.resize(std::ssize(hyperplanes) * p);
    lengths_.resize(m);
    for (int k = 0; k < p; ++k) {
        double* column = columns_.row(k, m);
        for (std::size_t i = 0; i < m; ++i) column[i] = arrangement_.normal(hyperplanes[i])[order_[k]];
    }
    factor_.solve_transposed(columns_.data(), static_cast<int>(m), lengths_.data());
    std::fill_n(offsets, m, 0.0);
    for (int k = 0; k < p; ++k) {
        const double* column = columns_.row(k, m);
        for (std::size_t i = 0; i < m; ++i) offsets[i] -= column[i] * apex[k];  // they pass through beta = 0
    }
    for (std::size_t i = 0; i < m; ++i) {
        lengths_[i] = 1.0 / std::sqrt(lengths_[i]);
        offsets[i] *= lengths_[i];
    }
    for (int k = 0; k < p; ++k) {
        const double* column = columns_.row(k, m);
        double* unit = units + k;
        for (std::size_t i = 0; i < m; ++i, unit += p) *unit = column[i] * lengths_[i];
    }
}

bool Ball::place(int hyperplane, double* unit, double* offset) {
    const double* normal = arrangement_.normal(hyperplane);
    normal_from_beta(normal, unit);
    if (is_drawn_[hyperplane]) std::fill(unit + rank, unit + p, 0.0);  // up to rounding
    double flat = 0.0;
    for (int f = rank; f < p; ++f) flat = std::max(flat, std::abs(unit[f] * Settings::flat_step));
    if (flat > 0.0 && flat <= Settings::flat_part) {
        // rounding, or a direction that is hardly used: the rows decide
        if (!lies_in_drawn(hyperplane)) certain = false;
        std::fill(unit + rank, unit + p, 0.0);
        flat = 0.0;
    }
    double length2 = 0.0;
    for (int k = 0; k < p; ++k) length2 += unit[k] * unit[k];
    const double scaled = 1.0 / std::sqrt(length2);
    double constant = 0.0;
    for (int k = 0; k < p; ++k) unit[k] *= scaled;
    for (int k = 0; k < rank; ++k) constant -= unit[k] * apex[k];  // every hyperplane passes through beta = 0
    *offset = constant;
    return flat > 0.0;
}

double Ball::normal_from_beta(const double* row, double* normal) const {
    for (int k = 0; k < p; ++k) scratch_[k] = row[order_[k]];
    factor_.solve_transposed(scratch_.data(), normal);
    for (int f = rank; f < p; ++f) {
        const double* column = flat_.row(f - rank, p);
        normal[f] = dot(column, scratch_.data(), p) / Settings::flat_step;
    }
    return dot(row, minimizer_.data(), p);
}

void Ball::direction_to_beta(const double* v, double* beta) const {
    Vector<double>& x = scratch_;
    std::fill(x.begin(), x.end(), 0.0);
    factor_.solve(v, x.data());
    for (int f = rank; f < p; ++f) {
        const double* column = flat_.row(f - rank, p);
        for (int k = 0; k < p; ++k) x[k] += column[k] * (v[f] / Settings::flat_step);
    }
    for (int k = 0; k < p; ++k) beta[order_[k]] = x[k];
}

void Ball::direction_from_beta(const double* beta, double* v) const {
    for (int k = 0; k < p; ++k) scratch_[k] = beta[order_[k]];
    factor_.multiply(scratch_.data(), v);
    for (int f = rank; f < p; ++f) v[f] = Settings::flat_step * scratch_[f];
}

void Ball::to_beta(const double* v, double* beta) const {
    direction_to_beta(v, beta);
    for (int k = 0; k < p; ++k) beta[k] += minimizer_[k];
}

}  // namespace cudbound
