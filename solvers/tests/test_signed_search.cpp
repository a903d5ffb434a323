// The search of one sign by itself: what it finds, what it proves, and what it leaves open when it is cut short.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "check.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "search/signed_search.hpp"
#include "search/witness.hpp"

namespace {

using cudbound::Incumbent;
using cudbound::Loss;
using cudbound::Status;
using oracle::Vector;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A relaxation that sets a flag after so many cones: a caller who interrupts in the middle of a search, but always at
// the same place.
class Interrupting : public cudbound::Relaxation {
 public:
    Interrupting(const cudbound::Problem& problem, const cudbound::Arrangement& arrangement, cudbound::Budget& budget,
                 std::atomic<bool>& stop)
        : Relaxation(problem, arrangement, budget),
          inner_(cudbound::make_relaxation(problem, arrangement, budget)),
          stop_(stop) {
        repeat();
    }

    void interrupt_after(int cones) { cones_left_ = cones; }

    void set(std::int64_t draw) override {
        inner_->set(draw);
        repeat();
    }
    void place(const cudbound::Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override {
        inner_->place(hyperplanes, units, offsets, curvatures);
    }
    double rise(const cudbound::Node& node, double curvature, double distance, double along) const override {
        return inner_->rise(node, curvature, distance, along);
    }
    void to_beta(const double* v, double* beta) const override { inner_->to_beta(v, beta); }
    std::unique_ptr<cudbound::Node> make_node() const override { return inner_->make_node(); }
    void copy(const cudbound::Node& from, cudbound::Node& to) const override { inner_->copy(from, to); }
    Settled settle(cudbound::Node& node, const cudbound::Sides& sides, const cudbound::Vector<int>& forced,
                   double limit) override {
        if (cones_left_-- == 0) stop_ = true;
        return inner_->settle(node, sides, forced, limit);
    }

 private:
    void repeat() {
        static_cast<cudbound::DrawFacts&>(*this) = *inner_;
        root_ = inner_->make_node();
        inner_->copy(inner_->root(), *root_);
    }

    const std::unique_ptr<cudbound::Relaxation> inner_;
    std::atomic<bool>& stop_;
    int cones_left_ = -1;
};

cudbound::Limits of_nodes(std::int64_t nodes) {
    cudbound::Limits limits;
    limits.nodes = nodes;
    return limits;
}

// The first draw of an instance, about which nothing is known yet: not even what the anchor is worth.
class Search {
 public:
    explicit Search(const Instance& instance, std::int64_t nodes = std::numeric_limits<std::int64_t>::max())
        : problem_(instance.view()),
          arrangement_(cudbound::merge_rows(problem_)),
          budget_(of_nodes(nodes), stop_),
          view_(problem_, arrangement_, std::make_unique<Interrupting>(problem_, arrangement_, budget_, stop_)),
          apex_(arrangement_),
          search_(view_, apex_, budget_) {
        budget_.start();
        view_.tally(0);
        view_.place();
        incumbent.clear(problem_.anchor, view_.p);
    }

    void interrupt_after(int cones) { static_cast<Interrupting&>(*view_.relaxation).interrupt_after(cones); }

    // Targets and bounds are in units of Q.
    double explore(double sign, double floor = 0.0, double ceiling = infinity) {
        return search_.explore(sign, {floor * unit(), ceiling * unit()}, incumbent) / unit();
    }
    void dive(double sign, int steps) { search_.dive(sign, steps, incumbent); }

    double best() const { return incumbent.value / unit(); }
    const cudbound::Budget& budget() const { return budget_; }

    // What coefficients in the cell of the incumbent are worth.
    double attained() {
        Vector witness(static_cast<std::size_t>(problem_.p));
        cudbound::WitnessWriter(view_).write(incumbent, witness.data());
        const double excess = oracle::loss(problem_, 0, witness.data()) - oracle::anchor_loss(problem_, 0);
        return incumbent.sign * oracle::score(problem_, 0, witness.data()) * oracle::g(problem_.alpha, excess);
    }

    Incumbent incumbent;

 private:
    double unit() const { return view_.divisor; }

