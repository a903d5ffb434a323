// Minimizers of smooth losses on cones: against Newton's method in long double on every intersection of the
// hyperplanes, and, where the minimizer is not a single one, by their optimality conditions.
#include "smooth_cases.hpp"

namespace {

using namespace smooth_cases;

}  // namespace

// p = 1, row 1 drawn a times with label +1 and b times with -1, logistic loss: the minimum is at log(a / b), with
// loss a log(1 + b / a) + b log(1 + a / b).
TEST(logistic_in_one_dimension_by_hand) {
    Instance instance = by_hand({1.0, 1.0}, {1.0, -1.0}, {0.0}, {3, 1}, 2.0, Loss::LOGISTIC);
    Setting setting(instance);
    CHECK_NEAR(setting.node->point[0], std::log(3.0), 1e-12);
    CHECK_NEAR(setting.node->loss, 3.0 * std::log(4.0 / 3.0) + std::log(4.0), 1e-9);
    CHECK_NEAR(setting.relaxation->apex_loss, 4.0 * std::log(2.0), 1e-14);
    CHECK(setting.relaxation->has_minimizer);
    // beyond beta = 0 the least loss is that at 0
    CHECK(setting.settle({{-1.0}}, infinity) == Settled::yes);
    CHECK_NEAR(setting.node->point[0], 0.0, 1e-12);
    CHECK_NEAR(setting.node->loss, 4.0 * std::log(2.0), 1e-9);
    // exponential loss: 3 e^-b + e^b is least at log(3) / 2, with 2 sqrt(3)
    instance.loss = Loss::EXPONENTIAL;
    const Setting exponential(instance);
    CHECK_NEAR(exponential.node->point[0], 0.5 * std::log(3.0), 1e-12);
    CHECK_NEAR(exponential.node->loss, 2.0 * std::sqrt(3.0), 1e-9);
    // squared hinge: 3 (1 - b)^2 + (1 + b)^2 is least at 1/2, with 3; so is Huber's
    for (const Loss loss : {Loss::SQUARED_HINGE, Loss::HUBER}) {
        instance.loss = loss;
        const Setting pieces(instance);
        CHECK_NEAR(pieces.node->point[0], 0.5, 1e-12);
        CHECK_NEAR(pieces.node->loss, 3.0, 1e-9);
    }
}

TEST(cones_equal_newton_on_every_intersection) {
    Random random(141);
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(250); ++trial) {
            const int p = 1 + trial % 3;
            check::set_context("loss", static_cast<int>(loss), "trial", trial, "p", p);
            const Instance instance =
                random_problem(random, loss, p, p + 6, trial % 2 == 0 ? RowKind::general : RowKind::integers,
                               trial % 5 < 3 ? LabelKind::noise : LabelKind::clear, Dress::penalty);
            Setting setting(instance);
            CHECK(setting.relaxation->has_minimizer);
            for (int size = 0; size <= 6; ++size) {
                const Rows normals = random_cone(random, setting, size);
                const oracle::Minimum least = oracle::least_on_cone(setting.problem, 0, normals);
                const double expected = instance.n * least.loss;
                CHECK(setting.settle(normals, infinity) == Settled::yes);
                CHECK_NEAR(setting.node->loss, expected, 1e-9 * (1.0 + expected));
                CHECK_AT_MOST(setting.node->loss, expected + 1e-12 * (1.0 + expected));
                double length = 1.0;
                for (const double x : least.point) length += std::abs(x);
                for (int k = 0; k < p; ++k) CHECK_NEAR(setting.node->point[k], least.point[k], 1e-4 * length);
                check_node(random, setting, normals, 1e-9, exact_bound);
                check_optimality(setting, normals, 1e-5 * (1.0 + expected));
            }
        }
    }
}

