// Searches for quantiles: what is found without solving every draw is what solving every draw finds.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "instances.hpp"
#include "problem/arrangement.hpp"
#include "search/draw_solver.hpp"

namespace {

using cudbound::Limits;
using cudbound::Side;
using cudbound::Status;
using Ranks = std::vector<std::int64_t>;

// Values are rounded upwards by what may have been lost of the loss, times alpha.
double close_to(const Instance& instance) {
    return 1e-12 * (1.0 + (std::isinf(instance.alpha) ? 0.0 : instance.alpha));
}

double smallest(std::vector<double> values, std::int64_t rank) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(rank - 1)];
}

std::int64_t spent(const Answer& answer) {
    return std::accumulate(answer.nodes.begin(), answer.nodes.end(), std::int64_t{0});
}

// The bounds of every draw and of every quantile hold; the status of a draw says what its bounds say. `proved`: and
// every quantile is known.
void check_brackets(const Instance& instance, const Answer& answer, const Answer& exact, const Ranks& ranks,
                    bool proved) {
    const double close = close_to(instance);
    for (std::size_t d = 0; d < exact.lower.size(); ++d) {
        CHECK_AT_MOST(answer.lower[d], exact.upper[d] + close);
        CHECK_AT_MOST(exact.lower[d], answer.upper[d] + close);
        CHECK_AT_MOST(answer.lower[d], answer.upper[d]);
        if (answer.lower[d] == answer.upper[d]) CHECK(answer.status[d] == Status::OPTIMAL);
        if (answer.status[d] == Status::OPTIMAL) CHECK_EQUAL(answer.lower[d], answer.upper[d]);
    }
    for (const auto rank : ranks) {
        const double lower = smallest(answer.lower, rank);
        const double upper = smallest(answer.upper, rank);
        CHECK_AT_MOST(lower, smallest(exact.upper, rank) + close);
        CHECK_AT_MOST(smallest(exact.lower, rank), upper + close);
        if (!proved) continue;
        CHECK_EQUAL(lower, upper);
        CHECK_NEAR(lower, smallest(exact.lower, rank), close);
        // nothing more of any draw is needed
        for (const Status status : answer.status) CHECK(status == Status::DECIDED || status == Status::OPTIMAL);
    }
}

Instance random_problem(Random& random, int trial, cudbound::Loss loss, int draws) {
    const int p = 1 + trial % 4;
    const RowKind rows[] = {RowKind::general, RowKind::homogeneous, RowKind::integers, RowKind::repeated};
    Instance instance = random_instance(random, 22, p, rows[trial / 2 % 4],
                                        trial % 2 == 0 ? LabelKind::clear : LabelKind::noise, draws);
    instance.loss = loss;
    if (loss != cudbound::Loss::SQUARED) penalize(std::vector<double>(p, 0.02), &instance);
    if (trial % 3 == 0) {
        for (int i = 0; i < draws * instance.n; ++i) instance.weights.push_back(normal(random) / instance.n);
    }
    const double rates[] = {0.0, 3.0, 22.0, 22.0, 484.0, std::numeric_limits<double>::infinity()};
    instance.alpha = rates[integer(random, 0, 5)];
    return instance;
}

Limits nodes(std::int64_t number) {
    Limits limits;
    limits.nodes = number;
    return limits;
}

}  // namespace

TEST(equal_to_all_draws_solved) {
    Random random(231);
    const int draws = 60;
    for (int trial = 0; trial < check::trials(48); ++trial) {
        const cudbound::Loss loss = all_losses[(trial + trial / 24) % 6];  // each with all kinds of problems
        const Instance instance = random_problem(random, trial, loss, draws);
        for (const Side side : {Side::BOTH, Side::POSITIVE, Side::NEGATIVE}) {
            const Answer exact = solve(instance, {}, side);
            for (const Ranks& ranks : {Ranks{57}, Ranks{1}, Ranks{60}, Ranks{30, 54, 60}, Ranks{57, 57}}) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "side", static_cast<int>(side),
                                   "rank", ranks[0], "of", ranks.size());
                check_brackets(instance, solve_ranks(instance, ranks, {}, side), exact, ranks, true);
            }
        }
    }
}

// That is what it is for: far fewer nodes.
TEST(fewer_nodes) {
    Random random(232);
    for (const int p : {2, 3, 4}) {
        check::set_context("p", p);
        const Instance instance = random_instance(random, 40, p, RowKind::general, LabelKind::clear, 200);
        const Answer exact = solve(instance);
        const Answer directed = solve_ranks(instance, {190});
        check_brackets(instance, directed, exact, {190}, true);
        CHECK_AT_MOST(2 * spent(directed), spent(exact));
        CHECK(std::find(directed.status.begin(), directed.status.end(), Status::DECIDED) != directed.status.end());
    }
}

