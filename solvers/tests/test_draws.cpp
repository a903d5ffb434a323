// Whole draws with an answer by hand:
//   Q = sup over open cells of |S| g(alpha (L(anchor) - inf L)),  S = sum_i w_i 1{sign(x_i'beta) != y_i},
//   L(beta) = (1/n) sum_i count_i (y_i - x_i'beta)^2 + beta'P beta,  g(u) = clip(1 + u, 0, 1).
#include <cmath>
#include <limits>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "instances.hpp"
#include "oracles.hpp"

namespace {

using cudbound::Side;
using cudbound::Status;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The value, equal bounds, and a witness that is worth the value (at alpha = infinity: has its score).
void check_value(const Instance& instance, double expected, Side side = Side::BOTH) {
    const cudbound::Problem problem = instance.view();
    const Answer answer = solve(instance, {}, side);
    CHECK(answer.status[0] == Status::OPTIMAL);
    CHECK_NEAR(answer.lower[0], expected, 1e-11);
    CHECK_EQUAL(answer.lower[0], answer.upper[0]);
    if (side != Side::BOTH) return;
    const double score = std::abs(oracle::score(problem, 0, answer.witness.data()));
    const double excess = oracle::loss(problem, 0, answer.witness.data()) - oracle::anchor_loss(problem, 0);
    CHECK_NEAR(std::isinf(instance.alpha) ? score : score * oracle::g(instance.alpha, excess), expected, 1e-6);
}

}  // namespace

// p = 1, both rows 1, labels +1 and -1, counts 2 and 0, weights 3 and -1, anchor 1/2.
//   L = (1 - b)^2, L(anchor) = 1/4.
//   b > 0: row 2 is wrong, S = -1, inf L = 0 (g = 1). b < 0: row 1 is wrong, S = 3, inf L = L(0) = 1.
//   +S: 3 clip(1 - 3 alpha / 4).  -S: 1.
TEST(one_dimension) {
    Instance instance = by_hand({1.0, 1.0}, {1.0, -1.0}, {0.5}, {2, 0}, 0.5);
    instance.weights = {3.0, -1.0};
    check_value(instance, 1.875);
    check_value(instance, 1.875, Side::POSITIVE);
    check_value(instance, 1.0, Side::NEGATIVE);
    instance.alpha = 1.0;
    check_value(instance, 1.0);
    check_value(instance, 0.75, Side::POSITIVE);
    instance.alpha = 0.0;
    check_value(instance, 3.0);
    instance.alpha = infinity;
    check_value(instance, 1.0);
    check_value(instance, 0.0, Side::POSITIVE);
}

// p = 2, rows e_1 and e_2, labels +1, counts 1, weights 2 and 3, anchor (1, 1).
//   L = ((1 - b_1)^2 + (1 - b_2)^2) / 2, L(anchor) = 0.
//   none wrong: 0.  row 1 wrong: 2, L = 1/2.  row 2 wrong: 3, L = 1/2.  both: 5, L = 1 (at beta = 0).
//   Q = max(3 clip(1 - alpha / 2), 5 clip(1 - alpha)).
TEST(two_orthogonal_rows) {
    Instance instance = two_orthogonal_rows(0.0);
    for (const double alpha : {0.0, 0.25, 0.5, 0.57, 0.58, 1.0, 1.5, 1.99, 2.0, 7.0, infinity}) {
        check::set_context("alpha", alpha);
        instance.alpha = alpha;
        const double expected =
            std::isinf(alpha) ? 0.0 : std::max(3.0 * oracle::g(alpha, 0.5), 5.0 * oracle::g(alpha, 1.0));
        check_value(instance, expected);
        check_value(instance, expected, Side::POSITIVE);
        check_value(instance, 0.0, Side::NEGATIVE);
    }
}

