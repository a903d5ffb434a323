// What coefficients are worth, from the caller's rows, and what rounding may have done to it: against long double.
#include <cmath>

#include "check.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "problem/evaluation.hpp"

namespace {

using cudbound::Evaluation;
using cudbound::Loss;

long double margin(const Instance& instance, int i, const std::vector<double>& coef) {
    const Instance::Raw& raw = instance.raw;
    const double* row = (raw.p > 0 ? raw.design : instance.design).data() + i * instance.width();
    long double sum = instance.offset.empty() ? 0.0L : instance.offset[i];
    for (int k = 0; k < instance.width(); ++k) sum += static_cast<long double>(row[k]) * coef[k];
    return instance.labels[i] * sum;
}

long double mass(const Instance& instance, int draw, int i) {
    const long double weight = instance.sample_weight.empty() ? 1.0L : instance.sample_weight[i];
    return weight * instance.counts[static_cast<std::size_t>(draw) * instance.n + i];
}

// n times the penalized mean loss, from the definition in the caller's coordinates; penalties are diagonal.
long double exact_loss(const Instance& instance, int draw, const std::vector<double>& coef) {
    long double sum = 0.0L;
    for (int i = 0; i < instance.n; ++i) {
        const long double weight = mass(instance, draw, i);
        if (weight > 0.0L) sum += weight * oracle::surrogate(instance.loss, margin(instance, i, coef)).value;
    }
    for (int k = 0; k < instance.width() && !instance.penalty.empty(); ++k) {
        const double strength = instance.raw.p > 0 ? instance.raw.penalty[k] : instance.penalty[k * instance.p + k];
        sum += static_cast<long double>(instance.n) * strength * coef[k] * coef[k];
    }
    return sum;
}

double exact_score(const Instance& instance, int draw, const std::vector<double>& coef) {
    double sum = 0.0;
    for (int i = 0; i < instance.n; ++i) {
        const std::size_t at = static_cast<std::size_t>(draw) * instance.n + i;
        const double weight = instance.weights.empty() ? instance.counts[at] - 1.0 : instance.weights[at];
        const long double offset = instance.offset.empty() ? 0.0L : instance.offset[i];
        const long double side = instance.labels[i] * margin(instance, i, coef) - offset;
        if ((side >= 0.0L ? 1.0 : -1.0) != instance.labels[i]) sum += weight;
    }
    return sum;
}

// In the coordinates of the problem or in others, with everything that a problem can have.
Instance random_problem(Random& random, int trial, Loss loss) {
    const int p = 1 + trial % 4;
    Instance instance = random_instance(random, p + 8, p, trial % 3 == 0 ? RowKind::integers : RowKind::general,
                                        trial % 2 == 0 ? LabelKind::clear : LabelKind::noise, 3);
    instance.loss = loss;
    if (trial % 3 != 1) penalize(std::vector<double>(p, 0.3), &instance);
    for (int i = 0; i < instance.n; ++i) {
        if (trial % 5 == 0) instance.sample_weight.push_back(0.5 * integer(random, 0, 4));
        if (trial % 7 == 0) instance.offset.push_back(normal(random));
    }
    if (trial % 2 == 0) change_basis(random, &instance);
    return instance;
}

const std::vector<double>& anchor_of(const Instance& instance) {
    return instance.raw.p > 0 ? instance.raw.anchor : instance.anchor;
}

}  // namespace

// A margin has the rounding error of its offset too, beside which the side may vanish.
TEST(the_offset_is_rounded_too) {
    Instance instance = by_hand({1.0}, {1.0}, {0.0}, {1}, 1.0);
    instance.offset = {1.0 - 1e-15};
    const cudbound::Problem problem = instance.view();
    Evaluation evaluation(problem);
    const std::vector<double> coef = {5e-17};
    evaluation.measure(coef.data());
    const double loss = evaluation.loss(0);
    const auto off = static_cast<double>(std::abs(exact_loss(instance, 0, coef) - loss));
    CHECK(off > 0.0);
    CHECK_AT_MOST(off, evaluation.doubt(0, loss));
}

