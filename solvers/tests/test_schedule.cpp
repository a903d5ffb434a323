// Which draw is searched next: against a solver that is made up, whose answers are known.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "instances.hpp"
#include "schedule/schedule.hpp"

namespace {

using cudbound::Kind;
using cudbound::Limits;
using cudbound::Outcome;
using cudbound::Status;
using cudbound::Task;

constexpr std::int64_t first_cap = 4000;

// What a search finds out about a draw. One that is stuck never leaves its bounds; the others take `nodes` nodes.
struct Draw {
    double value = 0.0;
    std::int64_t nodes = 1;
    bool stuck = false;
    double lower = 0.0;
    double upper = 0.5;
    double easy_from = 1.0;      // with such floors a search takes one node
    std::int64_t conflicts = 0;  // that each node takes as long as
};

struct Ended {
    std::vector<double> lower, upper;
    std::vector<std::int32_t> status;
    std::vector<std::int64_t> nodes;

    double smallest(std::vector<double> values, std::int64_t rank) const {
        std::sort(values.begin(), values.end());
        return values[static_cast<std::size_t>(rank - 1)];
    }
    std::int64_t count(Status which) const {
        return std::count(status.begin(), status.end(), static_cast<std::int32_t>(which));
    }
};

Outcome answer(const Draw& draw, const Task& task) {
    Outcome outcome;
    outcome.upper = 0.5;
    if (task.kind != Kind::search) return outcome;
    if (draw.stuck) return {draw.lower, draw.upper, cudbound::End::inaccurate, Status::OPTIMAL, 1};
    const std::int64_t nodes = task.target.floor >= draw.easy_from ? 1 : draw.nodes;
    const std::int64_t possible = std::min(task.target.nodes, task.target.work / (1 + draw.conflicts));
    if (nodes > possible)
        return {0.0, 0.5, cudbound::End::at_limit, Status::NODE_LIMIT, possible, possible * draw.conflicts};
    outcome.nodes = nodes;
    outcome.charged = nodes * draw.conflicts;
    if (draw.value <= task.target.floor) {
        outcome.upper = task.target.floor;
    } else if (draw.value > task.target.ceiling) {
        outcome.lower = draw.value;
        outcome.end = cudbound::End::above_ceiling;
    } else {
        outcome = {draw.value, draw.value, cudbound::End::exact, Status::OPTIMAL, nodes, outcome.charged};
    }
    return outcome;
}

// The trivial upper bound of each draw is 0.5: of 4 rows, 2 are drawn twice and 2 never.
Ended run(const std::vector<Draw>& draws, std::int64_t rank, const Limits& limits = {}) {
    Instance instance;
    instance.n = 4;
    instance.p = 1;
    instance.draws = static_cast<int>(draws.size());
    instance.design.assign(4, 1.0);
    instance.labels.assign(4, 1.0);
    instance.anchor.assign(1, 1.0);
    for (std::size_t d = 0; d < draws.size(); ++d) {
        for (const int count : {2, 2, 0, 0}) instance.counts.push_back(count);
    }
    const auto problem = instance.view();
    Ended ended;
    ended.lower.resize(draws.size());
    ended.upper.resize(draws.size());
    ended.status.resize(draws.size());
    ended.nodes.resize(draws.size());
    std::vector<double> witnesses(draws.size());
    const double witness = 1.0;
    const cudbound::Ranks ranks{&rank, 1, false};
    const cudbound::Results results{ended.lower.data(), ended.upper.data(), ended.status.data(), ended.nodes.data(),
                                    witnesses.data()};
    cudbound::Schedule schedule(problem, limits, ranks, results);
    for (int batches = 0; batches < 10000; ++batches) {
        const std::vector<Task> tasks = schedule.plan();
        if (tasks.empty()) break;
        for (const Task& task : tasks)
            schedule.record(task, answer(draws[static_cast<std::size_t>(task.draw)], task), &witness);
    }
    schedule.close(Status::NODE_LIMIT);
    return ended;
}

std::vector<Draw> spread(int count) {
    std::vector<Draw> draws;
    for (int d = 0; d < count; ++d) draws.push_back({0.004 * (d + 1)});
    return draws;
}

}  // namespace

