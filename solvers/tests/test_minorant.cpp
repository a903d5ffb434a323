// The quadratic below a loss: it is below it where g > 0, and what its tree proves holds for the loss.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "check.hpp"
#include "instances.hpp"
#include "losses/quadratics.hpp"
#include "losses/relaxation.hpp"
#include "oracles.hpp"
#include "placed.hpp"
#include "search/draw_solver.hpp"

namespace {

using cudbound::Loss;
using cudbound::Status;

constexpr Loss losses[] = {Loss::LOGISTIC, Loss::SQUARED_HINGE, Loss::HUBER};

Instance random_problem(Random& random, int trial, Loss loss) {
    const int p = 1 + trial % 5;
    const RowKind rows[] = {RowKind::general, RowKind::homogeneous, RowKind::integers, RowKind::repeated};
    const int n = integer(random, 8, 26);
    Instance instance =
        random_instance(random, n, p, rows[trial / 2 % 4], trial % 2 == 0 ? LabelKind::clear : LabelKind::noise);
    instance.loss = loss;
    const double strengths[] = {1e-3, 0.02, 0.3};
    penalize(std::vector<double>(static_cast<std::size_t>(p), strengths[trial % 3]), &instance);
    if (trial % 3 == 0) {
        for (int i = 0; i < n; ++i) instance.weights.push_back(normal(random) / n);
    }
    if (trial % 5 == 1) {
        for (int i = 0; i < n; ++i) instance.offset.push_back(normal(random));
    }
    if (trial % 7 == 2) {
        for (int i = 0; i < n; ++i) instance.sample_weight.push_back(std::exp(2.0 * normal(random)));
    }
    if (loss == Loss::LOGISTIC && trial % 4 == 3) {
        const double strength = std::pow(10.0, -0.5 * integer(random, 1, 6));
        for (int k = 0; k < p; ++k) {
            instance.l1.push_back(k == 0 ? 0.0 : strength * integer(random, 0, 2));
            if (integer(random, 0, 2) == 0) instance.anchor[k] = 0.0;
        }
    }
    const double rates[] = {3.0, static_cast<double>(n), 484.0};
    instance.alpha = rates[integer(random, 0, 2)];
    return instance;
}

// The parabola of `least_ratio` lies below the loss, and touches it at t or at an end, but for rounding: ends on either
// side of 0 and on the same.
template <Loss loss>
void check_least_ratio(std::uint64_t seed) {
    Random random(seed);
    for (int trial = 0; trial < check::trials(3000); ++trial) {
        const double t = 3.0 * normal(random);
        const double wide = trial % 3 == 0 ? 0.1 : 4.0;
        const double low = t - wide * std::abs(normal(random));
        const double high = t + wide * std::abs(normal(random));
        check::set_context("loss", static_cast<int>(loss), "t", t, "low", low, "high", high);
        const double found = cudbound::least_ratio<loss>(t, cudbound::loss_at<loss>(t), low, high);
        const oracle::Surrogate at = oracle::surrogate(loss, t);
        long double least = at.bend;
        for (int k = 0; k <= 40; ++k) {
            const long double end = k == 40 ? high : low + (high - low) * k / 40.0L;
            const long double step = end - t;
            if (std::abs(step) < 1e-4L) continue;
            const long double above = oracle::surrogate(loss, end).value - at.value - at.slope * step;
            least = std::min(least, 2.0L * above / (step * step));
        }
        CHECK_AT_MOST(found, static_cast<double>(least));
        if (loss == Loss::LOGISTIC) CHECK_AT_MOST(0.98 * static_cast<double>(least) - 1e-9, found);
    }
}

}  // namespace

TEST(least_ratios) {
    check_least_ratio<Loss::LOGISTIC>(61);
    check_least_ratio<Loss::SQUARED_HINGE>(62);
    check_least_ratio<Loss::HUBER>(63);
}

