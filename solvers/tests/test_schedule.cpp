// Which draw is searched next, and for what.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "cudbound/settings.hpp"
#include "made_up_draws.hpp"

namespace {

using namespace made_up;

constexpr std::int64_t first_cap = 500;

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

// Each batch is of draws that were searched with the same limit, and none of the others that may lie at t was searched
// with less: draws that met a limit wait.
TEST(hard_draws_wait_for_the_others) {
    std::vector<Draw> draws = spread(100);
    for (std::size_t d = 40; d < 100; d += 3) draws[d].nodes = 2 * first_cap;
    std::vector<std::int64_t> caps(100, first_cap);
    int waited = 0;
    run(draws, {{80}}, [&](const std::vector<Task>& tasks, const Ended& known, std::int64_t) {
        if (tasks.empty() || tasks[0].kind != Kind::search) return;
        const double t = known.smallest(known.lower, 80);
        for (const Task& task : tasks) {
            const std::int64_t cap = caps[static_cast<std::size_t>(task.draw)];
            CHECK_EQUAL(task.target.nodes, cap);
            CHECK_EQUAL(task.target.floor, t);
            CHECK_AT_MOST(task.target.floor, task.target.ceiling);
            for (std::size_t d = 0; d < caps.size(); ++d) {
                if (known.lower[d] <= t && known.upper[d] > t) CHECK_AT_MOST(cap, caps[d]);
                waited += known.lower[d] <= t && known.upper[d] > t && caps[d] > cap;
            }
        }
        for (const Task& task : tasks) {
            const auto d = static_cast<std::size_t>(task.draw);
            if (draws[d].nodes > caps[d]) caps[d] *= 8;
        }
    });
    CHECK(waited > 0);
    CHECK_EQUAL(*std::max_element(caps.begin(), caps.end()), 8 * first_cap);
}

// Of 32 draws at a time, those with the largest lower bounds first, as the dives found them.
TEST(the_largest_lower_bounds_come_first) {
    std::vector<Draw> draws = spread(100);
    for (std::size_t d = 0; d < 100; ++d) {
        draws[d].nodes = 10;
        draws[d].dived = d % 3 == 0 ? 0.5 : 0.2;
    }
    int batches = 0;
    run(draws, {{90}}, [&](const std::vector<Task>& tasks, const Ended& known, std::int64_t) {
        if (tasks.empty() || tasks[0].kind != Kind::search) return;
        ++batches;
        CHECK_AT_MOST(tasks.size(), std::size_t{32});
        for (std::size_t k = 1; k < tasks.size(); ++k)
            CHECK_AT_MOST(known.lower[static_cast<std::size_t>(tasks[k].draw)],
                          known.lower[static_cast<std::size_t>(tasks[k - 1].draw)]);
    });
    CHECK(batches > 1);
}

// What a call may spend counts nodes, what conflicts took, and 12 nodes for each search and each dive: 36 at first (2
// for each of the 10 draws above the quantile, 16 others), and more if t is out of reach. It is divided by the draws
// that share it, so that it is never exceeded but by what every search needs to begin.
TEST(what_is_spent_is_what_was_allowed) {
    for (const std::int64_t conflicts : {0, 3}) {
        for (const std::int64_t total : {2000, 5000, 20000}) {
            std::vector<Draw> draws = spread(100);
            for (Draw& draw : draws) {
                draw.nodes = 70;
                draw.conflicts = conflicts;
            }
            Limits limits;
            limits.total_nodes = total;
            std::int64_t spent = 0;
            std::int64_t dives = 0;
            const Ended ended = run(draws, {{90}, limits}, [&](const auto& tasks, const auto&...) {
                check::set_context("conflicts", conflicts, "total", total, "spent", spent);
                if (tasks.empty()) return;
                if (tasks[0].kind != Kind::start) CHECK(spent < total);
                std::int64_t promised = 0;
                for (const Task& task : tasks) {
                    const Outcome outcome = answer(draws[static_cast<std::size_t>(task.draw)], task);
                    spent += outcome.nodes + outcome.charged + (task.kind == Kind::start ? 0 : 12);
                    if (task.kind == Kind::dive) ++dives;
                    if (task.kind == Kind::search) promised += std::min(task.target.work, total);
                    if (task.kind == Kind::search) CHECK_AT_MOST(task.target.nodes, task.target.work);
                }
                CHECK_AT_MOST(promised, total);
            });
            CHECK_AT_MOST(36, dives);
            // what is left is less than another search would take
            if (ended.smallest(ended.lower, 90) < ended.smallest(ended.upper, 90))
                CHECK_AT_MOST(total - spent, 100 * (1 + conflicts));
        }
    }
}

// Continued with as much again, a call spends that, whatever was spent before; and it begins without dives.
TEST(what_was_spent_before_does_not_count) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) draw.nodes = 500;
    Limits limits;
    limits.total_nodes = 20000;
    const Ended before = run(draws, {{90}, limits}, [](const auto&...) {});
    std::int64_t searches = 0;
    const Ended after = run(draws, {{90}, limits, Loss::SQUARED, 1, &before}, [&](const auto& tasks, const auto&...) {
        for (const Task& task : tasks) {
            if (searches == 0) CHECK(task.kind == Kind::search);
            ++searches;
        }
    });
    const auto total = [](const Ended& ended) {
        return std::accumulate(ended.nodes.begin(), ended.nodes.end(), std::int64_t{0});
    };
    CHECK_AT_MOST(10000, total(before));
    CHECK_AT_MOST(total(after) - total(before), 20000 - 12 * (searches - 32));
    CHECK_AT_MOST(10000, total(after) - total(before));
    for (std::size_t d = 0; d < 100; ++d) {
        CHECK_AT_MOST(before.lower[d], after.lower[d]);
        CHECK_AT_MOST(after.upper[d], before.upper[d]);
    }
}

