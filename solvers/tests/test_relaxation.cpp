// What every relaxation promises, whatever the loss: its coordinates, losses relative to that of the anchor, g and its
// inverse, bounds of the loss beyond a hyperplane.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "check.hpp"
#include "control/prunes.hpp"
#include "instances.hpp"
#include "losses/relaxation.hpp"
#include "oracles.hpp"
#include "placed.hpp"

namespace {

using cudbound::Loss;
using cudbound::Problem;
using cudbound::Relaxation;
using oracle::Vector;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Every second one with a penalty, of which the first coefficient is free at times; every third with weights of the
// rows, some of them zero; every fifth with an offset; a zero row now and then.
Instance random_problem(Random& random, int trial, Loss loss) {
    const int p = 1 + trial % 3;
    Instance instance = random_instance(random, p + 6, p, trial % 4 < 2 ? RowKind::general : RowKind::integers,
                                        trial % 3 == 0 ? LabelKind::clear : LabelKind::noise);
    instance.loss = loss;
    if (trial % 2 == 0) {
        std::vector<double> strengths(p, trial % 4 == 0 ? 0.1 : 1.0);
        if (trial % 8 == 0) strengths[0] = 0.0;
        penalize(strengths, &instance);
        instance.anchor_penalty += trial % 5 == 0 ? 0.25 : 0.0;
    }
    for (int i = 0; i < instance.n; ++i) {
        if (trial % 3 == 0) instance.sample_weight.push_back(0.5 * integer(random, 0, 4));
        if (trial % 5 == 0) instance.offset.push_back(normal(random));
    }
    const double rates[] = {0.3, 1.0, static_cast<double>(instance.n), 100.0};
    instance.alpha = rates[integer(random, 0, 3)];
    return instance;
}

struct Setting {
    explicit Setting(const Instance& instance)
        : problem(instance.view()),
          arrangement(cudbound::merge_rows(problem)),
          relaxation(cudbound::make_relaxation(problem, arrangement, unlimited_budget())) {
        relaxation->set(0);
    }
    Vector from_beta(const Vector& beta) const { return ::from_beta(*relaxation, beta); }
    Vector to_beta(const Vector& v) const { return ::to_beta(*relaxation, v); }
    double loss(const Vector& v) const { return loss_at(*relaxation, problem, v); }
    Vector normal_of(int h) const {
        const double* normal = &arrangement.normals[static_cast<std::size_t>(h) * problem.p];
        return {normal, normal + problem.p};
    }

    const Problem problem;
    const cudbound::Arrangement arrangement;
    const std::unique_ptr<Relaxation> relaxation;
};

double scale_of(const Vector& x) { return 1.0 + oracle::dot(x, x); }

Vector near(Random& random, const Vector& center, double spread) {
    Vector point = center;
    for (double& x : point) x += spread * normal(random);
    return point;
}

}  // namespace

// p = 1, rows 1 and 2 with labels +1, -1 and counts 1, 2 under squared loss: n L = (1 - b)^2 + 2 (1 + 2 b)^2, least at
// b = -1/3 with 2. Anchor 1: n L = 18. alpha / n = 1/2.
TEST(g_and_reach_by_hand) {
    const Instance instance = two_rows();
    const Setting setting(instance);
    const Relaxation& relaxation = *setting.relaxation;
    CHECK_EQUAL(relaxation.rate, 0.5);
    const double least = setting.loss(setting.from_beta({-1.0 / 3.0}));
    CHECK_NEAR(relaxation.anchor_loss - least, 16.0, 1e-12);  // rounded upwards
    CHECK_NEAR(relaxation.apex_loss - least, 1.0, 1e-13);
    // g = 1 - (n L - 18) / 2
    CHECK_EQUAL(relaxation.g(least), 1.0);
    CHECK_EQUAL(relaxation.g(least + 16.0), 1.0);
    CHECK_NEAR(relaxation.g(least + 17.0), 0.5, 1e-11);
    CHECK_EQUAL(relaxation.g(least + 18.1), 0.0);
    // a score 4 is worth 3 at g = 3/4, that is 1/2 above the anchor
    CHECK_NEAR(relaxation.reach(4.0, 3.0), least + 16.5, 1e-11);
    CHECK_NEAR(relaxation.reach(4.0, 5.0), least + 16.0, 1e-11);
    CHECK_NEAR(relaxation.horizon(), least + 18.0, 1e-11);
}

