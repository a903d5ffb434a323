// Hinge loss on cones: against enumeration of the pieces of the loss, and by
// the conditions of optimality.
#include <atomic>

#include "hinge_cases.hpp"

namespace {

using namespace hinge_cases;

// The node's point lies in the cone, has the node's loss, and that is not above
// any of the candidates'.
void check_node(const Setting& setting, const Rows& normals, double least) {
    const Relaxation& relaxation = *setting.relaxation;
    const double size = 1.0 + least;
    CHECK_AT_MOST(setting.node->loss, least + 1e-12 * size);
    CHECK_NEAR(setting.node->loss, least, 1e-10 * size);
    CHECK_NEAR(loss_at(relaxation, setting.problem, setting.node->point), least, 1e-10 * size);
    const Vector beta = setting.beta();
    CHECK_NEAR(setting.problem.n * oracle::loss(setting.problem, 0, beta.data()), least, 1e-9 * size);
    CHECK(least_slack(normals, beta) >= -1e-8 * (1.0 + std::sqrt(oracle::dot(beta, beta))));
}

}  // namespace

// p = 1, rows 1 and 2 with labels +1, -1 and counts 1, 2, so that n L = max(0,
// 1 - b) + 2 max(0, 1 + 2 b): least at b = -1/2, with 3/2; on b >= 0 at 0,
// with 3. Anchor 1: n L = 6.
TEST(one_dimension_by_hand) {
    Setting setting(two_rows(Loss::HINGE));
    CHECK_NEAR(setting.beta()[0], -0.5, 1e-14);
    CHECK_NEAR(setting.node->loss, 1.5, 1e-14);
    CHECK_NEAR(setting.relaxation->anchor_loss, 6.0, 1e-13);
    CHECK_AT_MOST(6.0, setting.relaxation->anchor_loss);  // rounded upwards
    CHECK_NEAR(setting.relaxation->apex_loss, 3.0, 1e-14);
    CHECK(setting.relaxation->has_minimizer);
    Cone cone(setting);
    cone.add({1.0});
    CHECK(setting.relaxation->settle(*setting.node, cone.sides(), cone.forced, infinity) == Settled::yes);
    CHECK_NEAR(setting.beta()[0], 0.0, 1e-14);
    CHECK_NEAR(setting.node->loss, 3.0, 1e-13);
    CHECK(setting.node->loss >= setting.relaxation->apex_loss - setting.relaxation->apex_tolerance);
}

// A node of hinge loss can take a thousand proximal steps: it is left open as soon as the search has to end.
TEST(a_node_ends_with_its_search) {
    Setting setting(two_rows(Loss::HINGE));
    Cone cone(setting);
    cone.add({1.0});
    setting.stop = true;
    CHECK(setting.relaxation->settle(*setting.node, cone.sides(), cone.forced, infinity) == Settled::unresolved);
    CHECK(setting.budget.status() == cudbound::Status::INTERRUPTED);
}

// The same with the penalty b^2: n L has 2 b^2 more, of slope -2 at b = -1/2.
// The slope of n L is -1 - 2 before that kink and -1 + 4 - 2 after it, so it is
// still least there, with 3/2 + 2/4.
TEST(one_dimension_with_a_penalty_by_hand) {
    Instance instance = two_rows(Loss::HINGE);
    penalize({1.0}, &instance);
    const Setting setting(instance);
    CHECK_NEAR(setting.beta()[0], -0.5, 1e-14);
    CHECK_NEAR(setting.node->loss, 2.0, 1e-14);
    CHECK_NEAR(setting.relaxation->anchor_loss, 8.0, 1e-13);
    CHECK_AT_MOST(8.0, setting.relaxation->anchor_loss);
}

TEST(equal_to_enumeration) {
    Random random(171);
    int cones = 0;
    for (int trial = 0; trial < check::trials(264); ++trial) {
        const int p = 1 + trial % 3;
        const Instance instance = random_problem(random, trial, p == 3 ? 5 : 6, p);
        Setting setting(instance);
        check::set_context("trial", trial, "p", p);
        check_node(setting, {}, least_on_cone(setting.problem, {}));
        force_in_turn(random, setting, 3, [&](const Cone& cone) {
            check::set_context("trial", trial, "p", p, "forced", cone.forced.size());
            ++cones;
            check_node(setting, cone.normals, least_on_cone(setting.problem, cone.normals));
        });
    }
    CHECK_AT_MOST(check::share_of(400), cones);
}

