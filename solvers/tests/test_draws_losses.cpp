// Whole draws under every loss: values by hand, enumeration of all cells with a convex program each, and certificates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "cudbound/settings.hpp"
#include "instances.hpp"
#include "oracles.hpp"

namespace {

using cudbound::Loss;
using cudbound::Side;
using cudbound::Status;
constexpr double infinity = std::numeric_limits<double>::infinity();

double value_at(Loss loss, double margin) { return cudbound::loss_at(loss, margin).value; }

void check_value(const Instance& instance, double expected, Side side = Side::BOTH) {
    const Answer answer = solve(instance, {}, side);
    CHECK(answer.status[0] == Status::OPTIMAL);
    CHECK_NEAR(answer.lower[0], expected, 1e-7);
    CHECK_EQUAL(answer.lower[0], answer.upper[0]);
}

// The witness is a classifier off all hyperplanes whose rows have a weight, in a cell that is worth the lower bound,
// and not more than the upper one.
void check_witness(const Instance& instance, const Answer& answer, int draw) {
    const cudbound::Problem problem = instance.view();
    const double* witness = &answer.witness[static_cast<std::size_t>(draw) * instance.p];
    const double score = std::abs(oracle::score(problem, draw, witness));
    const double excess = oracle::loss(problem, draw, witness) - oracle::anchor_loss(problem, draw);
    if (std::isinf(problem.alpha)) {
        CHECK_NEAR(score, answer.lower[draw], 1e-9);
        CHECK_AT_MOST(excess, 1e-6);
    } else {
        const double value = score * oracle::g(problem.alpha, excess);
        CHECK_AT_MOST(answer.lower[draw] - 1e-6, value);
        CHECK_AT_MOST(value, answer.upper[draw] + 1e-9);
    }
    CHECK(off_hyperplanes(instance, draw, witness));
}

// A penalty, the intercept free or not, weights and offsets at times.
Instance random_problem(Random& random, Loss loss, int trial, int n, int p, int draws) {
    const RowKind rows[] = {RowKind::general, RowKind::homogeneous, RowKind::integers, RowKind::repeated};
    Instance instance =
        random_instance(random, n, p, rows[trial % 4], trial % 3 == 0 ? LabelKind::clear : LabelKind::noise, draws);
    instance.loss = loss;
    penalize(std::vector<double>(p, std::pow(10.0, -(trial % 3))), &instance);
    const double rates[] = {0.5, static_cast<double>(n), static_cast<double>(n), static_cast<double>(n * n), infinity};
    instance.alpha = rates[integer(random, 0, 4)];
    for (int i = 0; i < n; ++i) {
        if (trial % 2 == 0) instance.sample_weight.push_back(0.5 * integer(random, 1, 4));
        if (trial % 5 == 0) instance.offset.push_back(0.5 * normal(random));
    }
    if (trial % 2 == 1) {
        for (int i = 0; i < draws * n; ++i) instance.weights.push_back(normal(random));
    }
    return instance;
}

}  // namespace

// p = 1, both rows 1, labels +1 and -1, counts 2 and 0, weights 3 and -1, anchor 1/2: L(b) = loss(b).
//   b > 0: row 2 is wrong, S = -1, with g = 1 (the anchor is there). b < 0: row 1 is wrong, S = 3, inf L = loss(0).
//   +S: 3 clip(1 - alpha (loss(0) - loss(1/2))).  -S: 1.
TEST(one_dimension) {
    for (const Loss loss : all_losses) {
        const double rise = value_at(loss, 0.0) - value_at(loss, 0.5);
        for (const double alpha : {0.0, 0.25, 0.5, 1.0, 1.3, 2.0, 3.0, 100.0, infinity}) {
            check::set_context("loss", static_cast<int>(loss), "alpha", alpha);
            Instance instance = by_hand({1.0, 1.0}, {1.0, -1.0}, {0.5}, {2, 0}, alpha, loss);
            instance.weights = {3.0, -1.0};
            const double positive = 3.0 * oracle::g(alpha, rise);
            check_value(instance, std::max(positive, 1.0));
            check_value(instance, positive, Side::POSITIVE);
            check_value(instance, 1.0, Side::NEGATIVE);
        }
    }
}

