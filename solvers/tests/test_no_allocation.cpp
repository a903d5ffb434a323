// The search does not allocate: this program counts the calls of operator new.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "arrangements.hpp"
#include "check.hpp"
#include "counted_allocations.hpp"
#include "instances.hpp"
#include "problem/arrangement.hpp"
#include "search/draw_solver.hpp"
#include "search/gain_by_cones.hpp"

namespace {

// Searches every draw twice with one solver; the second time everything has its size. Returns the allocations of the
// second round and, in `nodes`, its nodes.
long allocations_when_warm(const Instance& instance, std::int64_t* nodes) {
    const cudbound::Problem problem = instance.view();
    const cudbound::Arrangement arrangement = cudbound::merge_rows(problem);
    const std::atomic<bool> stop{false};
    const cudbound::Limits limits;
    cudbound::KeptDraws kept(static_cast<std::size_t>(instance.draws));
    cudbound::DrawSolver solver(problem, arrangement, stop, limits, cudbound::Budget::Clock::now(), kept);
    std::vector<double> witness(instance.p);
    const auto solve_all = [&] {
        *nodes = 0;
        for (int d = 0; d < instance.draws; ++d) {
            solver.start(d, cudbound::Side::BOTH, witness.data());
            solver.dive(d, cudbound::Side::BOTH, 8, false, witness.data());
            if (!cudbound::has_minorant(problem)) continue;
            solver.dive(d, cudbound::Side::BOTH, 8, true, witness.data());
            *nodes += solver.bound(d, cudbound::Side::BOTH, {0.0, 0.0, 1000}).nodes;
        }
        for (int d = 0; d < instance.draws; ++d) {
            *nodes += solver.search(d, cudbound::Side::BOTH, {}, witness.data()).nodes;
        }
    };
    solve_all();
    const long before = allocations;
    solve_all();
    return allocations - before;
}

}  // namespace

// The counter works.
TEST(allocations_are_counted) {
    const long before = allocations;
    std::vector<double> some(10);
    some.push_back(1.0);
    CHECK_AT_MOST(before + 2, allocations.load());
}

// Clear labels, n = 50: thousands of nodes of the main search, no search of the apex.
TEST(main_search) {
    for (const cudbound::Loss loss : all_losses) {
        Random random(111);
        for (const int p : {1, 2, 3, 5}) {
            check::set_context("loss", static_cast<int>(loss), "p", p);
            Instance instance = random_instance(random, 50, p, RowKind::general, LabelKind::clear, check::trials(30));
            instance.loss = loss;
            std::int64_t nodes = 0;
            CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
            CHECK_AT_MOST(p == 1 ? 0 : check::trials(50), nodes);
        }
    }
}

// The same with everything a problem can have.
TEST(penalty_weights_and_offset) {
    for (const cudbound::Loss loss : all_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Random random(114);
        Instance instance = random_instance(random, 50, 4, RowKind::general, LabelKind::clear, 30);
        instance.loss = loss;
        penalize({0.0, 0.1, 0.1, 0.1}, &instance);
        for (int i = 0; i < instance.n; ++i) {
            instance.sample_weight.push_back(0.5 * integer(random, 0, 3));
            instance.offset.push_back(0.3 * normal(random));
            instance.design[static_cast<std::size_t>(i) * 4] = i % 7 == 0 ? 0.0 : 1.0;
        }
        std::fill_n(instance.design.begin(), 4, 0.0);  // a zero row
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(50, nodes);
    }
}

TEST(l1_penalty) {
    for (const cudbound::Loss loss : {cudbound::Loss::SQUARED, cudbound::Loss::LOGISTIC}) {
        check::set_context("loss", static_cast<int>(loss));
        Random random(118);
        Instance instance = random_instance(random, 50, 4, RowKind::general, LabelKind::clear, 30);
        instance.loss = loss;
        instance.l1 = {0.0, 0.02, 0.05, 0.1};
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(50, nodes);
    }
}

// Many hyperplanes through a point: conflicts are looked for in the main search too.
TEST(integer_features) {
    for (const cudbound::Loss loss : all_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Random random(112);
        Instance instance = random_instance(random, 50, 4, RowKind::integers, LabelKind::clear, 30);
        instance.loss = loss;
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(50, nodes);
    }
}

// Few rows drawn: flat directions and separable draws.
TEST(few_drawn_rows) {
    for (const cudbound::Loss loss : all_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Random random(115);
        Instance instance = random_instance(random, 40, 4, RowKind::general, LabelKind::noise, check::trials(20));
        instance.loss = loss;
        for (int d = 0; d < instance.draws; ++d) {
            for (int i = 1 + 3 * d % 8; i < instance.n; ++i)
                instance.counts[static_cast<std::size_t>(d) * instance.n + i] = 0;
        }
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(check::share_of(10), nodes);
    }
}

// Weak labels: the best open cell is searched, by visiting all of them and, for p >= 4, by conflicts first.
TEST(apex_search) {
    for (const cudbound::Loss loss : all_losses) {
        Random random(113);
        for (const int p : {2, 3, 4, 5}) {
            check::set_context("loss", static_cast<int>(loss), "p", p);
            Instance instance = random_instance(random, p > 3 ? 25 : 50, p, RowKind::general, LabelKind::noise, 12);
            instance.loss = loss;
            std::int64_t nodes = 0;
            CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
            CHECK_AT_MOST(50, nodes);
        }
    }
}

// Many hyperplanes in few dimensions: cones take over from the tree.
TEST(cone_search) {
    Random random(117);
    for (const int p : {2, 3}) {
        check::set_context("p", p);
        const Instance instance = random_instance(random, 300, p, RowKind::general, LabelKind::noise, 6);
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(100, nodes);
    }
}

// Cones alone, also where many hyperplanes share a line.
TEST(gain_by_cones) {
    Random random(116);
    for (const int p : {2, 3, 4}) {
        for (const bool binary : {false, true}) {
            check::set_context("p", p, "binary", binary);
            GainProblem problem{p, {}, {}};
            while (problem.gains.size() < 40) {
                oracle::Vector a(p);
                for (double& x : a) x = normal(random);
                if (binary && p > 2) a[0] = integer(random, 0, 1);
                problem.add(a, integer(random, 1, 3));
            }
            const Hyperplanes hyperplanes = problem.hyperplanes();
            const std::atomic<bool> stop{false};
            const cudbound::Limits limits;
            cudbound::Budget budget(limits, stop);
            cudbound::GainByCones cones(hyperplanes.arrangement, p, hyperplanes.exact());
            long before = 0;
            for (int round = 0; round < 2; ++round) {
                budget.start();
                before = allocations;
                cones.search(hyperplanes.central(problem.gains), 0.0, 1e9, budget);
            }
            CHECK_EQUAL(allocations - before, 0);
            CHECK_EQUAL(cones.upper(), cones.best());
        }
    }
}