// A node is given up as too far only if the loss on its cone exceeds the limit, and always if it clearly does.
TEST(too_far_means_beyond_the_limit) {
    Random random(142);
    int far = 0;
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(250); ++trial) {
            const int p = 1 + trial % 3;
            const Instance instance =
                random_problem(random, loss, p, p + 6, RowKind::general, LabelKind::noise, Dress::penalty);
            Setting setting(instance);
            const Rows normals = random_cone(random, setting, 1 + trial % 4);
            const double expected = instance.n * oracle::least_on_cone(setting.problem, 0, normals).loss;
            for (const double margin : {1e-8, 1e-5, 1e-2, 1.0}) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "margin", margin);
                CHECK(setting.settle(normals, expected + margin * (1.0 + expected)) == Settled::yes);
                const Settled settled = setting.settle(normals, expected - margin * (1.0 + expected));
                const bool unconstrained = oracle::least_on_cone(setting.problem, 0, {}).loss * instance.n >
                                           expected - 1e-12 * (1.0 + expected);
                if (unconstrained) continue;  // no hyperplane was violated
                CHECK(settled == Settled::too_far);
                ++far;
            }
        }
    }
    CHECK(far > check::trials(1000));
}

// No penalty, or one that leaves the intercept free, weights of the rows (some of them zero) and offsets: the minimizer
// may not be a single one, or may not exist.
TEST(optimality_without_strict_convexity) {
    Random random(143);
    RandomCones cones;
    for (const Dress dress : {Dress::plain, Dress::free_intercept, Dress::weights, Dress::offset}) {
        for (const Loss loss : smooth_losses) {
            for (int trial = 0; trial < check::trials(150); ++trial) {
                const int p = 2 + trial % 3;
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "dress", static_cast<int>(dress));
                const RowKind kinds[] = {RowKind::general, RowKind::homogeneous, RowKind::integers, RowKind::repeated};
                const Instance instance = random_problem(random, loss, p, p + 10, kinds[trial % 4],
                                                         trial % 5 < 3 ? LabelKind::noise : LabelKind::clear, dress);
                Setting setting(instance);
                check_node(random, setting, {}, cudbound::Settings::newton_stall, singular_bound);
                check_optimality(setting, {}, 1e-4 * (1.0 + setting.relaxation->apex_loss));
                cones.check(random, setting, 3);
            }
        }
    }
    cones.check_resolved();
}

// Fewer drawn rows than coefficients: the loss is flat along a subspace. Whatever their labels, all rows can be
// given any margin, so that a vanishing loss has no minimizer and the others have the minimum 0.
TEST(fewer_drawn_rows_than_coefficients) {
    Random random(144);
    RandomCones cones;
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(150); ++trial) {
            const int p = 2 + trial % 4;
            check::set_context("loss", static_cast<int>(loss), "trial", trial, "p", p);
            Instance instance = random_instance(random, p + 6, p, RowKind::general, LabelKind::noise);
            instance.loss = loss;
            instance.counts.assign(instance.n, 0);
            for (int k = 0; k < instance.n; ++k) ++instance.counts[integer(random, 0, p - 2)];
            Setting setting(instance);
            CHECK_EQUAL(setting.relaxation->has_minimizer, !vanishes(loss));
            CHECK_AT_MOST(0.0, setting.node->loss);
            CHECK_AT_MOST(setting.exact(setting.node->point), 1e-7);
            check_node(random, setting, {}, cudbound::Settings::newton_stall, singular_bound);
            cones.check(random, setting, 4);
        }
    }
    cones.check_resolved();
}

// Labels that a linear rule predicts without error: the infimum of a vanishing loss is 0, and not attained; a penalty
// changes that.
TEST(separable_draws) {
    Random random(145);
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(100); ++trial) {
            const int p = 1 + trial % 4;
            check::set_context("loss", static_cast<int>(loss), "trial", trial, "p", p);
            Instance instance = random_instance(random, p + 8, p, RowKind::homogeneous, LabelKind::noise);
            Vector rule(p);
            for (double& x : rule) x = normal(random);
            for (int i = 0; i < instance.n; ++i) {
                const Vector row(instance.design.begin() + i * p, instance.design.begin() + (i + 1) * p);
                instance.labels[i] = oracle::dot(row, rule) > 0.0 ? 1.0 : -1.0;
            }
            instance.loss = loss;
            {
                const Setting setting(instance);
                CHECK_EQUAL(setting.relaxation->has_minimizer, !vanishes(loss));
                CHECK_AT_MOST(0.0, setting.node->loss);
                CHECK_AT_MOST(setting.node->loss, 1e-8);
                CHECK_AT_MOST(setting.exact(setting.node->point), 1e-7);
            }
            penalize(Vector(p, 0.01), &instance);
            const Setting penalized(instance);
            CHECK(penalized.relaxation->has_minimizer);
            CHECK_NEAR(penalized.node->loss, instance.n * oracle::least_on_cone(penalized.problem, 0, {}).loss, 1e-8);
        }
    }
}