    std::atomic<bool> stop_{false};
    const cudbound::Problem problem_;
    const cudbound::Arrangement arrangement_;
    cudbound::Budget budget_;
    cudbound::PlacedDraw view_;
    cudbound::ApexGain apex_;
    cudbound::SignedSearch search_;
};

// Newton's method and enumeration know losses to about 1e-10, and the witness stays that far inside its cell.
constexpr double near = 1e-8;

struct Case {
    Instance instance;
    oracle::Values values;
    double of(double sign) const { return sign > 0.0 ? values.positive : values.negative; }
};

Case made(Instance instance) {
    const oracle::Values values = oracle::enumerate_cells(instance.view(), 0);
    return {std::move(instance), values};
}

// Few rows with noisy labels, so that both signs have something to find; the losses that enumeration knows.
Case random_case(Random& random, int trial) {
    constexpr Loss losses[] = {Loss::SQUARED, Loss::LOGISTIC, Loss::EXPONENTIAL};
    const int p = 1 + trial % 3;
    Instance instance = random_instance(random, integer(random, p + 2, p == 3 ? 8 : 10), p,
                                        static_cast<RowKind>(trial / 3 % 4), LabelKind::noise);
    instance.loss = losses[trial / 12 % 3];
    if (instance.loss != Loss::SQUARED) penalize(Vector(static_cast<std::size_t>(p), 0.05), &instance);
    instance.alpha = trial % 4 == 0 ? 0.4 * instance.n : instance.n;
    return made(std::move(instance));
}

// Visits random draws, each with both signs.
template <class Visit>
void for_random_cases(std::uint64_t seed, int trials, const Visit& visit) {
    Random random(seed);
    for (int trial = 0; trial < check::trials(trials); ++trial) {
        const Case one = random_case(random, trial);
        for (const double sign : {1.0, -1.0}) {
            check::set_context("trial", trial, "p", one.instance.p, "loss", static_cast<int>(one.instance.loss), "sign",
                               sign);
            visit(one, sign);
        }
    }
}

}  // namespace

// Weights 2 and 3, and n L = (1 - b_1)^2 + (1 - b_2)^2 with n = 2: one row wrong costs 1/2 of L, both cost 1. So row 1
// wrong is worth 2 g(alpha/2), row 2 wrong 3 g(alpha/2), both 5 g(alpha). Nothing has a negative score.
TEST(two_rows_by_hand) {
    const struct {
        double alpha, value;
    } cases[] = {{0.0, 5.0}, {0.5, 2.5}, {1.0, 1.5}, {1.5, 0.75}, {2.0, 0.0}, {infinity, 0.0}};
    for (const auto& one : cases) {
        check::set_context("alpha", one.alpha);
        const Instance instance = two_orthogonal_rows(one.alpha);
        Search positive(instance);
        CHECK_EQUAL(positive.explore(1.0), 0.0);
        CHECK_NEAR(positive.best(), one.value, 1e-11);
        CHECK(positive.budget().status() == Status::OPTIMAL);
        Search negative(instance);
        CHECK_EQUAL(negative.explore(-1.0), 0.0);
        CHECK_EQUAL(negative.best(), 0.0);
        CHECK_EQUAL(negative.budget().nodes(), 0);
    }
}

// The same with weights -2 and 3 and alpha = 1: row 2 wrong is worth 3 g(1/2) = 1.5, row 1 wrong 2 g(1/2) = 1 of the
// other sign.
TEST(two_signs_by_hand) {
    Instance instance = two_orthogonal_rows(1.0);
    instance.weights = {-2.0, 3.0};
    for (const double sign : {1.0, -1.0}) {
        check::set_context("sign", sign);
        Search search(instance);
        CHECK_EQUAL(search.explore(sign), 0.0);
        CHECK_NEAR(search.best(), sign > 0.0 ? 1.5 : 1.0, 1e-11);
        CHECK_EQUAL(search.incumbent.sign, sign);
        CHECK_EQUAL(search.incumbent.score, sign > 0.0 ? 3.0 : 2.0);
    }
}

// p = 1, n L = (1 - b)^2 + 2 (1 + 2b)^2, whose minimizer -1/3 is the anchor, with n L = 2. The row with a weight, 1/2,
// is wrong where b > 0, and there n L is more than 3: 1/2 g(1/2) = 1/4.
TEST(half_lines_by_hand) {
    Instance instance = two_rows();
    instance.anchor = {-1.0 / 3.0};
    Search search(instance);
    CHECK_EQUAL(search.explore(1.0), 0.0);
    CHECK_NEAR(search.best(), 0.25, 1e-11);
}

// Cells and the least losses on them by enumeration. The incumbent tells where its value is attained.
TEST(the_optimum_is_found) {
    int worth_something = 0;
    for_random_cases(201, 144, [&](const Case& one, double sign) {
        Search search(one.instance);
        CHECK_EQUAL(search.explore(sign), 0.0);
        CHECK(!search.budget().exhausted());
        CHECK_NEAR(search.best(), one.of(sign), near);
        if (!(search.best() > 0.0)) return;
        ++worth_something;
        CHECK_EQUAL(search.incumbent.sign, sign);
        CHECK_NEAR(search.attained(), search.best(), near);
    });
    check::set_context("values above 0");
    CHECK_AT_MOST(check::share_of(100), worth_something);
}

// The second sign searches for what is better than the first.
TEST(signs_share_an_incumbent) {
    Random random(203);
    for (int trial = 0; trial < check::trials(72); ++trial) {
        const Case one = random_case(random, trial);
        for (const double first : {1.0, -1.0}) {
            check::set_context("trial", trial, "first", first);
            Search search(one.instance);
            CHECK_EQUAL(search.explore(first), 0.0);
            CHECK_EQUAL(search.explore(-first), 0.0);
            CHECK_NEAR(search.best(), one.values.both, near);
        }
    }
}

// From the value on a floor is a proof that nothing is above it, and nothing is looked for. Below the value it changes
// nothing.
TEST(floors) {
    for_random_cases(204, 72, [](const Case& one, double sign) {
        const double value = one.of(sign);
        for (const double above : {near, 0.01, 1.0}) {
            Search search(one.instance);
            CHECK_EQUAL(search.explore(sign, value + above), 0.0);
            CHECK_EQUAL(search.best(), 0.0);
            CHECK(!search.budget().exhausted());
        }
        for (const double share : {0.0, 0.5, 0.99}) {
            if (value < 0.01) continue;
            Search search(one.instance);
            CHECK_EQUAL(search.explore(sign, share * value), 0.0);
            CHECK_NEAR(search.best(), value, near);
        }
    });
}

// The first value above a ceiling ends the search, and what is then left open is still bounded. A ceiling that nothing
// exceeds changes nothing.
TEST(ceilings) {
    for_random_cases(205, 72, [](const Case& one, double sign) {
        const double value = one.of(sign);
        Search whole(one.instance);
        whole.explore(sign);
        for (const double share : {0.0, 0.5, 0.99}) {
            if (value < 0.01) continue;
            Search search(one.instance);
            const double open = search.explore(sign, 0.0, share * value);
            CHECK(search.budget().status() == Status::DECIDED);
            CHECK(search.best() > share * value);
            CHECK_AT_MOST(search.best(), value + near);
            CHECK_AT_MOST(value, std::max(open, search.best()) + near);
            CHECK_AT_MOST(search.budget().nodes(), whole.budget().nodes());
            const double best = search.best();
            search.explore(-sign, 0.0, infinity);
            CHECK_EQUAL(search.best(), best);  // a search that has ended looks no further
        }
        for (const double above : {near, 1.0}) {
            Search search(one.instance);
            CHECK_EQUAL(search.explore(sign, 0.0, value + above), 0.0);
            CHECK_EQUAL(search.best(), whole.best());
            CHECK_EQUAL(search.budget().nodes(), whole.budget().nodes());
            CHECK(!search.budget().exhausted());
        }
    });
}

// Cut short after any number of nodes: what was left open is at least the value, unless that was found.
TEST(nodes_run_out) {
    int ran_out = 0;
    for_random_cases(206, 72, [&](const Case& one, double sign) {
        const double value = one.of(sign);
        for (const int nodes : {0, 1, 2, 3, 5, 8, 13, 21}) {
            Search search(one.instance, nodes);
            const double open = search.explore(sign);
            CHECK_AT_MOST(value, std::max(open, search.best()) + near);
            CHECK_AT_MOST(search.best(), value + near);
            CHECK_AT_MOST(search.budget().nodes(), nodes);
            if (nodes == 0) CHECK_EQUAL(search.best(), 0.0);
            if (search.budget().exhausted()) {
                ++ran_out;
                CHECK(search.budget().status() == Status::NODE_LIMIT);
            } else {
                CHECK_EQUAL(open, 0.0);
            }
        }
    });
    check::set_context("searches that were cut short");
    CHECK_AT_MOST(check::share_of(100), ran_out);
}

// Interrupted at any of its cones, before the search included: the same. Values up to a floor stay of no interest.
TEST(interrupted) {
    int interrupted = 0;
    for_random_cases(207, 72, [&](const Case& one, double sign) {
        const double value = one.of(sign);
        for (const int cones : {0, 1, 2, 3, 5, 8, 13, 21}) {
            for (const double share : {0.0, 0.5}) {
                Search search(one.instance);
                search.interrupt_after(cones);
                const double open = search.explore(sign, share * value);
                CHECK_AT_MOST(value, std::max(open, search.best()) + near);
                CHECK_AT_MOST(search.best(), value + near);
                if (search.budget().exhausted()) {
                    ++interrupted;
                    CHECK(search.budget().status() == Status::INTERRUPTED);
                } else {
                    CHECK_EQUAL(open, 0.0);
                }
            }
        }
    });
    check::set_context("searches that were interrupted");
    CHECK_AT_MOST(check::share_of(100), interrupted);
}

// A dive finds what some cell attains, or leaves the incumbent it was given.
TEST(dives) {
    int found = 0;
    for_random_cases(208, 144, [&](const Case& one, double sign) {
        const double value = one.of(sign);
        double before = 0.0;
        for (const int steps : {0, 1, 2, 5, 30}) {
            Search search(one.instance);
            search.dive(sign, steps);
            CHECK_AT_MOST(search.best(), value + near);
            CHECK_AT_MOST(before, search.best());  // it goes the same way, but farther
            CHECK_AT_MOST(search.budget().nodes(), steps);
            before = search.best();
            if (!(search.best() > 0.0)) continue;
            ++found;
            CHECK_EQUAL(search.incumbent.sign, sign);
            CHECK_AT_MOST(search.best() - near, search.attained());
        }
        Search known(one.instance);
        known.explore(sign);
        const double best = known.best();
        known.dive(sign, 30);
        CHECK_NEAR(known.best(), best, near);
        CHECK_EQUAL(known.explore(sign), 0.0);  // nothing that it forced stays behind
        CHECK_NEAR(known.best(), best, near);
    });
    check::set_context("dives that found something");
    CHECK_AT_MOST(check::share_of(100), found);
}