// Batches are planned from bounds alone: the same bits for any number of threads, whether limits are met or not.
TEST(threads_give_the_same_bits) {
    Random random(233);
    for (int trial = 0; trial < check::trials(12); ++trial) {
        const Instance instance = random_problem(random, trial, all_losses[trial % 6], 80);
        Limits counted;
        counted.total_nodes = 300;
        for (const Limits& limits : {Limits{}, nodes(7), counted}) {
            const Answer one = solve_ranks(instance, {40, 76}, limits);
            for (const int threads : {2, 8}) {
                check::set_context("trial", trial, "threads", threads, "nodes", limits.nodes);
                CHECK(solve_ranks(instance, {40, 76}, limits, Side::BOTH, threads) == one);
            }
        }
    }
}

// A search cut short leaves brackets that hold, and more nodes never make them wider at the end.
TEST(node_limits_leave_brackets) {
    Random random(234);
    int open = 0;
    for (int trial = 0; trial < check::trials(12); ++trial) {
        const Instance instance = random_problem(random, trial, all_losses[trial % 6], 50);
        const Answer exact = solve(instance);
        const Ranks ranks = {25, 48};
        for (const std::int64_t limit : {0, 1, 3, 10, 100}) {
            check::set_context("trial", trial, "limit", limit);
            const Answer cut = solve_ranks(instance, ranks, nodes(limit));
            check_brackets(instance, cut, exact, ranks, false);
            for (const auto rank : ranks) open += smallest(cut.lower, rank) < smallest(cut.upper, rank) ? 1 : 0;
            for (std::size_t d = 0; d < cut.status.size(); ++d) {
                CHECK(cut.status[d] == Status::OPTIMAL || cut.status[d] == Status::DECIDED ||
                      cut.status[d] == Status::NODE_LIMIT);
            }
        }
        check::set_context("trial", trial);
        check_brackets(instance, solve_ranks(instance, ranks, nodes(std::int64_t{1} << 40)), exact, ranks, true);
    }
    CHECK_AT_MOST(check::share_of(10), open);
}

// Nodes of the whole call: none are spent on searches beyond them, brackets hold, and what was enough once is enough
// again.
TEST(total_nodes_stop) {
    Random random(235);
    for (int trial = 0; trial < check::trials(12); ++trial) {
        check::set_context("trial", trial);
        const Instance instance = random_problem(random, trial, all_losses[trial % 6], 50);
        const Answer exact = solve(instance);
        for (const Ranks& ranks : {Ranks{47}, Ranks{}}) {
            const Answer whole = solve_ranks(instance, ranks);
            Limits limits;
            for (const std::int64_t total : {0, 1, 10, 100}) {
                check::set_context("trial", trial, "total", total, "ranks", ranks.size());
                limits.total_nodes = total;
                const Answer cut = solve_ranks(instance, ranks, limits);
                check_brackets(instance, cut, exact, ranks, false);
                // a batch of up to 32 searches shares what is left, but none is given less than one node
                const std::int64_t dives = ranks.empty() ? 0 : 2 * 2 * 8 * 50;
                CHECK_AT_MOST(spent(cut), dives + total + 32);
                for (std::size_t d = 0; d < cut.status.size(); ++d) CHECK(cut.status[d] != Status::INTERRUPTED);
            }
            limits.total_nodes = 100 * (spent(whole) + 100);
            check_brackets(instance, solve_ranks(instance, ranks, limits), exact, ranks, true);
        }
    }
}