// The same with the penalty matrix diag(1/2, 0) and alpha 1: n L = 2 L doubles to
//   2 L = (1 - b_1)^2 + (1 - b_2)^2 + b_1^2, least at (1/2, 1) with 1/2.
//   Anchor (1, 1): its penalty is 1/2, L(anchor) = 1/2. If the caller says 3/4 instead, L(anchor) = 3/4.
//   row 1 wrong: b = (0, 1), L = 1/2.  row 2 wrong: b = (1/2, 0), L = 3/4.  both: L = 1.
//   L(anchor) = 1/2:  max(2, 3 * 3/4, 5 * 1/2) = 2.5.    3/4:  max(2, 3, 5 * 3/4) = 3.75.
TEST(penalty) {
    Instance instance = two_orthogonal_rows(1.0);
    instance.penalty = {0.5, 0.0, 0.0, 0.0};
    instance.anchor_penalty = 0.5;
    check_value(instance, 2.5);
    instance.anchor_penalty = 0.75;
    check_value(instance, 3.75);
}

// Weights from the counts, (count - 1) / n: rows e_1, e_1, e_2, e_2, labels + - + +, counts 3 0 0 1, anchor (1, 1).
//   weights (2, -1, -1, 0) / 4;  4 L = 3 (1 - b_1)^2 + (1 - b_2)^2.
//   Both rows along e_1 are one hyperplane: b_1 > 0: row 2 wrong, -1/4; b_1 < 0: row 1 wrong, 2/4. b_2 < 0: -1/4.
//   The best of -S: b_1 > 0, b_2 < 0: 2/4, 4 L = 1. The best of +S: b_1 < 0, b_2 > 0: 2/4, 4 L = 3.
//   L(anchor) = 0: -S gives max(1/4, 1/2 clip(1 - alpha / 4)), +S gives 1/2 clip(1 - 3 alpha / 4).
TEST(counts_and_merged_rows) {
    Instance instance =
        by_hand({1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0}, {1.0, -1.0, 1.0, 1.0}, {1.0, 1.0}, {3, 0, 0, 1}, 1.0);
    check_value(instance, 0.375);
    check_value(instance, 0.125, Side::POSITIVE);
    check_value(instance, 0.375, Side::NEGATIVE);
    instance.alpha = 3.0;
    check_value(instance, 0.25);
    check_value(instance, 0.0, Side::POSITIVE);
    check_value(instance, 0.25, Side::NEGATIVE);
}

// Three rows at 120 degrees with labels -1 and weights 1: a row is wrong on its positive side. The moment is zero, so
// beta = 0 minimizes the loss, and every cell has g = 1 whatever alpha is. All closed cells contain beta = 0, where all
// three sides are attained (3), but no classifier has all three wrong: the answer is 2.
TEST(apex_with_a_conflict) {
    const double h = std::sqrt(0.75);
    for (const double alpha : {0.0, 1.0, 3.0, 1000.0, infinity}) {
        check::set_context("alpha", alpha);
        Instance instance = by_hand({1.0, 0.0, -0.5, h, -0.5, -h}, {-1.0, -1.0, -1.0}, {0.3, 0.1}, {1, 1, 1}, alpha);
        instance.weights = {1.0, 1.0, 1.0};
        check_value(instance, 2.0);
        check_value(instance, 0.0, Side::NEGATIVE);
        // weights 1, 2, 4: the first is given up
        instance.weights = {1.0, 2.0, 4.0};
        check_value(instance, 6.0);
    }
}

// The same conflict away from beta = 0, in R^3: rows (a_k, 0) for the three directions a_k, and the row e_3 with label
// +1 and count 1, which holds beta_3 at 1. The three planes share the third axis, where the loss has its minimum (0, 0,
// 1). The value is 2 for alpha = 1000, at which beta = 0, with a loss larger by 1/4, is out of reach; 3 would be wrong.
TEST(conflict_away_from_the_apex) {
    const double h = std::sqrt(0.75);
    Instance instance = by_hand({1.0, 0.0, 0.0, -0.5, h, 0.0, -0.5, -h, 0.0, 0.0, 0.0, 1.0}, {-1.0, -1.0, -1.0, 1.0},
                                {0.0, 0.0, 1.0}, {1, 1, 1, 1}, 1000.0);
    instance.weights = {1.0, 1.0, 1.0, 0.0};
    check_value(instance, 2.0);
    // with a weight on the fourth row, which is never wrong this close, nothing changes
    instance.weights = {1.0, 1.0, 1.0, 10.0};
    check_value(instance, 2.0);
    // at alpha = 0 the fourth can be wrong as well
    instance.alpha = 0.0;
    check_value(instance, 12.0);
}