// Where all draws are asked for: batches of 32 that share the nodes, each draw once, and none that was solved before.
TEST(all_draws) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) draw.nodes = 3;
    std::vector<int> searched(100, 0);
    const auto count = [&](const std::vector<Task>& tasks, const Ended&, std::int64_t decided) {
        CHECK_AT_MOST(decided, 100);
        for (const Task& task : tasks) {
            ++searched[static_cast<std::size_t>(task.draw)];
            CHECK(task.kind == Kind::search);
            CHECK_EQUAL(task.target.floor, 0.0);
            CHECK_EQUAL(task.target.ceiling, std::numeric_limits<double>::infinity());
        }
    };
    const Ended whole = run(draws, {{}}, count);
    for (std::size_t d = 0; d < 100; ++d) {
        CHECK_EQUAL(searched[d], 1);
        CHECK_EQUAL(whole.lower[d], draws[d].value);
        CHECK_EQUAL(whole.upper[d], draws[d].value);
    }
    CHECK_EQUAL(whole.count(Status::OPTIMAL), 100);
    // 15 nodes each, of which 12 are for setting up: 40 of the draws, in batches of 32 and 8
    Limits limits;
    limits.total_nodes = 15 * 40;
    searched.assign(100, 0);
    std::vector<std::size_t> batches;
    const Ended part = run(draws, {{}, limits}, [&](const auto& tasks, const Ended& known, std::int64_t decided) {
        count(tasks, known, decided);
        batches.push_back(tasks.size());
        CHECK_EQUAL(decided, static_cast<std::int64_t>(32 * (batches.size() - 1)));
        if (batches.size() == 1) CHECK_EQUAL(tasks[0].target.work, 15 * 40 / 32);
        if (batches.size() == 2) CHECK_EQUAL(tasks[0].target.work, (15 * 40 - 15 * 32) / 32);
    });
    CHECK(batches == std::vector<std::size_t>({32, 32, 0}));
    CHECK_EQUAL(part.count(Status::OPTIMAL), 64);
    CHECK_EQUAL(part.count(Status::NODE_LIMIT), 36);
    searched.assign(100, 0);
    const Ended rest = run(draws, {{}, {}, Loss::SQUARED, 1, &part}, count);
    for (std::size_t d = 0; d < 100; ++d) CHECK_EQUAL(searched[d], d < 64 ? 0 : 1);
    CHECK_EQUAL(rest.count(Status::OPTIMAL), 100);
}