TEST(the_quantile_is_proved) {
    const Ended ended = run(spread(100), 95);
    CHECK_EQUAL(ended.smallest(ended.lower, 95), 0.004 * 95);
    CHECK_EQUAL(ended.smallest(ended.upper, 95), 0.004 * 95);
    CHECK_EQUAL(ended.count(Status::NODE_LIMIT), 0);
}

// A draw that cannot be told counts with its upper bound, and all others are searched until that is all that is left:
// the 95th of the others and of its upper bound, above which it stands, is the 96th value.
TEST(a_stuck_draw_counts_with_its_upper_bound) {
    std::vector<Draw> draws = spread(100);
    draws[10].stuck = true;
    const Ended ended = run(draws, 95);
    CHECK_EQUAL(ended.smallest(ended.lower, 95), 0.004 * 95);
    CHECK_EQUAL(ended.smallest(ended.upper, 95), 0.004 * 96);
    CHECK_EQUAL(ended.count(Status::INACCURATE), 1);
    // no limit was met, and no status says so
    CHECK_EQUAL(ended.count(Status::NODE_LIMIT), 0);
    CHECK_EQUAL(ended.count(Status::DECIDED) + ended.count(Status::OPTIMAL), 99);
}

TEST(a_stuck_draw_far_above_changes_nothing) {
    std::vector<Draw> draws = spread(100);
    draws[98].stuck = true;
    draws[98].lower = 0.39;
    const Ended ended = run(draws, 95);
    CHECK_EQUAL(ended.smallest(ended.lower, 95), 0.004 * 95);
    CHECK_EQUAL(ended.smallest(ended.upper, 95), 0.004 * 95);
}

// Where nodes run out, the draws that were left say so, and the bounds hold.
TEST(a_limit_that_was_met_is_named) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) draw.nodes = 50;
    Limits limits;
    limits.total_nodes = 500;
    const Ended ended = run(draws, 95, limits);
    CHECK(ended.smallest(ended.lower, 95) < ended.smallest(ended.upper, 95));
    CHECK_AT_MOST(1, ended.count(Status::NODE_LIMIT));
    CHECK_AT_MOST(ended.smallest(ended.lower, 95), 0.004 * 95);
    CHECK_AT_MOST(0.004 * 95, ended.smallest(ended.upper, 95));
}

// Hard draws for which nodes are kept at first, to narrow the bounds, get what narrowing could not use.
TEST(nodes_are_not_left_over) {
    std::vector<Draw> draws = spread(100);
    for (std::size_t d = 80; d < 100; ++d) draws[d].nodes = 2 * first_cap;
    Limits limits;
    limits.total_nodes = 1200000;
    const Ended ended = run(draws, 95, limits);
    CHECK_EQUAL(ended.smallest(ended.upper, 95), 0.004 * 95);
    CHECK_EQUAL(ended.smallest(ended.lower, 95), 0.004 * 95);
    CHECK_EQUAL(ended.count(Status::NODE_LIMIT), 0);
}

// The work of conflicts counts for the whole call, also where searches take few nodes.
TEST(conflicts_are_part_of_what_is_limited) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) {
        draw.nodes = 50;
        draw.conflicts = 1000;
    }
    Limits limits;
    limits.total_nodes = 1000000;
    const Ended ended = run(draws, 95, limits);
    CHECK(ended.smallest(ended.lower, 95) < ended.smallest(ended.upper, 95));
    CHECK_AT_MOST(std::accumulate(ended.nodes.begin(), ended.nodes.end(), std::int64_t{0}), 1000);
    for (Draw& draw : draws) draw.conflicts = 10;
    const Ended proved = run(draws, 95, limits);
    CHECK_EQUAL(proved.smallest(proved.upper, 95), 0.004 * 95);
}

// If the first batch tells that t is out of reach, the nodes go to floors that can be proved.
TEST(the_bracket_is_narrowed_where_the_quantile_is_out_of_reach) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) {
        draw.nodes = 3000;
        draw.easy_from = 0.2;
    }
    Limits limits;
    limits.total_nodes = 30000;
    const Ended ended = run(draws, 95, limits);
    CHECK_AT_MOST(0.004 * 95, ended.smallest(ended.upper, 95));
    CHECK_AT_MOST(ended.smallest(ended.upper, 95), 0.45);
}
