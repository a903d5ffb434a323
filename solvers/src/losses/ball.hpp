// Squared loss in the coordinates where its sublevel sets are balls.
#pragma once

#include <numeric>

#include "linear_algebra/cholesky.hpp"
#include "linear_algebra/symmetric_eigen.hpp"
#include "problem/arrangement.hpp"

namespace cudbound {

// For one draw, beta = minimizer + map * v, and n (L(beta) - min L) = |u|^2 with v = (u, z): u in R^rank are
// the curved directions, z the flat ones, along which the loss is constant (none unless the weighted Gram
// matrix is singular). z is scaled so that |z| is small against |u| for moves of the same length in beta.
class Ball {
 public:
    Ball(const Problem& problem, const Arrangement& arrangement)
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

    // Any quadratic in place of that of a draw.
    struct Quadratic {
        Vector<double> gram;       // (p, p) half of the Hessian, its upper triangle
        Vector<double> center;     // (p) where it is least
        double least = 0.0;        // its value there
        double anchor_rise = 0.0;  // the anchor's loss less that value
        bool exists = true;
    };

    // Sets up draw `draw`; afterwards the members below describe it.
    void set(std::int64_t draw) {
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
        size = sums_.back() + radius2 + apex2;
    }

    // The same for a quadratic; false if it is singular up to rounding.
    bool set(const Quadratic& quadratic) {
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

    // The same for many hyperplanes of a draw of full rank at once; `units` has shape (hyperplanes, p).
    void place_curved(const Vector<int>& hyperplanes, double* units, double* offsets) {
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

    // Unit normal (p, contiguous) and offset of a hyperplane of the arrangement: side(v) = normal'v + offset has
    // the sign of the original. Returns whether the hyperplane can be reached along flat directions alone.
    bool place(int hyperplane, double* unit, double* offset) {
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

    // The linear function row'beta as normal'v; returns its value at v = 0.
    double normal_from_beta(const double* row, double* normal) const {
        for (int k = 0; k < p; ++k) scratch_[k] = row[order_[k]];
        factor_.solve_transposed(scratch_.data(), normal);
        for (int f = rank; f < p; ++f) {
            const double* column = flat_.row(f - rank, p);
            normal[f] = dot(column, scratch_.data(), p) / Settings::flat_step;
        }
        return dot(row, minimizer_.data(), p);
    }

    void to_beta(const double* v, double* beta) const {
        Vector<double>& x = scratch_;
        std::fill(x.begin(), x.end(), 0.0);
        factor_.solve(v, x.data());
        for (int f = rank; f < p; ++f) {
            const double* column = flat_.row(f - rank, p);
            for (int k = 0; k < p; ++k) x[k] += column[k] * (v[f] / Settings::flat_step);
        }
        for (int k = 0; k < p; ++k) beta[order_[k]] = x[k] + minimizer_[order_[k]];
    }

    int p;
    int rank = 0;
    Vector<double> anchor;  // (p) v of the anchor
    Vector<double> apex;    // (p) v of beta = 0
    double radius2 = 0.0;   // n (L(anchor) - min L), the squared radius within which g = 1
    double apex2 = 0.0;     // |u|^2 of beta = 0
    double size = 0.0;      // of the losses: rounding errors are relative to this
    double error = 0.0;     // relative rounding error of the map: grows with the condition of the draw
    bool certain = true;    // whether it is proved that the flat directions are flat

 private:
    // The Gram matrix (its upper triangle), the moments and the squared targets of the drawn rows. Others are not left
    // out, as which they are is random.
    void accumulate(std::int64_t draw) {
        const int width = p * (p + 3) / 2 + 1;
        if (products_.empty()) list_products();
        sums_.assign(width, 0.0);
        for (std::int64_t i = 0; i < problem_.n; ++i) masses_[i] = problem_.mass(draw, i);
        add_columns(products_.data(), masses_.data(), static_cast<int>(problem_.n), sums_.data(), width);
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
    bool factorize_gram(double least) {
        if (!factor_.factorize(gram_, least)) return false;
        std::iota(order_.begin(), order_.end(), 0);
        factor_.solve_transposed(moment_.data(), scratch_.data());
        rank = p;
        return true;
    }

    void measure_condition(bool squared) {
        double shortest = infinity;
        double longest = 0.0;
        for (int k = 0; k < rank; ++k) {
            shortest = std::min(shortest, std::abs(factor_.reciprocal(k)));
            longest = std::max(longest, std::abs(factor_.reciprocal(k)));
        }
        const double condition = rank > 0 ? longest / shortest : 1.0;
        error = Settings::unit_error * p * (squared ? condition * condition : condition) +
                2.0 * problem_.raw.error * condition;
    }

    void place_anchor() {
        for (int k = 0; k < p; ++k) apart_[k] = problem_.anchor[k] - minimizer_[k];
        direction_from_beta(apart_.data(), anchor.data());
        direction_from_beta(minimizer_.data(), apex.data());
        for (double& x : apex) x = -x;
        apex2 = dot(apex.data(), apex.data(), rank);
    }

    void direction_from_beta(const double* beta, double* v) const {
        for (int k = 0; k < p; ++k) scratch_[k] = beta[order_[k]];
        factor_.multiply(scratch_.data(), v);
        for (int f = rank; f < p; ++f) v[f] = Settings::flat_step * scratch_[f];
    }

    // What each row adds to these sums; a zero row adds only a constant to the loss.
    void list_products() {
        masses_.resize(problem_.n);
        products_.reserve(problem_.n * (p * (p + 3) / 2 + 1));
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double target = problem_.target(i);
            const double* row = problem_.design + i * p;
            const double share = arrangement_.of_row[i] < 0 ? 0.0 : 1.0;
            for (int a = 0; a < p; ++a) {
                products_.push_back(share * row[a] * target);
                for (int b = a; b < p; ++b) products_.push_back(share * row[a] * row[b]);
            }
            products_.push_back(target * target);
        }
    }

    // The weighted rows themselves, sqrt(mass_i) (x_i, target_i), and the rows that stand for the penalty.
    void factorize_rows(std::int64_t draw) {
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

    // Rows F with F'F = n * penalty, each followed by the label 0 it is fitted to: the strengths of the caller's
    // penalty, or its eigenvectors.
    void factorize_penalty() {
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
            const double root =
                std::sqrt(static_cast<double>(problem_.n)) * (eigen.values[k] / std::sqrt(eigen.values[k]));
            for (int l = 0; l < p; ++l) penalty_rows_.push_back(root * eigen.vectors.row(k, p)[l]);
            penalty_rows_.push_back(0.0);
        }
    }

    // From the factor R (rank, p) and the transformed labels in scratch_: the minimizer with zeros on the flat
    // coordinates, and the null space [-R1^{-1} R2; I], a column for every flat coordinate.
    void finish() {
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

    // A rank-deficient draw: that the loss is flat where it seems so must follow from the rows themselves. No more
    // dimensions than rows are certain; fewer are decided exactly, where no penalty has a share in it.
    void list_drawn(std::int64_t draw) {
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
    bool lies_in_drawn(int hyperplane) {
        if (is_drawn_[hyperplane]) return true;
        if (!penalty_rows_.empty()) return false;
        drawn_.push_back(arrangement_.representatives[hyperplane]);
        const bool dependent = exact_.rank_at_most(drawn_.data(), static_cast<int>(drawn_.size()), rank);
        drawn_.pop_back();
        return dependent;
    }

    const Problem& problem_;
    const Arrangement& arrangement_;
    ExactRank exact_;
    Vector<char> is_drawn_;           // (hyperplanes) of a rank-deficient draw: whether a row of it is drawn
    Vector<std::int64_t> drawn_;      // one row of each of these
    Vector<double> masses_;           // (n) of the draw
    Vector<double> products_;         // (n, p (p + 3) / 2 + 1) what each row adds to these sums
    Vector<double> sums_;             // (p (p + 3) / 2 + 1) Gram matrix, moments and squared targets of the draw
    Vector<double> gram_;             // (p, p), its upper triangle
    Vector<double> moment_;           // (p)
    Vector<int> order_;               // (p) pivot order
    Cholesky factor_;                 // rows and columns permuted
    Vector<double> minimizer_;        // (p)
    Vector<double> flat_;             // (p, p - rank) column-major, permuted: basis of the null space
    Vector<double> rows_;             // (drawn rows, p + 1) row-major, weighted, with their labels
    Vector<double> penalty_rows_;     // (rank of the penalty, p + 1) likewise
    Vector<double> columns_;          // (p, hyperplanes) scratch
    Vector<double> lengths_;          // (hyperplanes) scratch
    Vector<double> apart_;            // (p) the anchor less the minimizer
    mutable Vector<double> scratch_;  // (p)
};

}  // namespace cudbound
