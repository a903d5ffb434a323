// Threads, limits, the monitor, and input that is refused. None of these may change or lower an upper bound.
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "instances.hpp"

namespace {

using cudbound::Limits;
using cudbound::Side;
using cudbound::Status;

Limits nodes(std::int64_t number) {
    Limits limits;
    limits.nodes = number;
    return limits;
}

// Weak labels and many hyperplanes for each draw: the 20000 draws of the tests would take minutes.
Instance long_instance(int draws) {
    Random random(101);
    return random_instance(random, 100, 8, RowKind::general, LabelKind::noise, draws);
}

}  // namespace

// The answer of a draw does not depend on the thread that solves it, nor on the draws the thread solved before: the
// same bits for any number of threads, more than there are draws included.
TEST(threads_give_the_same_bits) {
    Random random(102);
    for (const int p : {2, 3, 5}) {
        const int draws = p == 5 ? 12 : 40;
        const Instance instance = random_instance(random, 30, p, RowKind::general, LabelKind::noise, draws);
        const Answer one = solve(instance);
        for (const int threads : {2, 3, 8, 64}) {
            check::set_context("p", p, "threads", threads);
            CHECK(solve(instance, {}, Side::BOTH, threads) == one);
        }
    }
}

// The minimization of all draws asks its monitor, too: seconds of work end at the first no. What was done stays.
TEST(minimization_stops_when_told) {
    Random random(104);
    const Instance instance = random_instance(random, 100, 8, RowKind::general, LabelKind::noise, 20000);
    cudbound::Problem problem = instance.view();
    problem.loss = cudbound::Loss::LOGISTIC;
    std::vector<double> coef(static_cast<std::size_t>(instance.draws) * 8, -7.0);
    const auto marks = std::make_unique<bool[]>(2 * static_cast<std::size_t>(instance.draws));
    int asked = 0;
    const auto stop = [&](std::int64_t done) {
        ++asked;
        CHECK(done > 0);
        CHECK(done < instance.draws);
        return false;
    };
    CHECK(!cudbound::minimize(problem, stop, {coef.data(), marks.get(), marks.get() + instance.draws}));
    CHECK_EQUAL(asked, 1);
    CHECK(coef.front() != -7.0);
    CHECK(coef.back() == -7.0);
}

TEST(draws_do_not_depend_on_each_other) {
    Random random(103);
    const Instance instance = random_instance(random, 25, 3, RowKind::integers, LabelKind::noise, 20);
    const Answer all = solve(instance);
    for (int d = 0; d < instance.draws; ++d) {
        check::set_context("draw", d);
        Instance alone = instance;
        alone.draws = 1;
        alone.counts.assign(instance.counts.begin() + d * instance.n, instance.counts.begin() + (d + 1) * instance.n);
        const Answer single = solve(alone);
        CHECK_EQUAL(single.lower[0], all.lower[d]);
        CHECK_EQUAL(single.upper[0], all.upper[d]);
        CHECK_EQUAL(single.nodes[0], all.nodes[d]);
    }
}

TEST(no_draws) {
    Random random(104);
    Instance instance = random_instance(random, 10, 2, RowKind::general, LabelKind::noise);
    instance.draws = 0;
    instance.counts.clear();
    CHECK(solve(instance, {}, Side::BOTH, 4).lower.empty());
}

// A search cut short at any node: lower <= Q <= upper, the status says so, and no more nodes were spent than allowed. A
// limit that is not met changes nothing.
TEST(node_limits_enclose_the_answer) {
    Random random(105);
    for (const int p : {2, 3, 4}) {
        for (const auto labels : {LabelKind::noise, LabelKind::clear}) {
            const Instance instance = random_instance(random, 30, p, RowKind::general, labels, 10);
            const Answer exact = solve(instance);
            for (const std::int64_t limit : {0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000}) {
                const Answer cut = solve(instance, nodes(limit));
                for (int d = 0; d < instance.draws; ++d) {
                    check::set_context("p", p, "limit", limit, "draw", d);
                    CHECK_AT_MOST(cut.lower[d], exact.lower[d]);
                    CHECK_AT_MOST(exact.upper[d], cut.upper[d]);
                    CHECK_AT_MOST(cut.upper[d], 1.0);
                    CHECK_AT_MOST(cut.nodes[d], limit);
                    if (exact.nodes[d] <= limit) {
                        CHECK(cut.status[d] == Status::OPTIMAL);
                        CHECK_EQUAL(cut.lower[d], exact.lower[d]);
                        CHECK_EQUAL(cut.upper[d], exact.upper[d]);
                    } else {
                        CHECK(cut.status[d] == Status::NODE_LIMIT);
                    }
                }
            }
        }
    }
}

