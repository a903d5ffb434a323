// The largest total gain of strict inequalities a_j'w > 0 that hold at once, by branch and bound.
#include <cmath>

#include "gain_searches.hpp"
#include "search/gain_by_conflicts.hpp"

namespace {

using namespace gain_searches;

// `nodes` of this search alone; `budget_nodes` of the draw it belongs to.
Run search(const GainProblem& problem, double enough, double nodes = infinity, std::int64_t budget_nodes = no_limit) {
    Begun begun(budget_nodes);
    cudbound::Budget& budget = *begun;
    const Hyperplanes hyperplanes = problem.hyperplanes();
    cudbound::GainByConflicts gain_by_conflicts(hyperplanes.arrangement);
    gain_by_conflicts.search(hyperplanes.central(problem.gains), enough, nodes, budget);
    CHECK_AT_MOST(static_cast<double>(budget.nodes()), nodes);
    return {gain_by_conflicts.best(), gain_by_conflicts.upper(), gain_by_conflicts.direction(), budget.exhausted(),
            budget.nodes()};
}

}  // namespace

// Three lines at 120 degrees with gains 1, 2, 3: all three exclude each other, so the cheapest is given up: 5.
TEST(three_lines_by_hand) {
    const double h = std::sqrt(0.75);
    for (const int p : {2, 3}) {
        check::set_context("p", p);
        GainProblem problem{p, {{1.0, 0.0}, {-0.5, h}, {-0.5, -h}}, {1.0, 2.0, 3.0}};
        if (p == 3) {
            for (auto& a : problem.normals) a.push_back(0.0);
        }
        const Run run = search(problem, 0.0);
        CHECK_EQUAL(run.best, 5.0);
        CHECK_EQUAL(run.upper, 5.0);
        CHECK_EQUAL(problem.gain_at(run.direction, 1e-10), 5.0);
    }
}

// Without enough to beat, best and upper are the largest gain of any cell, and the direction lies in such a cell.
TEST(random_against_enumeration) {
    Random random(41);
    for (int trial = 0; trial < check::trials(300); ++trial) {
        const int p = 1 + trial % 5;
        const auto kind = static_cast<NormalKind>(trial / 5 % 3);
        const int m = p == 5 ? integer(random, 2, 7) : integer(random, 1, 8);
        const GainProblem problem = random_gains(random, p, m, kind);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const double expected = oracle::largest_gain(problem.normals, problem.gains, p);
        const Run run = search(problem, 0.0);
        CHECK_EQUAL(run.best, expected);
        CHECK_EQUAL(run.upper, expected);
        CHECK(!run.exhausted);
        // a hyperplane through the direction counts as not reached, so the cells next to it gain at least as much
        double gain = 0.0;
        for (std::size_t j = 0; j < problem.gains.size(); ++j) {
            if (oracle::dot(problem.normals[j], run.direction) > 1e-10) gain += problem.gains[j];
        }
        CHECK_EQUAL(gain, expected);
    }
}

TEST(enough_prunes) {
    check_enough_prunes([](const auto& problem, double enough) { return search(problem, enough); }, 42, 8, 2);
}

TEST(nodes_run_out) {
    check_nodes_run_out([](const auto& problem, double nodes,
                           std::int64_t budget_nodes) { return search(problem, 0.0, nodes, budget_nodes); },
                        43, {12, 12, 9});
}

// Three planes that share an axis but for a millionth of a millionth: their rows are not dependent, so all three have
// an open cell in common, but it is too thin to be found. It may not be ruled out either, with a gain of 6.
TEST(a_cell_too_thin_to_tell_stays_possible) {
    const double h = std::sqrt(0.75);
    const GainProblem problem{3, {{1.0, 0.0, 0.0}, {-0.5, h, 1e-12}, {-0.5, -h, 0.0}}, {1.0, 2.0, 3.0}};
    const Run run = search(problem, 0.0);
    CHECK(!run.exhausted);
    CHECK_AT_MOST(run.best, 6.0);
    CHECK_EQUAL(run.upper, 6.0);
    if (run.best >= 0.0) CHECK_EQUAL(problem.gain_at(run.direction, 0.0), run.best);
}

// Two lines that nearly coincide: the cell between them is found, though no direction clears both by more than a tie.
TEST(a_thin_cell_gains_what_it_holds) {
    const GainProblem problem{2, {{0.0, 1.0}, {-2e-10, -1.0}}, {2.0, 1.0}};
    const Run run = search(problem, 0.0);
    CHECK_EQUAL(run.best, 3.0);
    CHECK_EQUAL(run.upper, 3.0);
    CHECK_EQUAL(problem.gain_at(run.direction, 0.0), 3.0);
}