// p = 1, rows 1 and 2 with labels +1, -1 and counts 1, 2 under squared loss: n L(b) = (1 - b)^2 + 2 (1 + 2 b)^2,
// weights 0 and 1. At b = 1: 18, and row 2 is wrong.
TEST(one_dimension_by_hand) {
    const Instance instance = two_rows();
    const cudbound::Problem problem = instance.view();
    Evaluation evaluation(problem);
    CHECK_EQUAL(evaluation.size(), 1);
    CHECK_NEAR(evaluation.anchor_loss(0), 18.0, 1e-13);
    CHECK_AT_MOST(evaluation.anchor_loss(0), 18.0);
    double score = -1.0;
    CHECK(evaluation.anchor_score(0, &score));
    CHECK_EQUAL(score, 1.0);
    const double zero = 0.0;
    evaluation.measure(&zero);
    CHECK_NEAR(evaluation.loss(0), 3.0, 1e-15);
    CHECK(!evaluation.score(0, &score));  // on the hyperplane of row 2, which has a weight
    const double minus = -1.0;
    evaluation.measure(&minus);
    CHECK(evaluation.score(0, &score));
    CHECK_EQUAL(score, 0.0);
    CHECK_NEAR(evaluation.anchor_loss(0), 18.0, 1e-13);  // whatever was measured since
}

// The loss, and that what rounding did to it is covered by the doubt, which is itself of the size of rounding. Large
// coefficients make large terms that cancel.
TEST(losses_and_their_doubts) {
    Random random(211);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(100); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            const Instance instance = random_problem(random, trial, loss);
            const cudbound::Problem problem = instance.view();
            Evaluation evaluation(problem);
            CHECK_EQUAL(evaluation.size(), instance.width());
            for (int draw = 0; draw < instance.draws; ++draw) {
                std::vector<double> coef(static_cast<std::size_t>(instance.width()));
                const double size = loss == Loss::EXPONENTIAL ? 1.0 : std::pow(10.0, integer(random, -2, 4));
                for (double& x : coef) x = size * normal(random);
                const long double exact = exact_loss(instance, draw, coef);
                evaluation.measure(coef.data());
                const double found = evaluation.loss(draw);
                const double doubt = evaluation.doubt(draw, found);
                CHECK_AT_MOST(static_cast<double>(std::abs(found - exact)), doubt);
                CHECK_AT_MOST(doubt, 1e-12 * (1.0 + size * size) * (1.0 + static_cast<double>(exact)));
            }
        }
    }
}

// The anchor's loss is never above the exact one, and next to it. What the anchor's penalty exceeds that of the matrix
// counts as well.
TEST(the_anchor) {
    Random random(212);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(60); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            Instance instance = random_problem(random, trial, loss);
            const bool raised = instance.raw.p == 0 && !instance.penalty.empty() && trial % 2 == 1;
            if (raised) instance.anchor_penalty += 0.25;
            const cudbound::Problem problem = instance.view();
            Evaluation evaluation(problem);
            for (int k = 0; k < instance.width(); ++k) CHECK_EQUAL(problem.callers_anchor()[k], anchor_of(instance)[k]);
            for (int draw = 0; draw < instance.draws; ++draw) {
                const auto exact = static_cast<double>(exact_loss(instance, draw, anchor_of(instance)) +
                                                       (raised ? 0.25L * instance.n : 0.0L));
                CHECK_AT_MOST(evaluation.anchor_loss(draw), exact);
                CHECK_NEAR(evaluation.anchor_loss(draw), exact, 1e-11 * (1.0 + exact));
                // rounding of its scores in the coordinates of the problem
                const double doubt = evaluation.anchor_doubt(draw);
                const double in_problem = instance.n * oracle::anchor_loss(problem, draw);
                CHECK(doubt >= 0.0);
                CHECK_AT_MOST(exact, in_problem + doubt + 1e-14 * (1.0 + exact));
                CHECK_AT_MOST(doubt, 1e-10 * (1.0 + exact));
            }
        }
    }
}