TEST(it_lies_below_the_loss) {
    Random random(1);
    for (const Loss loss : losses) {
        int within = 0;
        for (int trial = 0; trial < 150; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            cudbound::KeptDraws kept(1);
            const auto relaxation = cudbound::make_minorant(problem, arrangement, kept, unlimited_budget());
            relaxation->set(0);
            if (!relaxation->found) continue;
            const auto p = static_cast<std::size_t>(instance.p);
            const auto total = [&](const std::vector<double>& beta) {
                return static_cast<double>(instance.n) * oracle::loss(problem, 0, beta.data());
            };
            const double horizon = total(instance.anchor) + instance.n / instance.alpha;
            std::vector<double> beta(p);
            std::vector<double> v(p);
            for (int k = 0; k < 60; ++k) {
                // from the quadratic's minimizer outwards, as far as g > 0
                std::fill(v.begin(), v.end(), 0.0);
                relaxation->to_beta(v.data(), beta.data());
                std::vector<double> step(p);
                for (double& x : step) x = normal(random);
                double size = std::exp(2.0 * normal(random));
                auto trial_point = beta;
                for (int halvings = 0; halvings < 20; ++halvings, size *= 0.5) {
                    for (std::size_t l = 0; l < p; ++l) trial_point[l] = beta[l] + size * step[l];
                    if (total(trial_point) <= horizon) break;
                }
                const double exact = total(trial_point);
                if (exact > horizon) continue;
                ++within;
                v = from_beta(*relaxation, trial_point);
                double kinked = 0.0;
                for (std::size_t l = 0; l < instance.l1.size(); ++l)
                    kinked += instance.n * instance.l1[l] * std::abs(trial_point[l]);
                CHECK_AT_MOST(oracle::dot(v, v) + kinked + kept[0].quadratic->least, exact + 1e-9 * (1.0 + exact));
            }
        }
        CHECK_AT_MOST(3000, within);
    }
}

TEST(what_it_proves_holds) {
    Random random(2);
    std::atomic<bool> stop{false};
    for (const Loss loss : losses) {
        int decided = 0;
        int bounded = 0;
        int found = 0;
        int solved = 0;
        for (int trial = 0; trial < 240; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const auto problem = instance.view();
            const Answer exact = solve(instance);
            if (exact.status[0] != Status::OPTIMAL) continue;
            const auto arrangement = cudbound::merge_rows(problem);
            cudbound::KeptDraws kept(1);
            cudbound::DrawSolver solver(problem, arrangement, stop, {}, cudbound::Budget::Clock::now(), kept);
            const double q = exact.lower[0];
            const double raised = 1e-9 * (1.0 + instance.alpha);  // by what may have been lost of the loss
            std::vector<double> witness(static_cast<std::size_t>(instance.p));
            const auto dived = solver.dive(0, cudbound::Side::BOTH, 30, true, witness.data());
            CHECK_AT_MOST(dived.lower, q + raised);
            found += dived.lower > 0.9 * q;
            ++solved;
            for (const double floor : {0.0, 0.5 * q, 0.9 * q, q * (1.0 + 1e-9), 1.1 * q, 1.5 * q}) {
                const std::int64_t nodes = integer(random, 0, 2) == 0 ? integer(random, 1, 40) : 100000;
                const auto outcome = solver.bound(0, cudbound::Side::BOTH, {floor, floor, nodes});
                CHECK_AT_MOST(q, outcome.upper + raised);
                CHECK_EQUAL(outcome.status() == Status::DECIDED, outcome.upper <= floor);
                if (floor < q - raised) CHECK(outcome.status() != Status::DECIDED);
                bounded += floor > q;
                decided += floor > q && outcome.status() == Status::DECIDED;
            }
        }
        // it is worth having: most floors above Q are proved, and dives down the model find most of Q
        CHECK_AT_MOST(bounded, 2 * decided);
        CHECK_AT_MOST(solved, 2 * found);
    }
}