// p = 2, rows e_1 and e_2, labels +1, counts 1, weights 2 and 3, anchor (1, 1): L = (loss(b_1) + loss(b_2)) / 2.
//   row 1 wrong: 2 at (loss(0) + inf loss) / 2.  row 2 wrong: 3, the same.  both: 5 at loss(0).  inf loss = 0.
TEST(two_orthogonal_rows) {
    for (const Loss loss : all_losses) {
        const double anchor = value_at(loss, 1.0);
        const double zero = value_at(loss, 0.0);
        for (const double alpha : {0.0, 0.25, 0.5, 0.57, 0.58, 1.0, 1.5, 1.99, 2.5, 7.0}) {
            check::set_context("loss", static_cast<int>(loss), "alpha", alpha);
            const Instance instance = two_orthogonal_rows(alpha, loss);
            const double expected =
                std::max(3.0 * oracle::g(alpha, 0.5 * zero - anchor), 5.0 * oracle::g(alpha, zero - anchor));
            check_value(instance, expected);
            check_value(instance, expected, Side::POSITIVE);
            check_value(instance, 0.0, Side::NEGATIVE);
        }
    }
}

// p = 2, rows (width, 1) and (0, 1), labels -1, counts 0 and 1, weights 1 and -1, anchor (0, -1).
//   Between the two lines row 1 is wrong and row 2 is not: S = 1, and inf L = 0, no more than at the anchor. But row 2
//   comes to the margin 1 only at beta = (1 / width, -1), and what it loses before counts the less the less it weighs.
TEST(a_minimizer_far_along_the_edge_of_a_cone) {
    for (const Loss loss : all_losses) {
        for (int width = 2; width <= 10; ++width) {
            for (int mass = 0; mass <= 12; ++mass) {
                check::set_context("loss", static_cast<int>(loss), "width", width, "mass", mass);
                Instance instance = by_hand({1.3 * std::pow(10.0, -width), 1.0, 0.0, 1.0}, {-1.0, -1.0}, {0.0, -1.0},
                                            {0, 1}, 2.0, loss);
                instance.weights = {1.0, -1.0};
                instance.sample_weight = {1.0, 1.7 * std::pow(10.0, -mass)};
                const double lost = loss == Loss::SQUARED ? cudbound::Settings::flat_level : 0.0;
                CHECK_AT_MOST(1.0 - lost, solve(instance, {}, Side::POSITIVE).upper[0]);
            }
        }
    }
}

TEST(equal_to_enumeration) {
    Random random(151);
    for (const Loss loss : {Loss::LOGISTIC, Loss::EXPONENTIAL, Loss::SQUARED_HINGE, Loss::HUBER, Loss::SQUARED}) {
        for (int trial = 0; trial < check::trials(60); ++trial) {
            const int p = 1 + trial % 3;
            const int n = p == 3 ? 7 : 8;
            const Instance instance = random_problem(random, loss, trial, n, p, 2);
            const cudbound::Problem problem = instance.view();
            const Answer both = solve(instance);
            const Answer positive = solve(instance, {}, Side::POSITIVE);
            const Answer negative = solve(instance, {}, Side::NEGATIVE);
            for (int d = 0; d < instance.draws; ++d) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "draw", d, "alpha", instance.alpha);
                const oracle::Values expected = oracle::enumerate_cells(problem, d);
                CHECK(both.status[d] == Status::OPTIMAL);
                CHECK_NEAR(both.lower[d], expected.both, 1e-6);
                CHECK_NEAR(both.upper[d], expected.both, 1e-6);
                CHECK_NEAR(positive.upper[d], expected.positive, 1e-6);
                CHECK_NEAR(negative.upper[d], expected.negative, 1e-6);
                check_witness(instance, both, d);
            }
        }
    }
}