// The same rows: at b = 0 the loss of either row is its value at margin 0, at b = 1 those at margins 1 and -2.
TEST(losses_by_hand) {
    for (const Loss loss : all_losses) {
        check::set_context("loss", static_cast<int>(loss));
        const Instance instance = two_rows(loss);
        const Setting setting(instance);
        const auto value = [loss](double margin) { return cudbound::loss_at(loss, margin).value; };
        const double rise = value(1.0) + 2.0 * value(-2.0) - 3.0 * value(0.0);
        CHECK_NEAR(setting.relaxation->anchor_loss - setting.relaxation->apex_loss, rise, 1e-12);
        CHECK_AT_MOST(rise, setting.relaxation->anchor_loss - setting.relaxation->apex_loss + 1e-14);
        CHECK_EQUAL(setting.to_beta(setting.relaxation->anchor)[0], 1.0);
        CHECK_NEAR(setting.to_beta(setting.relaxation->apex)[0], 0.0, 1e-16);
    }
}

// Losses are those of the definition up to one constant, the anchor's includes all of its penalty, and the coordinates
// keep the sides of hyperplanes.
TEST(coordinates_losses_and_sides) {
    Random random(131);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(120); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            const Instance instance = random_problem(random, trial, loss);
            const Setting setting(instance);
            const Relaxation& relaxation = *setting.relaxation;
            const double n = static_cast<double>(instance.n);
            const Vector zero(instance.p, 0.0);
            const double at_zero = n * oracle::loss(setting.problem, 0, zero.data());
            const double at_anchor = n * oracle::anchor_loss(setting.problem, 0);
            const double size = 1.0 + at_zero + at_anchor;
            CHECK_NEAR(relaxation.anchor_loss - relaxation.apex_loss, at_anchor - at_zero, 1e-11 * size);
            CHECK(relaxation.slack > 0.0);
            CHECK(relaxation.extent > 0.0);
            for (int points = 0; points < 5; ++points) {
                const Vector beta = near(random, instance.anchor, 1.0);
                const Vector v = setting.from_beta(beta);
                const Vector back = setting.to_beta(v);
                for (int k = 0; k < instance.p; ++k) CHECK_NEAR(back[k], beta[k], 1e-6 * scale_of(beta));
                for (int h = 0; h < setting.arrangement.count; ++h) {
                    const Vector normal = setting.normal_of(h);
                    Vector unit(instance.p);
                    double offset = 0.0;
                    place(*setting.relaxation, h, unit.data(), &offset);
                    CHECK_NEAR(oracle::dot(unit, unit), 1.0, 1e-12);
                    const double side = oracle::dot(normal, beta);
                    if (std::abs(side) > 1e-4) CHECK(side * (oracle::dot(unit, v) + offset) > 0.0);
                }
            }
        }
    }
}

// The root is a minimizer: no point has a smaller loss, and its own is within rounding of the bound.
TEST(no_point_beats_the_root) {
    Random random(132);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(120); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            const Instance instance = random_problem(random, trial, loss);
            const Setting setting(instance);
            const Relaxation& relaxation = *setting.relaxation;
            const cudbound::Node* root = &relaxation.root();
            const double at_root = setting.loss(root->point);
            CHECK_AT_MOST(root->loss, at_root + 1e-12 * (1.0 + at_root));
            CHECK_NEAR(root->loss, at_root, 1e-8 * (1.0 + std::abs(at_root)));
            const Vector center = setting.to_beta(root->point);
            for (int points = 0; points < 200; ++points) {
                const Vector beta = near(random, center, std::pow(10.0, integer(random, -4, 1)));
                CHECK_AT_MOST(root->loss, setting.loss(setting.from_beta(beta)) + 1e-12 * (1.0 + at_root));
            }
        }
    }
}