// One class and an intercept: separable, in the plainest way.
TEST(a_single_class) {
    Random random(146);
    for (const Loss loss : smooth_losses) {
        for (const double label : {-1.0, 1.0}) {
            for (const int p : {1, 2, 4}) {
                check::set_context("loss", static_cast<int>(loss), "label", label, "p", p);
                Instance instance = random_instance(random, p + 8, p, RowKind::general, LabelKind::noise);
                instance.labels.assign(instance.n, label);
                instance.loss = loss;
                const Setting setting(instance);
                CHECK_EQUAL(setting.relaxation->has_minimizer, !vanishes(loss));
                CHECK_AT_MOST(setting.exact(setting.node->point), 1e-7);
                CHECK_AT_MOST(0.0, setting.node->loss);
            }
        }
    }
}

// Every row with both labels: beta = 0 is the only minimizer if the rows span the space, and the hyperplanes of any
// cone pass through it.
TEST(opposite_labels_on_every_row) {
    Random random(147);
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(60); ++trial) {
            const int p = 1 + trial % 4;
            check::set_context("loss", static_cast<int>(loss), "trial", trial, "p", p);
            Instance instance = random_instance(random, p + 4, p, RowKind::homogeneous, LabelKind::noise);
            const int n = instance.n;
            instance.design.insert(instance.design.end(), instance.design.begin(), instance.design.begin() + n * p);
            for (int i = 0; i < n; ++i) instance.labels.push_back(-instance.labels[i]);
            instance.n = 2 * n;
            instance.counts.assign(instance.n, 2);
            instance.loss = loss;
            Setting setting(instance);
            CHECK(setting.relaxation->has_minimizer);
            const double expected = 4.0 * n * cudbound::loss_at(loss, 0.0).value;
            CHECK_NEAR(setting.node->loss, expected, 1e-9 * (1.0 + expected));
            for (int k = 0; k < p; ++k) CHECK_NEAR(setting.node->point[k], 0.0, 1e-4);
            const Rows normals = random_cone(random, setting, 3);
            CHECK(setting.settle(normals, infinity) == Settled::yes);
            CHECK_NEAR(setting.node->loss, expected, 1e-9 * (1.0 + expected));
        }
    }
}

// Huber's loss with all margins below -1: rows 1 with labels +1 and -1 and offsets -5 and 5 have margins b - 5 and
// -b - 5. Its value is 4 (5 - b) + 4 (5 + b) = 40 for any |b| <= 4, without curvature.
TEST(huber_in_its_linear_piece) {
    Instance instance = by_hand({1.0, 1.0}, {1.0, -1.0}, {1.0}, {1, 1}, 2.0, Loss::HUBER);
    instance.offset = {-5.0, 5.0};
    Setting setting(instance);
    CHECK_NEAR(setting.relaxation->anchor_loss, 40.0, 1e-13);
    CHECK_NEAR(setting.node->loss, 40.0, 1e-8);
    CHECK_AT_MOST(setting.node->loss, 40.0 + 1e-12);
    CHECK_NEAR(setting.exact(setting.node->point), 40.0, 1e-8);
    CHECK(setting.relaxation->has_minimizer);
    for (const double side : {-1.0, 1.0}) {
        CHECK(setting.settle({{side}}, infinity) == Settled::yes);
        CHECK_NEAR(setting.node->loss, 40.0, 1e-8);
    }
    // three rows to one: 12 (5 - b) + 4 (5 + b) falls until the first kink, at b = 4; there 3 (6 - b)^2 + 4 (5 + b) has
    // its minimum at b = 6 - 2/3, with 4/3 + 136/3 - 4 = 128/3
    instance.counts = {3, 1};
    const Setting uneven(instance);
    CHECK_NEAR(uneven.node->point[0], 6.0 - 2.0 / 3.0, 1e-10);
    CHECK_NEAR(uneven.node->loss, 4.0 / 3.0 + 4.0 * (11.0 - 2.0 / 3.0), 1e-8);
}