// Rows e_1 and e_2, counts 2 and 0: the loss (1 - b_1)^2 is flat along e_2. Weights (1, -1) / 2, labels +1.
//   Row 2 wrong, row 1 right: S = -1/2 with the least loss. Row 1 wrong, row 2 right: 1/2 at L = 1.
//   Anchor (1, 1), L = 0: Q = 1/2 for every alpha; the positive side has 1/2 clip(1 - alpha).
TEST(rank_deficient) {
    for (const double alpha : {0.0, 0.25, 0.75, 2.0, infinity}) {
        check::set_context("alpha", alpha);
        const Instance instance = by_hand({1.0, 0.0, 0.0, 1.0}, {1.0, 1.0}, {1.0, 1.0}, {2, 0}, alpha);
        check_value(instance, 0.5);
        check_value(instance, 0.5, Side::NEGATIVE);
        check_value(instance, std::isinf(alpha) ? 0.0 : 0.5 * oracle::g(alpha, 1.0), Side::POSITIVE);
    }
}

// The flat direction may be almost along the hyperplane of the row that was not drawn: rows (1, 0) and (1, e), counts 2
// and 0. At b = (1, -2 / e), as good as any, the second row is wrong: 1/2 for every alpha, however far away that is.
TEST(rank_deficient_at_a_small_angle) {
    for (const double e : {1.0, 0.1, 0.01, 0.003, 0.001}) {
        for (const double alpha : {0.0, 1.0, 100.0, 1e6, infinity}) {
            check::set_context("e", e, "alpha", alpha);
            check_value(by_hand({1.0, 0.0, 1.0, e}, {1.0, 1.0}, {1.0, 0.0}, {2, 0}, alpha), 0.5);
        }
    }
}

// At smaller angles the iterations along the flat direction may give up. Then the upper bound must still hold.
TEST(rank_deficient_at_a_tiny_angle) {
    for (const double e : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
        for (const double alpha : {1.0, 1e6, infinity}) {
            check::set_context("e", e, "alpha", alpha);
            const Answer answer = solve(by_hand({1.0, 0.0, 1.0, e}, {1.0, 1.0}, {1.0, 0.0}, {2, 0}, alpha));
            CHECK_AT_MOST(answer.lower[0], 0.5);
            CHECK_AT_MOST(0.5, answer.upper[0]);
            CHECK_EQUAL(answer.status[0] == Status::OPTIMAL, answer.lower[0] == answer.upper[0]);
        }
    }
}

// The planes of apex_with_a_conflict in R^3, which share the third axis. A fourth row, not drawn and of no weight,
// makes the rows span the space.
TEST(apex_with_a_pencil) {
    const double h = std::sqrt(0.75);
    Instance instance = by_hand({1.0, 0.0, 0.0, -0.5, h, 0.0, -0.5, -h, 0.0, 0.0, 0.0, 1.0}, {-1.0, -1.0, -1.0, 1.0},
                                {0.3, 0.1, 0.2}, {1, 1, 1, 0}, 4.0);
    instance.weights = {1.0, 1.0, 1.0, 0.0};
    check_value(instance, 2.0);
}

// Rows 1 and -1, labels +1, weights 1: on either side of beta = 0 one of them is wrong, S = 1. At beta = 0 itself,
// which is the fit, both are classified +1 and S = 0, but that is no open cell.
TEST(sides_that_count_the_same) {
    Instance instance = by_hand({1.0, -1.0}, {1.0, 1.0}, {0.0}, {1, 1}, 2.0);
    instance.weights = {1.0, 1.0};
    check_value(instance, 1.0);
    CHECK_EQUAL(solve(instance).nodes[0], 0);
}

// No row drawn at all, which only general weights allow: the loss is zero everywhere, and every cell counts fully.
// Rows e_1, e_2 and their sum, labels +1, weights -1, 2, 3: all but row 1 wrong is a cell (b_1 > 0, b_1 + b_2 < 0): 5.
TEST(nothing_drawn) {
    Instance instance = by_hand({1.0, 0.0, 0.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0}, {0, 0, 0}, 3.0);
    instance.weights = {-1.0, 2.0, 3.0};
    check_value(instance, 5.0);
    check_value(instance, 1.0, Side::NEGATIVE);
}

