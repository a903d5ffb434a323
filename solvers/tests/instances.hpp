// Problems that own their arrays, random ones, and a call of the solver that owns its results.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "cudbound/draws.hpp"

inline constexpr cudbound::Loss all_losses[] = {cudbound::Loss::SQUARED,     cudbound::Loss::LOGISTIC,
                                                cudbound::Loss::EXPONENTIAL, cudbound::Loss::SQUARED_HINGE,
                                                cudbound::Loss::HINGE,       cudbound::Loss::HUBER};

struct Instance {
    int n = 0;
    int p = 0;
    int draws = 1;
    std::vector<double> design;         // (n, p)
    std::vector<double> labels;         // (n)
    std::vector<double> anchor;         // (p)
    std::vector<std::int32_t> counts;   // (draws, n)
    std::vector<double> weights;        // (draws, n), or empty
    std::vector<double> sample_weight;  // (n), or empty
    std::vector<double> draw_scale;     // (draws), or empty
    std::vector<double> offset;         // (n), or empty
    std::vector<double> penalty;        // (p, p), or empty
    double anchor_penalty = 0.0;
    std::vector<double> l1;  // (width()), or empty
    cudbound::Loss loss = cudbound::Loss::SQUARED;
    double alpha = 0.0;

    // The caller's coordinates, if they are others.
    struct Raw {
        int p = 0;
        std::vector<double> design;   // (n, raw.p)
        std::vector<double> anchor;   // (raw.p)
        std::vector<double> penalty;  // (raw.p), or empty
        std::vector<double> map;      // (raw.p, p)
        std::vector<double> exact;    // (n, p)
        double error = 0.0;
    } raw;

    cudbound::Problem view() const;
    int width() const { return raw.p > 0 ? raw.p : p; }  // of a witness
};

struct Answer {
    std::vector<double> lower, upper;  // (draws)
    std::vector<cudbound::Status> status;
    std::vector<std::int64_t> nodes;
    std::vector<double> witness;  // (draws, instance.width())

    bool operator==(const Answer& other) const = default;
};

Answer solve(const Instance& instance, const cudbound::Limits& limits = {}, cudbound::Side side = cudbound::Side::BOTH,
             int threads = 1, const cudbound::Monitor& monitor = {});

// As much of it as the quantiles at these ranks need, on top of what is `known`, if anything.
Answer solve_ranks(const Instance& instance, const std::vector<std::int64_t>& ranks,
                   const cudbound::Limits& limits = {}, cudbound::Side side = cudbound::Side::BOTH, int threads = 1,
                   const Answer* known = nullptr, const cudbound::Monitor& monitor = {});

using Random = std::mt19937_64;

double normal(Random& random);
int integer(Random& random, int low, int high);  // both included

enum class RowKind {
    general,      // normal entries after a column of ones
    homogeneous,  // normal entries
    integers,     // entries -1, 0, 1: many collinear rows, zero rows, many hyperplanes through a point
    repeated      // rows that are copies, exact multiples and negatives of others
};
enum class LabelKind {
    noise,  // fair coins: beta = 0 is nearly as good as the fit
    clear   // follow a linear rule with some errors
};

// One draw, all of whose numbers are written down; unit weights of the rows, no offset, no penalty.
Instance by_hand(std::vector<double> design, std::vector<double> labels, std::vector<double> anchor,
                 std::vector<std::int32_t> counts, double alpha, cudbound::Loss loss = cudbound::Loss::SQUARED);

// p = 1, rows 1 and 2 with labels +1, -1 and counts 1, 2, anchor 1, alpha 1.
Instance two_rows(cudbound::Loss loss = cudbound::Loss::SQUARED);

// p = 2, rows e_1 and e_2, labels +1, counts 1, weights 2 and 3, anchor (1, 1).
Instance two_orthogonal_rows(double alpha, cudbound::Loss loss = cudbound::Loss::SQUARED);

// Whether coefficients lie off the hyperplanes of all rows, zero rows apart, that have a weight in a draw.
bool off_hyperplanes(const Instance& instance, int draw, const double* beta);

// Adds the penalty sum_k strengths_k beta_k^2, and that of the anchor.
void penalize(const std::vector<double>& strengths, Instance* instance);

// n >= p rows that span R^p, labels, the least-squares fit as anchor, multinomial counts, alpha = n.
Instance random_instance(Random& random, int n, int p, RowKind rows, LabelKind labels, int draws = 1);

// The same problem in other coordinates beta = map^-1 coef of the same span: those that it had become the raw ones.
void change_basis(Random& random, Instance* instance);