// The conditions of optimality, at sizes that are out of reach of enumeration:
// the slopes of the rows below margin 1 and of the penalty are balanced by
// those at margin 1, each with a multiplier between 0 and its weight, and by
// the hyperplanes that the point lies on, with multipliers not below 0. Where
// the normals involved are independent the multipliers solve a linear system.
TEST(optimal_by_its_multipliers) {
    Random random(172);
    int checked = 0;
    int skipped = 0;
    for (int trial = 0; trial < check::trials(120); ++trial) {
        const int p = 2 + trial % 5;
        Instance instance =
            random_instance(random, 50, p, RowKind::general, trial % 2 == 0 ? LabelKind::clear : LabelKind::noise);
        instance.loss = Loss::HINGE;
        add_penalty(random, penalties[trial % 6], &instance);
        Setting setting(instance);
        const Problem& problem = setting.problem;
        const auto check_optimal = [&](const Rows& normals) {
            const Vector beta = setting.beta();
            const double close = 1e-8 * (1.0 + std::sqrt(oracle::dot(beta, beta)));
            Rows held;
            Vector most;
            Numbers slope(p, 0.0L);
            double value = 0.0;
            for (int a = 0; a < p; ++a) {
                for (int b = 0; b < p && problem.penalty != nullptr; ++b) {
                    slope[a] += 2.0L * problem.n * problem.penalty[a * p + b] * beta[b];
                }
                value += static_cast<double>(0.5L * slope[a]) * beta[a];
            }
            for (int i = 0; i < problem.n; ++i) {
                const double mass = problem.mass(0, i);
                Vector row = row_of(problem, i);
                for (double& x : row) x *= problem.labels[i];
                const double lack = 1.0 - oracle::dot(row, beta);
                if (mass == 0.0 || lack < -close) continue;
                value += mass * std::max(0.0, lack);
                if (lack > close) {
                    for (int a = 0; a < p; ++a) slope[a] -= mass * row[a];
                } else {
                    held.push_back(row);
                    most.push_back(mass);
                }
            }
            for (const Vector& normal : normals) {
                const double side = oracle::dot(normal, beta);
                CHECK(side >= -close);
                if (side > close) continue;
                held.push_back(normal);
                most.push_back(infinity);
            }
            CHECK_NEAR(setting.node->loss, value, 1e-9 * (1.0 + value));
            const std::size_t count = held.size();
            Matrix gram(count, Numbers(count, 0.0L));
            Numbers right(count, 0.0L);
            for (std::size_t s = 0; s < count; ++s) {
                for (std::size_t t = 0; t < count; ++t) gram[s][t] = oracle::dot(held[s], held[t]);
                for (int a = 0; a < p; ++a) right[s] += slope[a] * held[s][a];
            }
            Numbers multipliers;
            if (!oracle::solve_linear(gram, right, &multipliers)) {
                ++skipped;
                return;
            }
            ++checked;
            double scale = 1.0;
            for (int a = 0; a < p; ++a) scale += std::abs(static_cast<double>(slope[a]));
            for (std::size_t s = 0; s < count; ++s) {
                CHECK(multipliers[s] >= -1e-8L * scale);
                CHECK(multipliers[s] <= most[s] + 1e-8L * scale);
                for (int a = 0; a < p; ++a) slope[a] -= multipliers[s] * held[s][a];
            }
            for (int a = 0; a < p; ++a) CHECK_NEAR(static_cast<double>(slope[a]), 0.0, 1e-8 * scale);
        };
        check::set_context("trial", trial, "p", p);
        check_optimal({});
        force_in_turn(random, setting, 8, [&](const Cone& cone) {
            check::set_context("trial", trial, "p", p, "forced", cone.forced.size());
            check_optimal(cone.normals);
        });
    }
    check::set_context("checked", checked, "skipped", skipped);
    CHECK_AT_MOST(check::share_of(300), checked);
}

