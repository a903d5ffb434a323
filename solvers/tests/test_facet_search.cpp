// The largest total gain of strict inequalities a_j'w > 0 that hold at once, by visiting all cells.
#include <atomic>
#include <cmath>
#include <limits>

#include "arrangements.hpp"
#include "check.hpp"
#include "facet_search.hpp"
#include "max_gain.hpp"

namespace {

using cudbound::Budget;
using cudbound::FacetSearch;
using cudbound::Limits;

struct Run {
    bool complete;
    double best;
    std::vector<double> direction;
    std::int64_t nodes;
};

Run search(const GainProblem& problem, std::int64_t nodes = std::numeric_limits<std::int64_t>::max()) {
    const std::atomic<bool> stop{false};
    Limits limits;
    limits.nodes = nodes;
    Budget budget(limits, stop);
    budget.start();
    FacetSearch facets(problem.p);
    const bool complete = facets.search(problem.flat().data(), problem.gains, budget);
    CHECK_EQUAL(complete, !budget.exhausted());
    return {complete, facets.best(), facets.direction(), budget.nodes()};
}

void check_against_enumeration(const GainProblem& problem) {
    const Run run = search(problem);
    CHECK(run.complete);
    CHECK_EQUAL(run.best, oracle::largest_gain(problem.normals, problem.gains, problem.p));
    // the direction lies inside a cell with that gain, clear of every hyperplane
    CHECK_EQUAL(problem.gain_at(run.direction, 1e-12), run.best);
    // no more sweeps than announced
    if (problem.p > 1) {
        CHECK_AT_MOST(static_cast<double>(run.nodes),
                      FacetSearch::sweeps(static_cast<int>(problem.gains.size()), problem.p));
    }
}

}  // namespace

// One hyperplane: its positive side, gain 7.
TEST(one_hyperplane) {
    for (const int p : {1, 2, 3, 4, 5}) {
        check::set_context("p", p);
        oracle::Vector a(p, 0.0);
        a[p - 1] = -1.0;
        const GainProblem problem{p, {a}, {7.0}};
        check_against_enumeration(problem);
        CHECK_EQUAL(search(problem).best, 7.0);
    }
}

// Lines at 0, 90 degrees, gains 1 and 2: the first quadrant has both, 3. In R^3 with a third plane: all 6.
TEST(orthogonal_hyperplanes) {
    check_against_enumeration({2, {{1.0, 0.0}, {0.0, 1.0}}, {1.0, 2.0}});
    check_against_enumeration({3, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {1.0, 2.0}});
    const GainProblem octants{3, {{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0}}, {1.0, 2.0, 3.0}};
    check_against_enumeration(octants);
    CHECK_EQUAL(search(octants).best, 6.0);
}

// Three lines at 120 degrees, gains 1, 2, 3, exclude each other: 5. In more dimensions the hyperplanes share a flat, so
// that on each of them the other two leave the same trace.
TEST(three_lines_through_a_point) {
    const double h = std::sqrt(0.75);
    for (const int p : {2, 3, 4, 5}) {
        check::set_context("p", p);
        for (int first = 0; first + 1 < p; ++first) {
            GainProblem problem{p, oracle::Rows(3, oracle::Vector(p, 0.0)), {1.0, 2.0, 3.0}};
            problem.normals[0][first] = 1.0;
            problem.normals[1][first] = problem.normals[2][first] = -0.5;
            problem.normals[1][p - 1] = h;
            problem.normals[2][p - 1] = -h;
            check_against_enumeration(problem);
            CHECK_EQUAL(search(problem).best, 5.0);
        }
    }
}

// The lines x = 0 and y = 0 and the two diagonals, each turned either way: 16 orientations, by enumeration.
TEST(axes_and_diagonals) {
    for (int turns = 0; turns < 16; ++turns) {
        check::set_context("turns", turns);
        GainProblem problem{2, {}, {}};
        const oracle::Rows lines = {{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}, {1.0, -1.0}};
        for (int j = 0; j < 4; ++j) {
            oracle::Vector a = lines[j];
            if ((turns >> j) % 2 == 1) a = {-a[0], -a[1]};
            problem.add(a, 1.0 + j);
        }
        check_against_enumeration(problem);
    }
}

// General position, entries -1, 0, 1 (many hyperplanes through a line) and pencils (all through one flat).
TEST(random_against_enumeration) {
    Random random(51);
    for (int trial = 0; trial < 900; ++trial) {
        const int p = 1 + trial % 5;
        const auto kind = static_cast<NormalKind>(trial / 5 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        check_against_enumeration(random_gains(random, p, integer(random, 1, p == 5 ? 7 : 9), kind));
    }
}

// As many hyperplanes as a draw of fifty rows has, where enumeration would be slow: the search by conflicts judges.
TEST(random_against_max_gain) {
    Random random(52);
    const int sizes[] = {25, 16, 14, 12};
    for (int trial = 0; trial < 120; ++trial) {
        const int p = 2 + trial % 4;
        const auto kind = static_cast<NormalKind>(trial / 4 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const GainProblem problem = random_gains(random, p, sizes[p - 2], kind);
        const Run run = search(problem);
        const std::atomic<bool> stop{false};
        const Limits limits;
        Budget budget(limits, stop);
        budget.start();
        cudbound::MaxGain max_gain(p);
        max_gain.search(problem.flat().data(), problem.gains, 0.0, std::numeric_limits<double>::infinity(), budget);
        CHECK_EQUAL(run.best, max_gain.best());
        CHECK_EQUAL(problem.gain_at(run.direction, 1e-12), run.best);
    }
}

// A budget that runs out is reported, and what was found until then is attained by some cell.
TEST(budget_runs_out) {
    Random random(53);
    for (int trial = 0; trial < 40; ++trial) {
        const int p = 2 + trial % 3;
        const GainProblem problem = random_gains(random, p, 8, NormalKind::general);
        const Run whole = search(problem);
        for (std::int64_t nodes = 0; nodes < whole.nodes; ++nodes) {
            check::set_context("trial", trial, "p", p, "nodes", nodes);
            const Run run = search(problem, nodes);
            CHECK(!run.complete);
            CHECK_AT_MOST(run.best, whole.best);
            if (run.best >= 0.0) CHECK_EQUAL(problem.gain_at(run.direction, 1e-12), run.best);
        }
        check::set_context("trial", trial, "p", p);
        CHECK(search(problem, whole.nodes).complete);
    }
}