// Rows e_1 and e_2, labels +1, weights 2 and 3, counts 1, anchor (1, 1), alpha = 1/2: the best is 5 at beta = 0, with g
// = 1/2, against 3 at g = 3/4. If the limit is met just before beta = 0 has been looked at, it is that node alone which
// keeps the upper bound from falling to 2.25.
TEST(node_limit_at_the_apex) {
    const Instance instance = two_orthogonal_rows(0.5);
    const Answer exact = solve(instance);
    CHECK_NEAR(exact.lower[0], 2.5, 1e-11);
    CHECK_AT_MOST(2, exact.nodes[0]);
    for (std::int64_t limit = 0; limit < exact.nodes[0]; ++limit) {
        check::set_context("limit", limit);
        const Answer cut = solve(instance, nodes(limit));
        CHECK(cut.status[0] == Status::NODE_LIMIT);
        CHECK_AT_MOST(cut.lower[0], exact.lower[0]);
        CHECK_AT_MOST(exact.upper[0], cut.upper[0]);
    }
}

// No time at all: every draw that needs a node says that time ran out, with bounds that enclose the answer.
TEST(time_limit) {
    Random random(106);
    const Instance instance = random_instance(random, 40, 3, RowKind::general, LabelKind::noise, 20);
    const Answer exact = solve(instance);
    Limits limits;
    limits.seconds = 0.0;
    const Answer cut = solve(instance, limits);
    for (int d = 0; d < instance.draws; ++d) {
        check::set_context("draw", d);
        CHECK_AT_MOST(cut.lower[d], exact.lower[d]);
        CHECK_AT_MOST(exact.upper[d], cut.upper[d]);
        CHECK(cut.status[d] == (exact.nodes[d] == 0 ? Status::OPTIMAL : Status::TIME_LIMIT));
    }
    limits.seconds = 1e6;
    CHECK(solve(instance, limits) == exact);
}

// The monitor is called on the calling thread with a number of finished draws that never decreases. Its `false` stops
// the rest: draws being searched end with the bounds they have, draws not begun are enclosed by 0 and the weights of
// one sign, none is left out.
TEST(monitor_stops) {
    const Instance instance = long_instance(20000);
    const auto caller = std::this_thread::get_id();
    for (const int threads : {1, 2}) {
        check::set_context("threads", threads);
        std::int64_t calls = 0;
        std::int64_t seen = 0;
        const Answer answer = solve(instance, {}, Side::BOTH, threads, [&](std::int64_t done) {
            CHECK(std::this_thread::get_id() == caller);
            CHECK_AT_MOST(seen, done);
            seen = done;
            return ++calls < 2;
        });
        CHECK_EQUAL(calls, 2);
        std::int64_t interrupted = 0;
        for (int d = 0; d < instance.draws; ++d) {
            CHECK(answer.status[d] == Status::OPTIMAL || answer.status[d] == Status::INTERRUPTED);
            CHECK(0.0 <= answer.lower[d] && answer.lower[d] <= answer.upper[d]);
            CHECK(0 <= answer.nodes[d]);
            CHECK(answer.witness[static_cast<std::size_t>(d) * instance.p] > -1e300);
            if (answer.status[d] == Status::INTERRUPTED) ++interrupted;
        }
        CHECK_AT_MOST(1, interrupted);
        CHECK_AT_MOST(seen, instance.draws - interrupted);
        CHECK(answer.status[instance.draws - 1] == Status::INTERRUPTED);
        double most = 0.0;
        for (int i = 0; i < instance.n; ++i) {
            most += std::max(0, instance.counts[static_cast<std::size_t>(instance.draws - 1) * instance.n + i] - 1);
        }
        CHECK_NEAR(answer.upper[instance.draws - 1], most / instance.n, 1e-12);
        CHECK_AT_MOST(most / instance.n, answer.upper[instance.draws - 1]);
    }
}