// Points beyond a hyperplane that a node's minimizer is at distance d from, but in the node's cone and where g > 0,
// have a loss above the node's by at least the curvature times d^2.
TEST(curvature_bounds_the_loss_beyond_a_hyperplane) {
    Random random(133);
    int tested = 0;
    int curved = 0;
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(150); ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const Setting setting(instance);
            Relaxation& relaxation = *setting.relaxation;
            const int p = instance.p;
            const auto node = relaxation.make_node();
            relaxation.copy(relaxation.root(), *node);
            // a node with one hyperplane forced against the side of the minimizer, in every second trial
            Vector forced_normal(p);
            double forced_offset = 0.0;
            if (trial % 2 == 1) {
                place(relaxation, 0, forced_normal.data(), &forced_offset);
                const double turn = oracle::dot(forced_normal, node->point) + forced_offset > 0.0 ? -1.0 : 1.0;
                for (double& x : forced_normal) x *= turn;
                forced_offset *= turn;
                if (relaxation.settle(*node, {p, forced_normal.data(), &forced_offset, 1e-12}, {0}, infinity) !=
                    Relaxation::Settled::yes) {
                    continue;
                }
            }
            const Vector center = setting.to_beta(node->point);
            for (int h = 0; h < setting.arrangement.count; ++h) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "hyperplane", h);
                Vector unit(p);
                double offset = 0.0;
                const double curvature = place(relaxation, h, unit.data(), &offset);
                CHECK(curvature >= 0.0);
                curved += curvature > 0.0 ? 1 : 0;
                const double here = oracle::dot(unit, node->point) + offset;
                const double bound = node->loss + curvature * here * here;
                for (int points = 0; points < 60; ++points) {
                    const Vector v = setting.from_beta(near(random, center, std::pow(10.0, integer(random, -3, 1))));
                    if ((oracle::dot(unit, v) + offset) * here >= 0.0) continue;
                    if (trial % 2 == 1 && oracle::dot(forced_normal, v) + forced_offset < 0.0) continue;
                    const double there = setting.loss(v);
                    if (relaxation.g(there) <= 0.0) continue;
                    ++tested;
                    CHECK_AT_MOST(bound, there + 1e-12 * (1.0 + std::abs(there)));
                }
            }
        }
    }
    check::set_context("tested", tested, "curved", curved);
    CHECK_AT_MOST(check::share_of(5000), tested);
    CHECK_AT_MOST(check::share_of(2000), curved);
}

// g is never below its exact value and at most a rounding allowance above, decreasing, and 1 up to the loss of the
// anchor. Losses beyond reach(score, value) are worth no more than the value.
TEST(rounding_enlarges) {
    Random random(134);
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(30); ++trial) {
            Instance instance = random_problem(random, trial, loss);
            for (const double alpha : {0.0, 0.5, 3.0, 9.0, 81.0, infinity}) {
                check::set_context("loss", static_cast<int>(loss), "trial", trial, "alpha", alpha);
                instance.alpha = alpha;
                const Setting setting(instance);
                const Relaxation& relaxation = *setting.relaxation;
                const double anchor = relaxation.anchor_loss;
                CHECK_EQUAL(relaxation.g(anchor - 1.0), 1.0);
                CHECK_EQUAL(relaxation.g(anchor), 1.0);
                // an increase of the loss by less than this may be a rounding error
                CHECK_AT_MOST(relaxation.slack, 1e-9 * (1.0 + std::abs(relaxation.apex_loss) + anchor));
                double before = 1.0;
                for (int step = 0; step <= 40; ++step) {
                    const double excess =
                        std::isinf(alpha) ? 0.05 * step : (alpha > 0.0 ? 1.2 * instance.n / alpha : 1e6) * step / 40;
                    const double here = anchor + excess;
                    const long double exact =
                        std::isinf(alpha)
                            ? (excess > 0.0 ? 0.0L : 1.0L)
                            : std::max(0.0L, 1.0L - static_cast<long double>(alpha) *
                                                        (static_cast<long double>(here) - anchor) / instance.n);
                    const double g = relaxation.g(here);
                    CHECK_AT_MOST(static_cast<double>(exact), g);
                    CHECK_AT_MOST(g, before);
                    if (std::isfinite(alpha)) {
                        CHECK_NEAR(g, static_cast<double>(exact), alpha / instance.n * relaxation.slack + 1e-12);
                    }
                    before = g;
                    for (const double value : {0.3, 1.0, 1.7}) {
                        const double reach = relaxation.reach(2.0, value);
                        if (here > reach) CHECK_AT_MOST(2.0 * g, value * (1.0 + 1e-13));
                        if (here < reach - 1e-8 * (1.0 + std::abs(reach))) CHECK(2.0 * g > value);
                    }
                }
            }
        }
    }
}

