// The coefficients that prove a lower bound: strictly inside a cell, in the caller's coordinates, and worth what is
// said.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "check.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "placed.hpp"
#include "search/draw_solver.hpp"
#include "search/witness.hpp"

namespace {

using cudbound::Incumbent;
using oracle::Vector;

struct Setting {
    explicit Setting(const Instance& instance)
        : problem(instance.view()),
          arrangement(cudbound::merge_rows(problem)),
          view(problem, arrangement, cudbound::make_relaxation(problem, arrangement, unlimited_budget())),
          writer(view) {
        view.tally(0);
        view.place();
    }
    // The hyperplane of a row, as incumbents name it: positive where the row is.
    int side_of(int row, bool positive) const {
        const auto at = std::find(view.id.begin(), view.id.end(), arrangement.of_row[static_cast<std::size_t>(row)]);
        const int number = static_cast<int>(at - view.id.begin()) + 1;
        return (arrangement.orientation[static_cast<std::size_t>(row)] > 0) == positive ? number : -number;
    }

    const cudbound::Problem problem;
    const cudbound::Arrangement arrangement;
    cudbound::PlacedDraw view;
    cudbound::WitnessWriter writer;
};

Incumbent incumbent_at(Vector point, double value, double score) {
    Incumbent incumbent;
    incumbent.point = std::move(point);
    incumbent.value = value;
    incumbent.score = score;
    return incumbent;
}

// In the caller's rows: worth, or -1 on a hyperplane.
double worth(const Instance& instance, int draw, const double* coef) {
    const Instance::Raw& raw = instance.raw;
    const int p = instance.width();
    const Vector& design = raw.p > 0 ? raw.design : instance.design;
    const Vector& anchor = raw.p > 0 ? raw.anchor : instance.anchor;
    const auto loss = [&](const double* beta) {
        long double sum = 0.0L;
        for (int i = 0; i < instance.n; ++i) {
            const std::size_t at = static_cast<std::size_t>(draw) * instance.n + i;
            long double weight = instance.counts[at];
            if (!instance.sample_weight.empty()) weight *= instance.sample_weight[i];
            long double score = instance.offset.empty() ? 0.0L : instance.offset[i];
            for (int k = 0; k < p; ++k) score += static_cast<long double>(design[i * p + k]) * beta[k];
            if (weight > 0.0L) sum += weight * oracle::surrogate(instance.loss, instance.labels[i] * score).value;
        }
        for (std::size_t k = 0; k < raw.penalty.size(); ++k) {
            sum += static_cast<long double>(instance.n) * raw.penalty[k] * beta[k] * beta[k];
        }
        return sum / instance.n;
    };
    double score = 0.0;
    for (int i = 0; i < instance.n; ++i) {
        long double side = 0.0L;
        bool zero = true;
        for (int k = 0; k < p; ++k) {
            side += static_cast<long double>(design[i * p + k]) * coef[k];
            zero = zero && design[i * p + k] == 0.0;
        }
        if (side == 0.0L && !zero) return -1.0;
        const std::size_t at = static_cast<std::size_t>(draw) * instance.n + i;
        const double weight =
            instance.weights.empty() ? (instance.counts[at] - 1.0) / instance.n : instance.weights[at];
        if ((side >= 0.0L ? 1.0 : -1.0) != instance.labels[i]) score += weight;
    }
    const long double excess = loss(coef) - loss(anchor.data());
    if (std::isinf(instance.alpha)) return excess < 1e-9L ? std::abs(score) : 0.0;
    return std::abs(score) * static_cast<double>(std::clamp(1.0L - instance.alpha * excess, 0.0L, 1.0L));
}

}  // namespace

// With alpha 1/2 and n L = (1 - b_1)^2 + (1 - b_2)^2 row 2 wrong is worth 3 g(1/2) = 2.25, both 5 g(1) = 2.5.
//
// The nearest point with row 2 wrong is (1, 0), on its hyperplane: the witness is a step inside.
TEST(point_on_a_hyperplane) {
    const Instance instance = two_orthogonal_rows(0.5);
    Setting setting(instance);
    Incumbent incumbent = incumbent_at({1.0, 0.0}, 2.25, 3.0);
    incumbent.sides = {setting.side_of(1, false)};
    Vector witness(2, -1e300);
    const double value = setting.writer.write(incumbent, witness.data());
    CHECK_NEAR(value, 2.25, 5.0 * 2e-10);
    CHECK_AT_MOST(value, 2.25);
    CHECK(witness[0] > 0.5);
    CHECK(witness[1] < 0.0);
    CHECK_NEAR(worth(instance, 0, witness.data()), value, 1e-15);
}

// At beta = 0 a direction tells the cell.
TEST(point_at_the_apex) {
    const Instance instance = two_orthogonal_rows(0.5);
    Setting setting(instance);
    Incumbent incumbent = incumbent_at({0.0, 0.0}, 2.5, 5.0);
    incumbent.inward = {-1.0, -20.0};
    Vector witness(2, -1e300);
    CHECK_NEAR(setting.writer.write(incumbent, witness.data()), 2.5, 5.0 * 2e-10);
    CHECK(witness[0] < 0.0 && witness[1] < 0.0);
    CHECK_NEAR(worth(instance, 0, witness.data()), 2.5, 1e-8);
    // a direction along the first hyperplane is bent to one side of it: 3 g(1) if that is the positive one, 5 g(1) if
    // not
    incumbent = incumbent_at({0.0, 0.0}, 1.5, 3.0);
    incumbent.inward = {0.0, -1.0};
    CHECK_NEAR(setting.writer.write(incumbent, witness.data()), 1.5, 5.0 * 2e-10);
    CHECK(witness[0] != 0.0 && witness[1] < 0.0);
}