// Uniform deviation: at alpha = 0 the loss does not matter.
TEST(alpha_zero_is_the_same_for_every_loss) {
    Random random(152);
    for (int trial = 0; trial < check::trials(20); ++trial) {
        Instance instance = random_problem(random, Loss::SQUARED, trial, 20, 3, 3);
        instance.alpha = 0.0;
        const Answer squared = solve(instance);
        for (const Loss loss : all_losses) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            instance.loss = loss;
            const Answer answer = solve(instance);
            for (int d = 0; d < instance.draws; ++d) {
                CHECK(answer.status[d] == Status::OPTIMAL);
                CHECK_NEAR(answer.upper[d], squared.upper[d], 1e-12);
            }
        }
    }
}

TEST(every_draw_is_certified) {
    Random random(153);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < 8; ++trial) {
            const int p = 3 + trial % 3;
            Instance instance = random_problem(random, loss, trial, 30, p, 5);
            if (trial % 2 == 0) {
                instance.penalty.clear();
                instance.anchor_penalty = 0.0;
            }
            const Answer answer = solve(instance);
            const Answer threaded = solve(instance, {}, Side::BOTH, 3);
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            CHECK(answer == threaded);
            for (int d = 0; d < instance.draws; ++d) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "draw", d);
                CHECK(answer.status[d] == Status::OPTIMAL);
                CHECK_EQUAL(answer.lower[d], answer.upper[d]);
                check_witness(instance, answer, d);
            }
        }
    }
}

TEST(node_limits_leave_bounds_that_hold) {
    Random random(154);
    for (const Loss loss : all_losses) {
        const Instance instance = random_problem(random, loss, 1, 30, 4, 6);
        const Answer exact = solve(instance);
        int stopped = 0;
        for (const std::int64_t nodes : {0, 1, 3, 10, 30}) {
            const Answer answer = solve(instance, {nodes, infinity});
            for (int d = 0; d < instance.draws; ++d) {
                check::set_context("loss", static_cast<int>(loss), "nodes", nodes, "draw", d);
                CHECK_AT_MOST(answer.nodes[d], nodes);
                CHECK_AT_MOST(answer.lower[d], exact.upper[d] + 1e-12);
                CHECK_AT_MOST(exact.upper[d], answer.upper[d] + 1e-12);
                stopped += answer.status[d] == Status::NODE_LIMIT ? 1 : 0;
                check_witness(instance, answer, d);
            }
        }
        CHECK(stopped > 0);
    }
}

// The minimizers of all draws: no random point is better, and those of draws that are not separable are attained.
TEST(minimizers) {
    Random random(155);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(12); ++trial) {
            const Instance instance = random_problem(random, loss, trial, 25, 3, 4);
            const cudbound::Problem problem = instance.view();
            std::vector<double> coef(static_cast<std::size_t>(instance.draws) * instance.p);
            bool attained[4] = {false, false, false, false};
            bool reached[4] = {false, false, false, false};
            cudbound::minimize(problem, {}, {coef.data(), attained, reached});
            for (int d = 0; d < instance.draws; ++d) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "draw", d);
                CHECK(attained[d]);
                CHECK(reached[d]);
                const double* found = &coef[static_cast<std::size_t>(d) * instance.p];
                const double least = oracle::loss(problem, d, found);
                if (loss != Loss::HINGE) {
                    CHECK_NEAR(least, oracle::least_on_cone(problem, d, {}).loss, 1e-10 * (1.0 + least));
                }
                for (int points = 0; points < 200; ++points) {
                    std::vector<double> beta(found, found + instance.p);
                    const double spread = std::pow(10.0, -integer(random, 0, 6));
                    for (double& x : beta) x += spread * normal(random);
                    CHECK_AT_MOST(least, oracle::loss(problem, d, beta.data()) + 1e-10 * (1.0 + least));
                }
            }
        }
    }
}
