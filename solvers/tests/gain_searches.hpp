// What every search for the largest total gain promises, whatever its way: checks for test_gain_by_conflicts.cpp and
// test_gain_by_cones.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrangements.hpp"
#include "check.hpp"
#include "control/budget.hpp"

namespace gain_searches {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

struct Run {
    double best, upper;
    std::vector<double> direction;
    bool exhausted;
    std::int64_t nodes;
};

// A budget that has begun.
class Begun {
 public:
    explicit Begun(std::int64_t nodes = no_limit) : budget_(limits_of(nodes), stop_) { budget_.start(); }
    cudbound::Budget& operator*() { return budget_; }

 private:
    static cudbound::Limits limits_of(std::int64_t nodes) {
        cudbound::Limits limits;
        limits.nodes = nodes;
        return limits;
    }

    const std::atomic<bool> stop_{false};
    cudbound::Budget budget_;
};

// With enough to beat: upper is the larger of it and the largest gain; what is beaten is found. `search(problem,
// enough)` gives a Run.
template <typename Search>
void check_enough_prunes(const Search& search, std::uint64_t seed, int size, int kinds) {
    Random random(seed);
    for (int trial = 0; trial < check::trials(150); ++trial) {
        const int p = 2 + trial % 3;
        const GainProblem problem = random_gains(random, p, size, static_cast<NormalKind>(trial % kinds));
        const double expected = oracle::largest_gain(problem.normals, problem.gains, p);
        for (const double enough : {expected - 1.0, expected - 0.5, expected, expected + 0.5, expected + 100.0}) {
            check::set_context("trial", trial, "p", p, "enough - largest", enough - expected);
            const Run run = search(problem, enough);
            CHECK_EQUAL(run.upper, std::max(expected, enough));
            CHECK_AT_MOST(run.best, expected);
            if (enough < expected) CHECK_EQUAL(run.best, expected);
        }
    }
}

// A limit that is met, of the search or of the draw: best is still attained by some cell and upper still bounds all of
// them. Only the limit of the draw marks its budget as exhausted. `search(problem, nodes, budget_nodes)` gives a Run;
// `sizes` are for p = 2, 3 and 4.
template <typename Search>
void check_nodes_run_out(const Search& search, std::uint64_t seed, const int (&sizes)[3]) {
    Random random(seed);
    int open = 0;
    for (int trial = 0; trial < check::trials(60); ++trial) {
        const int p = 2 + trial % 3;
        const GainProblem problem = random_gains(random, p, sizes[p - 2], static_cast<NormalKind>(trial % 2));
        const double expected = oracle::largest_gain(problem.normals, problem.gains, p);
        for (int nodes = 0; nodes < 12; ++nodes) {
            for (const bool own : {true, false}) {
                check::set_context("trial", trial, "p", p, "nodes", nodes, "own", own);
                const Run run = own ? search(problem, nodes, no_limit) : search(problem, infinity, nodes);
                CHECK_AT_MOST(expected, run.upper);
                CHECK_AT_MOST(run.best, expected);
                if (nodes == 0) CHECK_EQUAL(run.best, -1.0);  // nothing was found
                if (own) CHECK(!run.exhausted);
                if (run.upper > run.best) {
                    ++open;
                    if (!own) CHECK(run.exhausted);
                }
            }
        }
    }
    check::set_context("searches that did not end");
    CHECK_AT_MOST(check::share_of(100), open);
}

}  // namespace gain_searches