// On the border of where g = 1 in the model, the loss is about what the model says, although under losses that consist
// of pieces rows have other curvatures there than at the minimizer.
TEST(the_model_is_about_the_loss_where_dives_lead) {
    Random random(3);
    for (const Loss loss : {Loss::SQUARED_HINGE, Loss::HUBER}) {
        double in_model = 0.0;
        double in_loss = 0.0;
        for (int trial = 0; trial < 240; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            const auto of_loss = cudbound::make_relaxation(problem, arrangement, unlimited_budget());
            of_loss->set(0);
            const auto model = cudbound::make_model(problem, arrangement, *of_loss, unlimited_budget());
            model->set(0);
            if (!model->found || !(model->anchor_loss > 0.0)) continue;
            const auto node = model->make_node();
            for (double& x : node->point) x = normal(random);
            double squares = 0.0;
            for (const double x : node->point) squares += x * x;
            for (double& x : node->point) x *= std::sqrt(model->anchor_loss / squares);
            in_model += 1.0;
            in_loss += model->loss_at_point(*node) / model->anchor_loss;
        }
        // with the curvatures at the minimizer it is about three times as much
        CHECK_AT_MOST(in_loss, 2.0 * in_model);
        CHECK_AT_MOST(in_model, 2.0 * in_loss);
    }
}

TEST(a_model_taken_anew_touches_the_loss_there) {
    Random random(4);
    int touched = 0;
    for (const Loss loss : losses) {
        for (int trial = 0; trial < 60; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            if (!instance.l1.empty()) continue;  // its tree has that penalty, the quadratic has not
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            const auto of_loss = cudbound::make_relaxation(problem, arrangement, unlimited_budget());
            of_loss->set(0);
            const auto model = cudbound::make_model(problem, arrangement, *of_loss, unlimited_budget());
            model->set(0);
            if (!model->found) continue;
            std::vector<double> beta(instance.anchor);
            for (double& x : beta) x += 0.1 * normal(random);
            model->take_at(beta.data());
            if (!model->found) continue;
            model->take_at(instance.anchor.data());
            if (!model->found) continue;
            const auto node = model->make_node();
            node->point = model->anchor;
            double squares = 0.0;
            for (const double x : node->point) squares += x * x;
            CHECK_NEAR(squares, model->loss_at_point(*node), 1e-6 * (1.0 + model->apex_loss + std::abs(squares)));
            ++touched;
        }
    }
    CHECK(touched > 60);
}

TEST(paths_at_random_find_no_more_than_there_is_and_most_of_it) {
    Random random(5);
    const std::atomic<bool> stop{false};
    double exact = 0.0;
    double one_path = 0.0;
    double many_paths = 0.0;
    for (const Loss loss : losses) {
        for (int trial = 0; trial < 40; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            cudbound::KeptDraws kept(1);
            cudbound::DrawSolver solver(problem, arrangement, stop, {}, cudbound::Budget::Clock::now(), kept);
            std::vector<double> witness(static_cast<std::size_t>(instance.width()));
            cudbound::Target target;
            const auto searched = solver.search(0, cudbound::Side::POSITIVE, target, witness.data());
            target.nodes = 96;
            target.with_model = true;
            const auto once = solver.run(cudbound::Kind::dive, 0, cudbound::Side::POSITIVE, target, witness.data());
            target.round = 1;
            const auto often = solver.run(cudbound::Kind::dive, 0, cudbound::Side::POSITIVE, target, witness.data());
            const auto again = solver.run(cudbound::Kind::dive, 0, cudbound::Side::POSITIVE, target, witness.data());
            CHECK_AT_MOST(often.lower, searched.upper + 1e-9 * (1.0 + instance.alpha));
            CHECK(often.lower == again.lower && often.nodes == again.nodes);
            exact += searched.lower;
            one_path += once.lower;
            many_paths += often.lower;
        }
    }
    // a path alone leaves about twice as much
    CHECK_AT_MOST(exact - many_paths, 0.67 * (exact - one_path));
}