// A zero row is classified +1 everywhere: with label -1 and weight 2 it adds 2 to S in every cell. With row e_1, label
// +1, weight 1, count 1: b_1 > 0: S = 2 at L = 1/2 (the zero row, drawn once, always has residual -1); b_1 < 0: 3 at L
// = 1.
TEST(zero_row) {
    Instance instance = by_hand({0.0, 1.0}, {-1.0, 1.0}, {1.0}, {1, 1}, 0.5);
    instance.weights = {2.0, 1.0};
    check_value(instance, 2.25);
    instance.alpha = 1.0;
    check_value(instance, 2.0);
    // the weight the other way: 2 more on the negative side
    instance.weights = {-2.0, 1.0};
    check_value(instance, 2.0);
    check_value(instance, 0.0, Side::POSITIVE);
}

// All counts one: all weights are zero, no hyperplane matters, no node is needed.
TEST(counts_all_one_need_no_node) {
    Random random(71);
    for (const int p : {1, 3, 6}) {
        Instance instance = random_instance(random, 40, p, RowKind::general, LabelKind::noise);
        instance.counts.assign(instance.n, 1);
        const Answer answer = solve(instance);
        CHECK_EQUAL(answer.lower[0], 0.0);
        CHECK_EQUAL(answer.upper[0], 0.0);
        CHECK(answer.status[0] == Status::OPTIMAL);
        CHECK_EQUAL(answer.nodes[0], 0);
    }
}

// two_orthogonal_rows with alpha = infinity: only beta = (1, 1) is as good as the anchor, no hyperplane is in reach.
TEST(nothing_in_reach_needs_no_node) {
    Instance instance = two_orthogonal_rows(infinity);
    CHECK_EQUAL(solve(instance).nodes[0], 0);
}

// apex_with_a_conflict: beta = 0 is the minimizer, so the best open cell of all is the answer, before the tree is
// begun: all three at once are a conflict, and giving one of them up is as good as it gets (2 nodes).
TEST(minimizer_at_the_apex_needs_two_nodes) {
    const double h = std::sqrt(0.75);
    Instance instance = by_hand({1.0, 0.0, -0.5, h, -0.5, -h}, {-1.0, -1.0, -1.0}, {0.3, 0.1}, {1, 1, 1}, 3.0);
    instance.weights = {1.0, 1.0, 1.0};
    CHECK_AT_MOST(solve(instance).nodes[0], 2);
}

// one_dimension with alpha = 1/2: the minimizer gives -1, which is the whole of the negative side (0 nodes). On the
// positive side the root crosses the one hyperplane (1 node), and beta = 0, its only child, is worth 1.875 (1 node, and
// 1 of the search for the best open cell there).
TEST(one_hyperplane_needs_three_nodes) {
    Instance instance = by_hand({1.0, 1.0}, {1.0, -1.0}, {0.5}, {2, 0}, 0.5);
    instance.weights = {3.0, -1.0};
    CHECK_AT_MOST(solve(instance).nodes[0], 3);
    CHECK_EQUAL(solve(instance, {}, Side::NEGATIVE).nodes[0], 0);
    // At alpha = 1 the positive side has at most 3/4 at beta = 0, less than 1 of the minimizer: the root's one child is
    // bounded away, and with both sides together not even the root is needed.
    instance.alpha = 1.0;
    CHECK_AT_MOST(solve(instance).nodes[0], 1);
}

// Weak labels: beta = 0 costs hardly more than the fit, and every cell touches it. Without the cap on the score of open
// cells such draws took millions of nodes; with it they take less than the number stated here.
TEST(weak_labels_stay_cheap) {
    Random random(72);
    for (const int p : {2, 3}) {
        for (int trial = 0; trial < check::trials(10); ++trial) {
            check::set_context("p", p, "trial", trial);
            const Answer answer = solve(random_instance(random, 50, p, RowKind::general, LabelKind::noise, 10));
            for (int d = 0; d < 10; ++d) {
                CHECK(answer.status[d] == Status::OPTIMAL);
                CHECK_EQUAL(answer.lower[d], answer.upper[d]);
                CHECK_AT_MOST(answer.nodes[d], p == 2 ? 500 : 50000);
            }
        }
    }
}