// A point inside its cell is the witness itself, and so is the anchor.
TEST(point_inside) {
    const Instance instance = two_orthogonal_rows(0.5);
    Setting setting(instance);
    Vector witness(2, -1e300);
    // n L = 2 * (1/2)^2 + ... at (1, -0.5): (1.5)^2 / 2 above the anchor's 0: g = 1 - 1.125 / 2
    CHECK_NEAR(setting.writer.write(incumbent_at({1.0, -0.5}, 3.0 * 0.4375, 3.0), witness.data()), 1.3125, 1e-14);
    CHECK(witness == Vector({1.0, -0.5}));
    Incumbent anchor = incumbent_at({1.0, 1.0}, 0.0, 0.0);
    anchor.is_anchor = true;
    CHECK_EQUAL(setting.writer.write(anchor, witness.data()), 0.0);
    CHECK(witness == instance.anchor);
}

// What is returned is computed anew, whatever the incumbent says: a value that is too high, a side that is the other
// one, sides that no classifier is on, a point that is elsewhere.
TEST(promises_are_not_believed) {
    const Instance instance = two_orthogonal_rows(0.5);
    Setting setting(instance);
    Vector witness(2, -1e300);
    Incumbent incumbent = incumbent_at({1.0, 0.0}, 3.0, 3.0);
    incumbent.sides = {setting.side_of(1, false)};
    CHECK_NEAR(setting.writer.write(incumbent, witness.data()), 2.25, 1e-2);
    CHECK_AT_MOST(worth(instance, 0, witness.data()), 2.25);

    incumbent = incumbent_at({1.0, 0.0}, 2.25, 3.0);
    incumbent.sides = {setting.side_of(1, true)};
    const double other_side = setting.writer.write(incumbent, witness.data());
    CHECK_AT_MOST(other_side, std::max(0.0, worth(instance, 0, witness.data())));

    incumbent.sides = {setting.side_of(1, true), setting.side_of(1, false)};
    const double nowhere = setting.writer.write(incumbent, witness.data());
    CHECK_AT_MOST(nowhere, std::max(0.0, worth(instance, 0, witness.data())));

    const double inside = setting.writer.write(incumbent_at({1.0, 2.0}, 2.25, 3.0), witness.data());
    CHECK_AT_MOST(inside, 1e-15);
}

// The same problems in other coordinates of the same columns, and with a further column that is a sum of others, which
// the problem does without: the same values, with witnesses in the coordinates of the caller.
TEST(coordinates_of_the_caller) {
    Random random(221);
    for (const cudbound::Loss loss : all_losses) {
        for (int trial = 0; trial < check::trials(40); ++trial) {
            check::set_context("loss", static_cast<int>(loss), "trial", trial);
            const int p = 1 + trial % 3;
            Instance instance = random_instance(random, 12, p, trial % 4 < 2 ? RowKind::general : RowKind::integers,
                                                trial % 3 == 0 ? LabelKind::clear : LabelKind::noise, 3);
            instance.loss = loss;
            const double rates[] = {0.5, 12.0, 144.0, std::numeric_limits<double>::infinity()};
            instance.alpha = rates[integer(random, 0, 3)];
            penalize(std::vector<double>(p, 0.1), &instance);
            if (trial % 5 == 0) {
                for (int i = 0; i < instance.n; ++i) instance.offset.push_back(0.3 * normal(random));
            }
            const Answer plain = solve(instance);
            Instance other = instance;
            change_basis(random, &other);
            if (trial % 2 == 0) {
                Vector wide;
                for (int i = 0; i < other.n; ++i) {
                    const double* row = &other.raw.design[static_cast<std::size_t>(i) * p];
                    wide.insert(wide.end(), row, row + p);
                    wide.push_back(row[0] + row[p - 1]);
                }
                other.raw.p = p + 1;
                other.raw.design = wide;
                other.raw.anchor.push_back(0.0);
                other.raw.penalty.push_back(0.0);
                other.raw.map.insert(other.raw.map.end(), p, 0.0);
            }
            const Answer answer = solve(other);
            for (int d = 0; d < instance.draws; ++d) {
                CHECK(answer.status[d] == cudbound::Status::OPTIMAL ||
                      answer.status[d] == cudbound::Status::INACCURATE);
                CHECK_AT_MOST(plain.lower[d], answer.upper[d] + 1e-7);
                CHECK_AT_MOST(answer.lower[d], plain.upper[d] + 1e-7);
                const double* coef = &answer.witness[static_cast<std::size_t>(d) * other.width()];
                const double value = worth(other, d, coef);
                // losses that Newton's method knows to a gap make values larger by that
                const bool newton = loss != cudbound::Loss::SQUARED && loss != cudbound::Loss::HINGE;
                CHECK_AT_MOST(answer.lower[d] - (newton ? 1e-7 : 1e-9), value);
                CHECK_AT_MOST(value, answer.upper[d] + 1e-9);
            }
        }
    }
}