// A node that was led through a sequence of cones has the loss of one that is
// settled at once, whatever came last.
TEST(continued_nodes_equal_new_ones) {
    Random random(173);
    int compared = 0;
    for (int trial = 0; trial < check::trials(150); ++trial) {
        const int p = 2 + trial % 4;
        const Instance instance = random_problem(random, trial, 30, p);
        Setting setting(instance);
        force_in_turn(random, setting, 8, [&](const Cone& cone) {
            check::set_context("trial", trial, "p", p, "forced", cone.forced.size());
            const Setting fresh(instance);
            std::vector<int> reversed(cone.forced.rbegin(), cone.forced.rend());
            // the last member must be violated
            for (std::size_t k = 0; k < reversed.size(); ++k) {
                std::rotate(reversed.begin(), reversed.begin() + 1, reversed.end());
                if (cone.sides().side(reversed.back(), fresh.node->point.data()) < -fresh.tie()) break;
            }
            if (cone.sides().side(reversed.back(), fresh.node->point.data()) >= -fresh.tie()) return;
            ++compared;
            CHECK(fresh.relaxation->settle(*fresh.node, cone.sides(), reversed, infinity) == Settled::yes);
            CHECK_NEAR(fresh.node->loss, setting.node->loss, 1e-10 * (1.0 + setting.node->loss));
        });
    }
    CHECK_AT_MOST(check::share_of(200), compared);
}

// too_far exactly if the least loss is above the limit; a copy leaves the
// original as it is.
TEST(limits_and_copies) {
    Random random(174);
    int stopped = 0;
    for (int trial = 0; trial < check::trials(120); ++trial) {
        const int p = 1 + trial % 5;
        const Instance instance = random_problem(random, trial, 40, p);
        Setting setting(instance);
        Relaxation& relaxation = *setting.relaxation;
        const auto child = relaxation.make_node();
        for (int tries = 0; tries < 10; ++tries) {
            check::set_context("trial", trial, "p", p, "try", tries);
            Vector normal = some_normal(random, setting);
            Cone cone(setting);
            cone.add(normal);
            if (cone.last_side(setting.node->point) > 0.0) {
                for (double& x : normal) x = -x;
                cone = Cone(setting);
                cone.add(normal);
            }
            if (cone.last_side(setting.node->point) > -setting.tie()) continue;
            const Vector before = setting.node->point;
            relaxation.copy(*setting.node, *child);
            CHECK(relaxation.settle(*child, cone.sides(), cone.forced, infinity) == Settled::yes);
            const double least = child->loss;
            const double rise = least - setting.node->loss;
            CHECK(rise >= -1e-12 * (1.0 + least));
            CHECK(setting.node->point == before);
            relaxation.copy(*setting.node, *child);
            CHECK(relaxation.settle(*child, cone.sides(), cone.forced, least + 1e-9 * (1.0 + least)) == Settled::yes);
            CHECK_NEAR(child->loss, least, 1e-11 * (1.0 + least));
            if (rise < 1e-6) continue;
            for (const double share : {0.0, 0.5, 0.999}) {
                ++stopped;
                relaxation.copy(*setting.node, *child);
                const double limit = setting.node->loss + share * rise;
                CHECK(relaxation.settle(*child, cone.sides(), cone.forced, limit) == Settled::too_far);
            }
        }
    }
    CHECK_AT_MOST(check::share_of(500), stopped);
}

// A cone in which beta = 0 is best: with the two classes' rows turned against
// the labels, no direction helps.
TEST(nodes_at_the_apex_count_as_such) {
    Random random(175);
    int found = 0;
    for (int trial = 0; trial < check::trials(120); ++trial) {
        const int p = 1 + trial % 5;
        Instance instance = random_problem(random, trial, 40, p);
        instance.offset.clear();
        Setting setting(instance);
        Relaxation& relaxation = *setting.relaxation;
        // n L falls along no direction of the half-space -slope'beta <= 0 of its
        // slope at 0, where all margins are 0
        Vector slope(p, 0.0);
        for (int i = 0; i < instance.n; ++i) {
            for (int a = 0; a < p; ++a) {
                slope[a] -= setting.problem.mass(0, i) * instance.labels[i] * row_of(setting.problem, i)[a];
            }
        }
        const double length = std::sqrt(oracle::dot(slope, slope));
        if (length < 1e-6) continue;
        for (double& x : slope) x /= length;
        Cone cone(setting);
        cone.add(slope);
        if (cone.last_side(setting.node->point) > -setting.tie()) continue;
        check::set_context("trial", trial, "p", p);
        ++found;
        CHECK(relaxation.settle(*setting.node, cone.sides(), cone.forced, infinity) == Settled::yes);
        CHECK(setting.node->loss >= relaxation.apex_loss - relaxation.apex_tolerance);
        CHECK_AT_MOST(setting.node->loss, relaxation.apex_loss + 1e-12 * (1.0 + relaxation.apex_loss));
    }
    CHECK_AT_MOST(check::share_of(80), found);
}