// Zero rows have a constant loss, offset included; so have all rows if no others are drawn.
TEST(zero_rows_are_a_constant) {
    for (const Loss loss : smooth_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Instance instance = by_hand({0.0, 1.0, 1.0}, {-1.0, 1.0, -1.0}, {0.5}, {2, 0, 0}, 3.0, loss);
        instance.offset = {0.5, 0.0, 0.0};
        const double constant = 2.0 * cudbound::loss_at(loss, -0.5).value;
        const Setting alone(instance);
        CHECK_NEAR(alone.node->loss, constant, 1e-9);
        CHECK_NEAR(alone.relaxation->anchor_loss, constant, 1e-14);
        CHECK_NEAR(alone.relaxation->apex_loss, constant, 1e-14);
        CHECK(alone.relaxation->has_minimizer);
        instance.counts = {2, 1, 1};
        const Setting together(instance);
        CHECK_NEAR(together.node->point[0], 0.0, 1e-9);
        CHECK_NEAR(together.node->loss, constant + 2.0 * cudbound::loss_at(loss, 0.0).value, 1e-9);
    }
}

// Rows of weight zero do not enter, wherever they are.
TEST(rows_without_weight) {
    Random random(148);
    for (const Loss loss : smooth_losses) {
        for (int trial = 0; trial < check::trials(40); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            Instance instance = random_instance(random, 12, 2, RowKind::general, LabelKind::noise);
            instance.loss = loss;
            penalize({0.1, 0.1}, &instance);
            Instance fewer = instance;
            instance.sample_weight.assign(instance.n, 1.0);
            for (int i = 0; i < instance.n; i += 3) {
                instance.sample_weight[i] = 0.0;
                fewer.counts[i] = 0;
                // far out, where the exponential loss overflows
                for (int k = 0; k < 2; ++k) instance.design[i * 2 + k] *= 1e4;
            }
            const Setting weighted(instance);
            const Setting left_out(fewer);
            CHECK_EQUAL(weighted.node->loss, left_out.node->loss);
            for (int k = 0; k < 2; ++k) CHECK_EQUAL(weighted.node->point[k], left_out.node->point[k]);
        }
    }
}

// A penalty so large that the loss at beta = 0 is infinity times 0: no minimum is found, and every node ends.
TEST(a_loss_at_zero_that_is_no_number) {
    for (const Loss loss : smooth_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Instance instance = by_hand({1.0, 0.5, -0.3, 1.0}, {1.0, -1.0}, {0.1, 0.2}, {1, 1}, 1.0, loss);
        penalize({1e308, 1.0}, &instance);
        Setting setting(instance);
        CHECK(std::isnan(setting.relaxation->apex_loss));
        CHECK(!setting.relaxation->found);
        for (const Rows& cone : {Rows{{1.0, 0.0}}, Rows{{-1.0, 0.0}}, Rows{{0.6, 0.8}, {-1.0, 0.0}}}) {
            setting.node->point = {0.0, 0.0};
            const cudbound::Sides sides{2, cone[0].data(), setting.node->point.data(), 0.0};
            CHECK(setting.relaxation->settle(*setting.node, sides, {0}, infinity) == Settled::unresolved);
        }
    }
}

// Lengths are relative to those of the anchor and the minimizer, or, where both are 0 or next to it, to 1 or to what
// changes a margin by 1e-6: rows e_1 and 4 e_2, each with both labels, have their minimizer at 0.
TEST(the_extent_by_hand) {
    for (const Loss loss : smooth_losses) {
        check::set_context("loss", static_cast<int>(loss));
        Instance instance = by_hand({1.0, 0.0, 1.0, 0.0, 0.0, 4.0, 0.0, 4.0}, {1.0, -1.0, 1.0, -1.0}, {0.0, 0.0},
                                    {1, 1, 1, 1}, 2.0, loss);
        const auto extent_at = [&](double anchor) {
            instance.anchor = {anchor, 0.0};
            const Setting setting(instance);
            return setting.relaxation->extent;
        };
        CHECK_EQUAL(extent_at(0.0), 1.0);
        CHECK_NEAR(extent_at(1e-9), 1e-6 / 4.0, 1e-14);
        CHECK_NEAR(extent_at(-0.3), 0.3, 1e-14);
        instance.counts = {3, 1, 1, 1};
        const Setting uneven(instance);
        CHECK_NEAR(uneven.relaxation->extent, std::max(0.3, std::abs(uneven.node->point[0])), 1e-14);
    }
}
