// When a search has to end, and for which reason. Deadlines have passed long ago or lie far away, so that no answer
// depends on how fast the machine is.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "check.hpp"
#include "control/budget.hpp"

namespace {

using cudbound::Budget;
using cudbound::Limits;
using cudbound::Status;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The clock is not read at every node, but more nodes than this are too many without a look at it.
constexpr int soon = 100;

Limits of_nodes(std::int64_t nodes) {
    Limits limits;
    limits.nodes = nodes;
    return limits;
}

Limits of_time(double seconds, double total_seconds) {
    Limits limits;
    limits.seconds = seconds;
    limits.total_seconds = total_seconds;
    return limits;
}

Budget::Clock::time_point an_hour_ago() { return Budget::Clock::now() - std::chrono::hours(1); }

// How many nodes it grants, of so many asked for.
int granted(Budget& budget, int asked = soon) {
    int nodes = 0;
    while (nodes < asked && budget.spend()) ++nodes;
    return nodes;
}

}  // namespace

TEST(as_many_nodes_as_allowed) {
    const std::atomic<bool> stop{false};
    for (const int allowed : {0, 1, 2, 7}) {
        check::set_context("allowed", allowed);
        Budget budget(of_nodes(allowed), stop);
        budget.start();
        CHECK(!budget.exhausted());
        CHECK_EQUAL(granted(budget), allowed);
        CHECK(budget.exhausted());
        CHECK(budget.status() == Status::NODE_LIMIT);
        CHECK(!budget.spend());
        CHECK(!budget.go_on());
        CHECK_EQUAL(budget.nodes(), allowed);
    }
}

// The node that is the last one allowed may be finished: only one more ends the search.
TEST(the_last_node_is_finished) {
    const std::atomic<bool> stop{false};
    Budget budget(of_nodes(1), stop);
    budget.start();
    CHECK(budget.spend());
    CHECK(budget.go_on());
    CHECK(budget.status() == Status::OPTIMAL);
}

TEST(without_a_limit_nothing_ends_it) {
    const std::atomic<bool> stop{false};
    Budget budget({}, stop);
    budget.start();
    CHECK_EQUAL(granted(budget, 100000), 100000);
    CHECK(!budget.exhausted());
}

// The caller's limit is that of every search, and a search may have a smaller one: the smaller of the two counts.
TEST(the_smaller_limit_counts) {
    const std::atomic<bool> stop{false};
    for (const int shared : {3, 5}) {
        for (const int own : {0, 2, 4, 50}) {
            check::set_context("of the caller", shared, "of the search", own);
            Budget budget(of_nodes(shared), stop);
            budget.start(own);
            CHECK_EQUAL(granted(budget), shared < own ? shared : own);
            CHECK(budget.status() == Status::NODE_LIMIT);
        }
    }
}

// Work of 5 nodes, of which conflicts take 3: 2 are left. Work is not cut off halfway: it may take more than is left.
TEST(charged_work_counts_beside_nodes) {
    constexpr std::int64_t node = cudbound::Settings::products_per_node;
    const std::atomic<bool> stop{false};
    Budget budget(of_nodes(7), stop);
    budget.start(6, 5);
    budget.charge(3 * node);
    CHECK_EQUAL(budget.nodes(), 0);
    CHECK_EQUAL(granted(budget), 2);
    CHECK(budget.status() == Status::NODE_LIMIT);

    budget.start(6, 5);
    CHECK_EQUAL(budget.charged(), 0);
    CHECK(budget.spend());
    budget.charge(7 * node + node / 2);
    CHECK(!budget.spend());
    CHECK(budget.status() == Status::NODE_LIMIT);
    CHECK_EQUAL(budget.nodes(), 1);
    CHECK_EQUAL(budget.charged(), 7);

    // a limit on nodes alone does not count it
    budget.start(6);
    budget.charge(100 * node);
    CHECK_EQUAL(granted(budget), 6);
}