// A node of logistic loss with 20 coefficients and 4 rows takes (15 + 0.003 * 4 * 400 + 0.012 * 8000) / (1.5 + 0.0005 *
// 80) = 75 nodes of its quadratic, rounded down, and with one coefficient 10: dives go down the model, with 96 steps,
// which are charged as 96 / 75 or 96 / 10, rounded up, and one node each for setting up. A bound by the quadratic
// precedes the first search.
TEST(dear_nodes) {
    for (const int p : {1, 20}) {
        check::set_context("p", p);
        std::vector<Draw> draws = spread(100);
        for (Draw& draw : draws) {
            draw.nodes = 1000000;
            draw.dived = 0.1;
        }
        Limits limits;
        limits.total_nodes = 10000;
        int dives = 0;
        int bounds = 0;
        std::vector<bool> bounded(100, false);
        const Ended ended =
            run(draws, {{90}, limits, Loss::LOGISTIC, p}, [&](const auto& tasks, const Ended& known, std::int64_t) {
                for (const Task& task : tasks) {
                    const std::int64_t before = known.nodes[static_cast<std::size_t>(task.draw)];
                    if (task.kind == Kind::dive) {
                        ++dives;
                        CHECK(task.target.with_model);
                        CHECK_EQUAL(task.target.nodes, 96);
                    }
                    if (task.kind == Kind::search) CHECK(bounded[static_cast<std::size_t>(task.draw)]);
                    if (task.kind == Kind::bound) {
                        CHECK_EQUAL(task.target.floor, task.target.ceiling);
                        CHECK_EQUAL(task.target.nodes, task.target.work);
                        const double q_lower = known.smallest(known.lower, 90);
                        CHECK(task.target.floor < known.smallest(known.upper, 90));
                        if (bounded[static_cast<std::size_t>(task.draw)]) {
                            CHECK(task.target.floor > q_lower);  // narrowing
                            CHECK_EQUAL(task.target.nodes % (p == 20 ? 75 : 10), 0);
                            ++bounds;
                        } else if (task.target.floor == q_lower) {
                            CHECK_AT_MOST(task.target.nodes, 400);
                            if (dives == 36 && before > 0) CHECK_EQUAL(before, p == 20 ? 2 : 10);
                        }
                        bounded[static_cast<std::size_t>(task.draw)] = true;
                    }
                }
            });
        CHECK(bounds > 0);
        CHECK_AT_MOST(37, dives);  // more follow
        CHECK_EQUAL(ended.smallest(ended.upper, 90), 0.5);
    }
}

// Narrowing: each floor is halfway between what could not be proved and the upper bound.
TEST(narrowing_halves_the_bracket) {
    std::vector<Draw> draws = spread(100);
    for (Draw& draw : draws) {
        draw.nodes = 100000;
        draw.easy_from = draw.value + 0.05;
    }
    Limits limits;
    limits.total_nodes = 200000;
    double below = -1.0;
    int floors = 0;
    const Ended ended = run(draws, {{90}, limits}, [&](const auto& tasks, const Ended& known, std::int64_t) {
        if (tasks.empty() || tasks[0].kind != Kind::search || tasks[0].target.floor != tasks[0].target.ceiling) return;
        const double floor = tasks[0].target.floor;
        const double upper = known.smallest(known.upper, 90);
        if (floor <= known.smallest(known.lower, 90)) return;  // a search, not narrowing
        for (const Task& task : tasks) CHECK_EQUAL(task.target.floor, floor);
        const double from = 2.0 * floor - upper;
        CHECK_AT_MOST(-1e-12, from);
        CHECK_AT_MOST(below, from + 1e-12);
        floors += from > below + 1e-12;
        below = std::max(below, from);
        for (std::size_t k = 1; k < tasks.size(); ++k)
            CHECK_AT_MOST(known.upper[static_cast<std::size_t>(tasks[k - 1].draw)],
                          known.upper[static_cast<std::size_t>(tasks[k].draw)]);
    });
    CHECK_AT_MOST(2, floors);
    CHECK_AT_MOST(0.004 * 90, ended.smallest(ended.upper, 90));
    CHECK_AT_MOST(ended.smallest(ended.upper, 90), 0.004 * 90 + 0.06);
}