// With a penalty on every coefficient the curvature is 1: coordinates are
// lengths in the metric of the penalty. Without any there is none, and with a
// free intercept only for hyperplanes that do not depend on it.
TEST(curvature) {
    Random random(176);
    for (const Penalty kind : {Penalty::full, Penalty::huge, Penalty::none, Penalty::free_intercept}) {
        check::set_context("penalty", static_cast<int>(kind));
        Instance instance = random_instance(random, 30, 3, RowKind::general, LabelKind::clear);
        instance.loss = Loss::HINGE;
        add_penalty(random, kind, &instance);
        Setting setting(instance);
        Vector unit(3);
        double offset = 0.0;
        const bool curved = kind == Penalty::full || kind == Penalty::huge;
        const auto curvature = [&](const Vector& normal) { return setting.transform(normal, unit.data(), &offset); };
        CHECK_NEAR(curvature({0.6, 0.0, 0.8}), curved ? 1.0 : 0.0, 1e-14);
        CHECK_NEAR(curvature({0.0, 0.6, 0.8}), kind == Penalty::none ? 0.0 : 1.0, 1e-14);
    }
}

// Nothing drawn, or rows that are all zero: the loss is a constant but for the penalty.
TEST(nothing_to_fit) {
    Random random(178);
    for (const Penalty kind : {Penalty::none, Penalty::full, Penalty::free_intercept}) {
        for (const bool zero_rows : {false, true}) {
            check::set_context("penalty", static_cast<int>(kind), "zero rows", zero_rows);
            Instance instance = random_instance(random, 10, 2, RowKind::general, LabelKind::clear);
            instance.loss = Loss::HINGE;
            if (zero_rows) {
                std::fill(instance.design.begin(), instance.design.end(), 0.0);
            } else {
                std::fill(instance.counts.begin(), instance.counts.end(), 0);
            }
            add_penalty(random, kind, &instance);
            const Setting setting(instance);
            CHECK_NEAR(setting.node->loss, zero_rows ? 10.0 : 0.0, 1e-12);
            CHECK_NEAR(setting.relaxation->apex_loss, zero_rows ? 10.0 : 0.0, 1e-12);
            CHECK(setting.relaxation->extent > 0.0);
        }
    }
}

// Q against all cells, each minimized by enumeration.
TEST(whole_search_equal_to_enumeration) {
    Random random(177);
    for (int trial = 0; trial < check::trials(80); ++trial) {
        const int p = 1 + trial % 3;
        Instance instance = random_problem(random, trial, p == 3 ? 5 : 6, p);
        const double rates[] = {0.3, 1.0, static_cast<double>(instance.n), 100.0};
        instance.alpha = rates[(trial / 3) % 4];
        const Problem problem = instance.view();
        check::set_context("trial", trial, "p", p, "alpha", instance.alpha);
        Rows rows;
        for (int i = 0; i < instance.n; ++i) rows.push_back(row_of(problem, i));
        double best = 0.0;
        for (const Vector& inside : oracle::cells(rows, p)) {
            Rows turned;
            for (const Vector& row : rows) {
                if (oracle::dot(row, row) == 0.0) continue;
                const double turn = oracle::dot(row, inside) > 0.0 ? 1.0 : -1.0;
                Vector normal = row;
                for (double& x : normal) x *= turn;
                turned.push_back(normal);
            }
            const double excess = least_on_cone(problem, turned) / instance.n - oracle::anchor_loss(problem, 0);
            best =
                std::max(best, std::abs(oracle::score(problem, 0, inside.data())) * oracle::g(instance.alpha, excess));
        }
        const Answer answer = solve(instance);
        CHECK(answer.status[0] == cudbound::Status::OPTIMAL);
        CHECK_NEAR(answer.lower[0], best, 1e-8);
        CHECK_NEAR(answer.upper[0], best, 1e-8);
    }
}