// A draw that is set again is what it was, to the last bit, whether or not its minimizer was kept.
TEST(a_kept_minimizer_changes_nothing) {
    Random random(871);
    int draws_kept = 0;
    for (const Loss loss : all_losses) {
        for (int trial = 0; trial < 24; ++trial) {
            const Instance instance = random_problem(random, trial, loss);
            const Setting setting(instance);
            const Relaxation& fresh = *setting.relaxation;
            cudbound::KeptDraws kept(1);
            const auto again =
                cudbound::make_relaxation(setting.problem, setting.arrangement, unlimited_budget(), &kept);
            again->set(0);
            again->set(0);
            if (!kept[0].minimizer.empty()) ++draws_kept;
            CHECK_EQUAL(again->found, fresh.found);
            CHECK_EQUAL(again->has_minimizer, fresh.has_minimizer);
            CHECK_EQUAL(again->anchor_loss, fresh.anchor_loss);
            CHECK_EQUAL(again->apex_loss, fresh.apex_loss);
            CHECK_EQUAL(again->root().loss, fresh.root().loss);
            for (int l = 0; l < instance.p; ++l) CHECK_EQUAL(again->root().point[l], fresh.root().point[l]);
            for (int h = 0; h < setting.arrangement.count; ++h) {
                Vector unit(static_cast<std::size_t>(instance.p));
                double offset = 0.0;
                const double curvature = place(*setting.relaxation, h, unit.data(), &offset);
                CHECK_EQUAL(place(*again, h, unit.data(), &offset), curvature);
            }
        }
    }
    CHECK_AT_MOST(40, draws_kept);
}

TEST(nan_prunes_nothing) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(cudbound::at_most(1.0, 1.0));
    CHECK(!cudbound::at_most(2.0, 1.0));
    CHECK(!cudbound::at_most(nan, 1.0));
    CHECK(!cudbound::at_most(1.0, nan));
    CHECK(cudbound::exceeds(2.0, 1.0));
    CHECK(!cudbound::exceeds(1.0, 1.0));
    CHECK(!cudbound::exceeds(nan, 1.0));
    CHECK(!cudbound::exceeds(1.0, nan));
    CHECK_EQUAL(cudbound::with_open(1.0, 2.0), 2.0);
    CHECK_EQUAL(cudbound::with_open(2.0, 1.0), 2.0);
    CHECK_EQUAL(cudbound::with_open(1.0, nan), infinity);
    CHECK_EQUAL(cudbound::with_open(infinity, 1.0), infinity);
}

TEST(a_loss_that_is_nan_is_within_reach) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Instance instance = two_rows();
    const Setting setting(instance);
    CHECK(!cudbound::at_most(setting.relaxation->g(nan), 0.0));
    CHECK(!cudbound::exceeds(infinity, setting.relaxation->reach(nan, 1.0)));
    CHECK(!cudbound::exceeds(infinity, setting.relaxation->reach(1.0, nan)));
}
