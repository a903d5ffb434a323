// The public interface of the solver: all draws of one training set in one call.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace cudbound {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// How the search of one draw ended. OPTIMAL: lower and upper agree. INACCURATE: rounding, or steps that did
// not end, left a part of the tree open, or the value of the witness is less than what was found. DECIDED: enough is
// known for the requested quantiles.
enum class Status : std::int32_t {
    OPTIMAL = 0,
    NODE_LIMIT = 1,
    TIME_LIMIT = 2,
    INTERRUPTED = 3,
    INACCURATE = 4,
    DECIDED = 5
};

// Which deviations count: both, only bootstrap error above the weighted reference (+S), or only below it
// (-S).
enum class Side : std::int32_t { BOTH = 0, POSITIVE = 1, NEGATIVE = 2 };

// The surrogate, as a function of the margin m = y f.
enum class Loss : std::int32_t {
    SQUARED = 0,        // (1 - m)^2
    LOGISTIC = 1,       // log(1 + exp(-m))
    EXPONENTIAL = 2,    // exp(-m)
    SQUARED_HINGE = 3,  // max(0, 1 - m)^2
    HINGE = 4,          // max(0, 1 - m)
    HUBER = 5,          // max(0, 1 - m)^2 down to m = -1, -4 m below
};

// The problem in the coordinates of the caller, which decide what rounding cannot: which rows are collinear, which
// normals are dependent, and the value of a witness. Without them (a null design) those of the problem itself are used.
struct Raw {
    std::int64_t p = 0;               // coefficients
    const double* design = nullptr;   // shape (n, p)
    const double* anchor = nullptr;   // shape (p)
    const double* penalty = nullptr;  // shape (p), strengths of the squares, or null
    const double* map = nullptr;      // shape (p, Problem::p): coefficients from those of the problem
    const double* exact = nullptr;    // shape (n, Problem::p): columns of its design, a basis of their span
    double error = 0.0;               // of rows of Problem::design, from rounding, relative to their length
};

// For every draw: sup over open cells of |S| * g(alpha (L(anchor) - inf L)), where
//   S = sum_i weight_i 1{sign(x_i'beta) != y_i},
//   L(beta) = (1/n) sum_i scale count_i sample_weight_i loss(y_i (x_i'beta + offset_i)) + beta'P beta
//             + sum_j l1_j |coef_j|, coef = beta or raw.map beta.
// Arrays are row-major and belong to the caller; they are only read.
struct Problem {
    std::int64_t n = 0;                     // rows
    std::int64_t p = 0;                     // coefficients
    std::int64_t draws = 0;                 // bootstrap draws
    const double* design = nullptr;         // shape (n, p); orthonormal columns are best, any full-rank basis works
    const double* labels = nullptr;         // shape (n), -1 or +1
    const double* anchor = nullptr;         // shape (p), the fitted coefficients
    const std::int32_t* counts = nullptr;   // shape (draws, n)
    const double* weights = nullptr;        // shape (draws, n), or null for (count - 1) / n
    const double* sample_weight = nullptr;  // shape (n), non-negative, or null for 1
    const double* draw_scale = nullptr;     // shape (draws), positive, or null for 1
    const double* offset = nullptr;         // shape (n), or null for 0
    const double* penalty = nullptr;        // shape (p, p), positive semidefinite, or null
    double anchor_penalty = 0.0;            // that of the anchor, which may exceed anchor'P anchor
    const double* l1 = nullptr;             // shape (p), or (raw.p) if there is a raw design, non-negative, or null
    Loss loss = Loss::SQUARED;
    double alpha = 0.0;  // in [0, inf]
    Raw raw;

    // The coefficients of the caller: how many, and those that were fitted.
    std::int64_t callers_p() const { return raw.design == nullptr ? p : raw.p; }
    const double* callers_anchor() const { return raw.design == nullptr ? anchor : raw.anchor; }
    // Weight of row i in n L for draw `draw`.
    double mass(std::int64_t draw, std::int64_t i) const {
        double mass = counts[draw * n + i];
        if (sample_weight != nullptr) mass *= sample_weight[i];
        return draw_scale == nullptr ? mass : mass * draw_scale[draw];
    }
    // Weight of the error of row i, in units of 1 / divisor: whole numbers where it is that of the count.
    double weight(std::int64_t draw, std::int64_t i) const {
        return weights != nullptr ? weights[draw * n + i] : counts[draw * n + i] - 1.0;
    }
    // The largest and the least score that weights of one sign allow.
    struct ScoreRange {
        double most = 0.0;
        double least = 0.0;
    };
    ScoreRange score_range(std::int64_t draw) const {
        ScoreRange range;
        for (std::int64_t i = 0; i < n; ++i) {
            const double score = weight(draw, i);
            // maxima without a branch: which rows are drawn is random
            range.most += 0.5 * (std::abs(score) + score);
            range.least -= 0.5 * (std::abs(score) - score);
        }
        return range;
    }
    double divisor() const { return weights != nullptr ? 1.0 : static_cast<double>(n); }
    // What is added to the margin of row i.
    double shift(std::int64_t i) const { return offset == nullptr ? 0.0 : labels[i] * offset[i]; }
    // By how much n times the anchor's penalty exceeds `modeled`.
    double beyond_penalty(double modeled) const {
        if (penalty == nullptr) return 0.0;
        const double beyond = static_cast<double>(n) * anchor_penalty - modeled;
        return beyond > 0.0 ? beyond : 0.0;
    }
    // What x_i'beta is fitted to under squared loss.
    double target(std::int64_t i) const { return offset == nullptr ? labels[i] : labels[i] - offset[i]; }
};

// A loss and its first and second derivative in the margin; at a kink, those from the side of large margins.
struct LossAt {
    double value;
    double slope;
    double bend;
};

LossAt loss_at(Loss loss, double margin);

struct Limits {
    std::int64_t nodes = unlimited;        // per search of a draw
    double seconds = infinity;             // per search of a draw
    std::int64_t total_nodes = unlimited;  // of the whole call
    double total_seconds = infinity;       // of the whole call
};

// The requested quantiles: the draws' values in ascending order at these ranks, which are in [1, draws] and ascending.
// None: every draw is solved completely.
struct Ranks {
    const std::int64_t* values = nullptr;
    std::int64_t count = 0;
    bool known = false;  // whether the results hold what is already known about each draw
};

// Row d of every array belongs to draw d; witness has shape (draws, p), or (draws, raw.p) if the problem is raw.
struct Results {
    double* lower = nullptr;
    double* upper = nullptr;
    std::int32_t* status = nullptr;
    std::int64_t* nodes = nullptr;
    double* witness = nullptr;
};

// Called on the calling thread about every 50 ms with the number of finished draws; false asks for a stop.
using Monitor = std::function<bool(std::int64_t)>;

// Solves all draws on `threads` threads. The answer does not depend on their number.
// Throws std::invalid_argument when the problem is not well formed.
void solve_draws(const Problem& problem, const Limits& limits, Side side, const Ranks& ranks, int threads,
                 const Monitor& monitor, const Results& results);

// Row d of every array belongs to draw d; coef has shape (draws, p). Where L has no minimizer, attained is false and
// the coefficients have a loss within rounding of its infimum; where rounding kept the search from either, found is
// false.
struct Minimizers {
    double* coef = nullptr;
    bool* attained = nullptr;
    bool* found = nullptr;
};

// Calls `monitor` as solve_draws does, between draws; returns false if it asked for a stop.
bool minimize(const Problem& problem, const Monitor& monitor, const Minimizers& minimizers);

}  // namespace cudbound