// Whichever of the two deadlines has passed ends the search, also between nodes.
TEST(a_deadline_that_has_passed) {
    const std::atomic<bool> stop{false};
    const struct {
        double seconds, total_seconds;
    } cases[] = {{-3600.0, infinity}, {infinity, 0.0}, {1e6, 0.0}, {-3600.0, 1e6}, {infinity, 1800.0}};
    for (const auto& one : cases) {
        for (const bool between : {false, true}) {
            check::set_context("seconds", one.seconds, "total", one.total_seconds, "between", between);
            Budget budget(of_time(one.seconds, one.total_seconds), stop, an_hour_ago());
            budget.start();
            int looks = 0;
            while (looks < soon && (between ? budget.go_on() : budget.spend())) ++looks;
            CHECK_AT_MOST(looks, soon - 1);
            CHECK(budget.status() == Status::TIME_LIMIT);
            CHECK(!budget.spend());
        }
    }
}

// Some of these are farther away than a clock can count.
TEST(a_deadline_far_away) {
    const std::atomic<bool> stop{false};
    for (const double seconds : {1e6, 1e9, 1e19, 1e300, infinity}) {
        for (const double total_seconds : {1e6, 1e9, 1e19, 1e300, infinity}) {
            check::set_context("seconds", seconds, "total", total_seconds);
            Budget budget(of_time(seconds, total_seconds), stop);
            budget.start();
            CHECK_EQUAL(granted(budget, 1000), 1000);
            CHECK(!budget.exhausted());
        }
    }
}

// Long work within a node asks often whether to go on, which must not use up its nodes.
TEST(looking_costs_no_nodes) {
    const std::atomic<bool> stop{false};
    Budget budget(of_nodes(2), stop);
    budget.start();
    for (int looks = 0; looks < 1000; ++looks) CHECK(budget.go_on());
    CHECK_EQUAL(budget.nodes(), 0);
    CHECK_EQUAL(granted(budget), 2);
}

TEST(told_to_stop) {
    std::atomic<bool> stop{false};
    Budget budget({}, stop);
    budget.start();
    CHECK_EQUAL(granted(budget, 3), 3);
    stop = true;
    CHECK(!budget.spend());
    CHECK(budget.status() == Status::INTERRUPTED);
    CHECK_EQUAL(budget.nodes(), 3);  // what is refused does not count
    stop = false;
    CHECK(!budget.go_on());  // the search that was stopped stays so
    CHECK(budget.status() == Status::INTERRUPTED);

    stop = true;
    budget.start();
    CHECK(!budget.go_on());
    CHECK(budget.status() == Status::INTERRUPTED);
}

TEST(the_first_reason_stays) {
    std::atomic<bool> stop{false};
    Budget budget(of_nodes(2), stop);
    budget.start();
    budget.finish(Status::DECIDED);
    budget.finish(Status::INACCURATE);
    stop = true;
    CHECK(!budget.spend());
    CHECK(!budget.go_on());
    CHECK(budget.exhausted());
    CHECK(budget.status() == Status::DECIDED);
    CHECK_EQUAL(budget.nodes(), 0);

    stop = false;
    budget.start();
    CHECK_EQUAL(granted(budget), 2);
    budget.finish(Status::DECIDED);
    stop = true;
    CHECK(!budget.spend());
    CHECK(budget.status() == Status::NODE_LIMIT);

    budget.start();
    CHECK(!budget.spend());
    budget.finish(Status::DECIDED);
    CHECK(budget.status() == Status::INTERRUPTED);
}

// Nodes, charged work, the reason and the limit of the search before are forgotten; the caller's limit is not, nor is
// the deadline of all searches together.
TEST(another_search_begins_anew) {
    const std::atomic<bool> stop{false};
    Budget budget(of_nodes(4), stop);
    budget.start(1, 1);
    budget.charge(10 * cudbound::Settings::products_per_node);
    CHECK(!budget.spend());
    budget.start();
    CHECK(budget.status() == Status::OPTIMAL);
    CHECK_EQUAL(budget.nodes(), 0);
    CHECK_EQUAL(granted(budget), 4);
    budget.start(2);
    budget.finish(Status::DECIDED);
    budget.start(3);
    CHECK_EQUAL(granted(budget), 3);

    Budget late(of_time(infinity, 1800.0), stop, an_hour_ago());
    for (int searches = 0; searches < 3; ++searches) {
        check::set_context("searches", searches);
        late.start();
        CHECK(late.status() == Status::OPTIMAL);
        CHECK_AT_MOST(granted(late), soon - 1);
        CHECK(late.status() == Status::TIME_LIMIT);
    }
}