// One draw that would take long is stopped in the middle, with finite bounds.
TEST(monitor_stops_within_a_draw) {
    Random random(107);
    const Instance instance = random_instance(random, 400, 20, RowKind::general, LabelKind::noise);
    const Answer answer = solve(instance, {}, Side::BOTH, 1, [](std::int64_t) { return false; });
    CHECK(answer.status[0] == Status::INTERRUPTED);
    CHECK_AT_MOST(answer.lower[0], answer.upper[0]);
    CHECK_AT_MOST(answer.upper[0], 1.0);
}

// An exception in the monitor ends the search and reaches the caller.
TEST(monitor_throws) {
    const Instance instance = long_instance(20000);
    int calls = 0;
    const auto fail = [&](std::int64_t) -> bool {
        ++calls;
        throw std::runtime_error("from the monitor");
    };
    CHECK_THROWS(solve(instance, {}, Side::BOTH, 2, fail), std::runtime_error, "from the monitor");
    CHECK_EQUAL(calls, 1);
}

TEST(invalid_input) {
    Random random(108);
    const Instance good = random_instance(random, 8, 2, RowKind::general, LabelKind::clear);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    Instance bad = good;
    const auto refused = [&](const char* text) { CHECK_THROWS(solve(bad), std::invalid_argument, text); };

    const auto alpha = "alpha must be in [0, inf]";
    for (const double value : {-1.0, -infinity, nan}) {
        bad.alpha = value;
        refused(alpha);
    }
    bad = good;
    for (const double value : {0.0, 2.0, nan}) {
        bad.labels[3] = value;
        refused("labels must be -1 or +1");
    }
    bad = good;
    for (const double value : {infinity, -infinity, nan}) {
        bad.design[15] = value;
        refused("design must be finite");
    }
    bad = good;
    for (const double value : {infinity, -infinity, nan}) {
        bad.anchor[1] = value;
        refused("anchor must be finite");
    }
    bad = good;
    bad.counts[7] = -1;
    refused("counts must not be negative");
    bad = good;
    bad.weights.assign(8, 0.5);
    for (const double value : {infinity, -infinity, nan}) {
        bad.weights[7] = value;
        refused("weights must be finite");
    }
    bad = good;
    bad.penalty.assign(4, 0.5);
    for (const double value : {infinity, -infinity, nan}) {
        bad.penalty[3] = value;
        refused("penalty must be finite");
    }
    bad.penalty[3] = 0.5;
    for (const double value : {infinity, -infinity, nan}) {
        bad.anchor_penalty = value;
        refused("anchor_penalty must be finite");
    }
    bad = good;
    bad.n = 0;
    refused("design must have at least one row and one column");
    bad = good;
    bad.p = 0;
    refused("design must have at least one row and one column");
    // the arrays of the answer have a size, so the call is made without them
    cudbound::Problem problem = good.view();
    problem.draws = -1;
    CHECK_THROWS(cudbound::solve_draws(problem, {}, Side::BOTH, {}, 1, {}, {}), std::invalid_argument,
                 "the number of draws must not be negative");

    Limits limits;
    limits.seconds = -1.0;
    CHECK_THROWS(solve(good, limits), std::invalid_argument, "limits must not be negative");
    limits.seconds = nan;
    CHECK_THROWS(solve(good, limits), std::invalid_argument, "limits must not be negative");
    CHECK_THROWS(solve(good, nodes(-1)), std::invalid_argument, "limits must not be negative");
    for (const int threads : {0, -1}) {
        CHECK_THROWS(solve(good, {}, Side::BOTH, threads), std::invalid_argument, "threads must be at least 1");
    }
}