// Coefficients of the problem and the caller's for them give every row the same score.
TEST(coefficients_of_the_caller) {
    Random random(213);
    for (int trial = 0; trial < check::trials(100); ++trial) {
        check::set_context("trial", trial);
        const Instance instance = random_problem(random, trial, Loss::SQUARED);
        const cudbound::Problem problem = instance.view();
        Evaluation evaluation(problem);
        std::vector<double> beta(static_cast<std::size_t>(instance.p));
        for (double& x : beta) x = normal(random);
        std::vector<double> coef(static_cast<std::size_t>(instance.width()));
        evaluation.from_beta(beta.data(), coef.data());
        const double expected = instance.n * oracle::loss(problem, 0, beta.data());
        CHECK_NEAR(static_cast<double>(exact_loss(instance, 0, coef)), expected, 1e-12 * (1.0 + expected));
        for (int i = 0; i < instance.n; ++i) {
            double side = instance.offset.empty() ? 0.0 : instance.offset[i];
            for (int k = 0; k < instance.p; ++k) side += instance.design[i * instance.p + k] * beta[k];
            CHECK_NEAR(static_cast<double>(margin(instance, i, coef)), instance.labels[i] * side, 1e-12);
        }
    }
}

// Off all hyperplanes the score is that of the definition.
TEST(scores) {
    Random random(214);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        check::set_context("trial", trial);
        Instance instance = random_problem(random, trial, Loss::SQUARED);
        if (trial % 4 == 0) {
            for (int i = 0; i < instance.draws * instance.n; ++i) instance.weights.push_back(normal(random));
        }
        const cudbound::Problem problem = instance.view();
        Evaluation evaluation(problem);
        for (int draw = 0; draw < instance.draws; ++draw) {
            std::vector<double> coef(static_cast<std::size_t>(instance.width()));
            for (double& x : coef) x = normal(random);
            double score = 0.0;
            evaluation.measure(coef.data());
            CHECK(evaluation.score(draw, &score));
            CHECK_NEAR(score, exact_score(instance, draw, coef), 1e-14 * instance.n);
            if (evaluation.anchor_score(draw, &score)) {
                CHECK_NEAR(score, exact_score(instance, draw, anchor_of(instance)), 1e-14 * instance.n);
            }
        }
    }
}

// On a hyperplane, or so close to it that rounding could be all there is, there is no score, unless the row has no
// weight or is zero.
TEST(no_score_on_a_hyperplane) {
    Instance instance = by_hand({0.1, 0.3, 1.0, 1.0, 0.0, 0.0}, {1.0, 1.0, -1.0}, {1.0, 1.0}, {2, 1, 0}, 0.0);
    const double on_first[] = {3.0, -1.0};  // 3 * 0.1 - 0.3 is 5.6e-17 in exact arithmetic of the rounded numbers
    const double on_second[] = {1.0, -1.0};
    const double next_to_it[] = {1.0, -1.0 + 1e-12};
    double score = 0.0;
    const auto has_score = [&](const double* coef) {
        const cudbound::Problem problem = instance.view();
        Evaluation evaluation(problem);
        evaluation.measure(coef);
        return evaluation.score(0, &score);
    };
    CHECK(!has_score(on_first));
    // the second row has no weight here; the first is wrong, and so is the zero row: 1 - 1
    CHECK(has_score(on_second));
    CHECK_EQUAL(score, 0.0);
    instance.counts = {1, 2, 0};
    CHECK(has_score(on_first));
    CHECK_EQUAL(score, -1.0);
    CHECK(!has_score(on_second));
    CHECK(has_score(next_to_it));
    CHECK_EQUAL(score, -1.0);
}

// Closer to a hyperplane than 1.1e-14 times the lengths of row and coefficients there is no score, though nothing
// cancels: with lengths 2 and 5, at a side of 1.1e-13.
TEST(no_score_next_to_a_hyperplane) {
    const Instance instance = by_hand({2.0, 0.0, 0.0}, {1.0}, {1.0, 1.0, 1.0}, {2}, 0.0);
    const cudbound::Problem problem = instance.view();
    Evaluation evaluation(problem);
    for (const double sign : {1.0, -1.0}) {
        for (const double away : {0.99, 1.01}) {
            check::set_context("sign", sign, "away", away);
            const double coef[] = {sign * away * 0.55e-13, 3.0, -4.0};
            evaluation.measure(coef);
            double score = 0.0;
            CHECK_EQUAL(evaluation.score(0, &score), away > 1.0);
            if (away > 1.0) CHECK_EQUAL(score, sign > 0.0 ? 0.0 : 1.0);
        }
    }
}