// A search resumes from what is already known about the draws: further ranks, or the same after a limit, or all draws.
TEST(known_bounds_are_gone_on_from) {
    Random random(236);
    for (int trial = 0; trial < check::trials(12); ++trial) {
        const Instance instance = random_problem(random, trial, all_losses[trial % 6], 50);
        const Answer exact = solve(instance);
        const Ranks ranks = {25, 45};
        for (const std::int64_t limit : {0, 2, 50}) {
            check::set_context("trial", trial, "limit", limit);
            const Answer cut = solve_ranks(instance, ranks, nodes(limit));
            const Answer more = solve_ranks(instance, ranks, {}, Side::BOTH, 2, &cut);
            check_brackets(instance, more, exact, ranks, true);
            for (std::size_t d = 0; d < cut.lower.size(); ++d) {
                CHECK_AT_MOST(cut.lower[d], more.lower[d]);
                CHECK_AT_MOST(more.upper[d], cut.upper[d] + close_to(instance));
                CHECK_AT_MOST(cut.nodes[d], more.nodes[d]);
            }
            const Answer further = solve_ranks(instance, {10, 25, 45, 50}, {}, Side::BOTH, 1, &more);
            check_brackets(instance, further, exact, {10, 25, 45, 50}, true);
            const Answer all = solve_ranks(instance, {}, {}, Side::BOTH, 1, &further);
            for (std::size_t d = 0; d < cut.lower.size(); ++d) {
                CHECK(all.status[d] == Status::OPTIMAL);
                CHECK_NEAR(all.lower[d], exact.lower[d], close_to(instance));
                CHECK_NEAR(all.upper[d], exact.upper[d], close_to(instance));
            }
            // nothing is left to do
            const Answer again = solve_ranks(instance, ranks, {}, Side::BOTH, 1, &more);
            CHECK_EQUAL(spent(again), spent(more));
        }
    }
}

// The floor has no tolerance: of a draw whose Q is the next number above it, the upper bound is that Q. At the floor
// itself nothing is above it, and the search ends.
TEST(the_floor_of_a_search_is_exact) {
    Random random(238);
    int whole = 0;
    for (int trial = 0; trial < check::trials(60); ++trial) {
        const Instance instance = random_problem(random, trial, all_losses[trial % 6], 20);
        const cudbound::Problem problem = instance.view();
        const cudbound::Arrangement arrangement = cudbound::merge_rows(problem);
        const std::atomic<bool> stop{false};
        cudbound::KeptDraws kept(20);
        cudbound::DrawSolver solver(problem, arrangement, stop, {}, cudbound::Budget::Clock::now(), kept);
        std::vector<double> witness(static_cast<std::size_t>(instance.p));
        const auto search = [&](int draw, double floor) {
            return solver.search(draw, Side::BOTH, {floor, std::numeric_limits<double>::infinity()}, witness.data());
        };
        for (int d = 0; d < 20; ++d) {
            check::set_context("trial", trial, "draw", d);
            const double q = search(d, 0.0).upper;
            const cudbound::Outcome at_floor = search(d, q);
            CHECK_NEAR(at_floor.upper, q, close_to(instance));
            CHECK(at_floor.status() == Status::DECIDED || at_floor.status() == Status::OPTIMAL);
            // where g = 1 and the loss is not that of a Newton step, values do not depend on the path to them
            if (trial % 6 != 0 && trial % 6 != 4) continue;
            if (!instance.weights.empty() || q == 0.0 || q * instance.n != std::round(q * instance.n)) continue;
            ++whole;
            const cudbound::Outcome below = search(d, std::nextafter(q, 0.0));
            CHECK_EQUAL(below.lower, q);
            CHECK_EQUAL(below.upper, q);
        }
    }
    CHECK_AT_MOST(check::share_of(20), whole);
}

// Draws with the same Q are as many floors that are met exactly, with weights whose sums carry rounding errors too.
TEST(draws_with_equal_values_end) {
    Random random(239);
    for (int trial = 0; trial < check::trials(24); ++trial) {
        Instance instance = random_problem(random, trial, all_losses[trial % 6], 60);
        for (int d = 3; d < 60; ++d) {
            std::copy_n(instance.counts.begin(), instance.n, instance.counts.begin() + d * instance.n);
            if (instance.weights.empty()) continue;
            // in two of three copies all scores are 0
            for (int i = 0; i < instance.n; ++i)
                instance.weights[d * instance.n + i] = d % 3 == 0 ? instance.weights[i] : 0.0;
        }
        const Answer exact = solve(instance);
        for (const Ranks& ranks : {Ranks{1}, Ranks{20}, Ranks{57}, Ranks{60}}) {
            check::set_context("trial", trial, "rank", ranks[0]);
            check_brackets(instance, solve_ranks(instance, ranks), exact, ranks, true);
        }
    }
}

TEST(ranks_that_are_refused) {
    Random random(237);
    const Instance instance = random_problem(random, 0, cudbound::Loss::SQUARED, 10);
    for (const Ranks& ranks : {Ranks{0}, Ranks{11}, Ranks{5, 4}, Ranks{-1, 3}}) {
        CHECK_THROWS(solve_ranks(instance, ranks), std::invalid_argument, "ranks must be in [1, draws] and ascending");
    }
}
