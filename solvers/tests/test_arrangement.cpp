// Merging the rows of a design into distinct hyperplanes, and the scores of their two sides.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "problem/arrangement.hpp"

namespace {

using cudbound::Arrangement;
using cudbound::merge_rows;
using cudbound::SideScores;

Arrangement merge(const std::vector<double>& design, int p) {
    cudbound::Problem problem;
    problem.n = static_cast<std::int64_t>(design.size()) / p;
    problem.p = p;
    problem.design = design.data();
    return merge_rows(problem);
}

// Every row is its length times its orientation times the normal of its hyperplane, to 1e-10; distinct hyperplanes have
// distinct normals.
void check_consistent(const Arrangement& arrangement, const std::vector<double>& design) {
    const int p = arrangement.p;
    CHECK_EQUAL(arrangement.normals.size(), static_cast<std::size_t>(arrangement.count) * p);
    for (std::size_t i = 0; i < arrangement.of_row.size(); ++i) {
        double length = 0.0;
        for (int k = 0; k < p; ++k) length += design[i * p + k] * design[i * p + k];
        length = std::sqrt(length);
        const int h = arrangement.of_row[i];
        CHECK(h >= -1 && h < arrangement.count);
        if (h < 0) continue;
        CHECK(std::abs(arrangement.orientation[i]) == 1);
        for (int k = 0; k < p; ++k) {
            const double turned = arrangement.orientation[i] * arrangement.normals[static_cast<std::size_t>(h) * p + k];
            CHECK_NEAR(design[i * p + k], length * turned, 1e-10 * length);
        }
    }
    for (int a = 0; a < arrangement.count; ++a) {
        double size = 0.0;
        for (int k = 0; k < p; ++k) size += std::pow(arrangement.normals[static_cast<std::size_t>(a) * p + k], 2);
        CHECK_NEAR(size, 1.0, 1e-14);
        for (int b = 0; b < a; ++b) {
            double same = 0.0;
            double opposite = 0.0;
            for (int k = 0; k < p; ++k) {
                const double x = arrangement.normals[static_cast<std::size_t>(a) * p + k];
                const double y = arrangement.normals[static_cast<std::size_t>(b) * p + k];
                same += (x - y) * (x - y);
                opposite += (x + y) * (x + y);
            }
            CHECK(std::min(same, opposite) > 1e-22);
        }
    }
}

}  // namespace

// Rows (3,4), the same again, its negative, 100 times it, a 1024th of its negative: one hyperplane with normal
// +-(0.6, 0.8); and (4,-3), which is another.
TEST(equal_opposite_and_scaled_rows) {
    const std::vector<double> design = {3.0,   4.0,   3.0,           4.0,         -3.0, -4.0,
                                        300.0, 400.0, -0.0029296875, -0.00390625, 4.0,  -3.0};
    const Arrangement arrangement = merge(design, 2);
    CHECK_EQUAL(arrangement.count, 2);
    for (const int i : {1, 2, 3, 4}) CHECK_EQUAL(arrangement.of_row[i], arrangement.of_row[0]);
    CHECK(arrangement.of_row[5] != arrangement.of_row[0]);
    const int first = arrangement.orientation[0];
    CHECK_EQUAL(arrangement.orientation[1], first);
    CHECK_EQUAL(arrangement.orientation[2], -first);
    CHECK_EQUAL(arrangement.orientation[3], first);
    CHECK_EQUAL(arrangement.orientation[4], -first);
    check_consistent(arrangement, design);
}

// Rows at angles of 0, 1e-13 and 1e-9 are not collinear: three hyperplanes. The normals of the first two are as good as
// equal, so that all is right with either.
TEST(nearly_equal_rows) {
    for (const double base : {0.0, 0.3, 1.0, 1.5707963267948966, 2.5}) {
        check::set_context("base angle", base);
        std::vector<double> design;
        for (const double angle : {base, base + 1e-13, base + 1e-9}) {
            design.push_back(std::cos(angle));
            design.push_back(std::sin(angle));
        }
        const Arrangement arrangement = merge(design, 2);
        CHECK_EQUAL(arrangement.count, 3);
        CHECK(arrangement.of_row[0] != arrangement.of_row[1]);
        CHECK(arrangement.of_row[0] != arrangement.of_row[2]);
        CHECK(arrangement.of_row[1] != arrangement.of_row[2]);
    }
}

// 0.1 and 0.3 are not in the ratio of 1 to 3 once they are rounded: as they are, they make a separate hyperplane.
// 0.1 and 0.2 are in that of 1 to 2, and so, by chance, are 0.003 and 0.004 in that of 3 to 4.
TEST(rounded_multiples) {
    CHECK_EQUAL(merge({3.0, 4.0, 0.003, 0.004}, 2).count, 1);
    CHECK_EQUAL(merge({1.0, 3.0, 0.1, 0.3}, 2).count, 2);
    CHECK_EQUAL(merge({1.0, 2.0, 0.1, 0.2}, 2).count, 1);
}

// Whether two rows are collinear is told by x_1 y_2 = x_2 y_1, which whole numbers of 53 bits have exactly in 128 bits.
TEST(large_whole_numbers) {
    __extension__ using Wide = __int128;
    Random random(23);
    int merged = 0;
    for (int trial = 0; trial < check::trials(400); ++trial) {
        check::set_context("trial", trial);
        std::uniform_int_distribution<std::int64_t> any(-(std::int64_t{1} << 50), std::int64_t{1} << 50);
        const double x = static_cast<double>(any(random));
        const double y = static_cast<double>(any(random));
        const double factor = trial % 2 == 0 ? integer(random, -7, -2) : 1.0 / integer(random, 2, 9);
        const std::vector<double> design = {x, y, std::nearbyint(factor * x), std::nearbyint(factor * y)};
        const auto whole = [&](int k) { return static_cast<Wide>(design[static_cast<std::size_t>(k)]); };
        const bool collinear = whole(0) * whole(3) == whole(1) * whole(2);
        const Arrangement arrangement = merge(design, 2);
        CHECK_EQUAL(arrangement.count, collinear ? 1 : 2);
        if (collinear) CHECK_EQUAL(arrangement.orientation[0] * arrangement.orientation[1], factor < 0.0 ? -1 : 1);
        merged += collinear ? 1 : 0;
    }
    CHECK_AT_MOST(check::share_of(150), merged);
    CHECK_AT_MOST(merged, 250);
}

// The caller's rows decide, not those of the problem: a change of basis leaves them collinear only up to rounding.
TEST(raw_rows_decide) {
    Random random(24);
    for (int trial = 0; trial < check::trials(50); ++trial) {
        check::set_context("trial", trial);
        const int p = integer(random, 2, 5);
        std::vector<double> raw;
        for (int k = 0; k < p; ++k) raw.push_back(normal(random));
        for (int k = 0; k < p; ++k) raw.push_back(-4.0 * raw[static_cast<std::size_t>(k)]);
        for (int k = 0; k < p; ++k) raw.push_back(raw[static_cast<std::size_t>(k)]);
        raw.back() = std::nextafter(raw.back(), 100.0);
        std::vector<double> map(static_cast<std::size_t>(p * p));
        for (double& x : map) x = normal(random);
        std::vector<double> design(raw.size(), 0.0);
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < p; ++k) {
                double sum = 0.0;
                for (int j = 0; j < p; ++j)
                    sum += raw[static_cast<std::size_t>(i * p + j)] * map[static_cast<std::size_t>(j * p + k)];
                design[static_cast<std::size_t>(i * p + k)] = sum * (1.0 + (i == 1 ? 1e-15 : 0.0));
            }
        }
        cudbound::Problem problem;
        problem.n = 3;
        problem.p = p;
        problem.design = design.data();
        problem.raw.p = p;
        problem.raw.design = problem.raw.exact = raw.data();
        problem.raw.error = 1e-13;
        const Arrangement arrangement = merge_rows(problem);
        CHECK_EQUAL(arrangement.count, 2);
        CHECK_EQUAL(arrangement.of_row[0], arrangement.of_row[1]);
        CHECK(arrangement.of_row[0] != arrangement.of_row[2]);
        CHECK_EQUAL(arrangement.orientation[0], -arrangement.orientation[1]);
    }
}

// Zero rows lie on no hyperplane; short ones do, however short.
TEST(zero_rows) {
    const std::vector<double> design = {0.0, 0.0, 1.0, 2.0, 1e-15, -1e-15, -0.0, 0.0, 1e-300, 3e-300};
    const Arrangement arrangement = merge(design, 2);
    CHECK_EQUAL(arrangement.count, 3);
    CHECK_EQUAL(arrangement.of_row[0], -1);
    CHECK_EQUAL(arrangement.of_row[3], -1);
    for (const int i : {1, 2, 4}) CHECK(arrangement.of_row[i] >= 0);
    // whose squares are no numbers: the normal is that of the row
    const double* shortest = arrangement.normal(arrangement.of_row[4]);
    CHECK_NEAR(shortest[0], 1.0 / std::sqrt(10.0), 1e-15);
    CHECK_NEAR(shortest[1], 3.0 / std::sqrt(10.0), 1e-15);

    const Arrangement nothing = merge({0.0, 0.0, 0.0, 0.0}, 2);
    CHECK_EQUAL(nothing.count, 0);
    CHECK(nothing.of_row == std::vector<int>({-1, -1}));
}

// p = 1: all rows but zero share the one hyperplane beta = 0, and point along it or against it.
TEST(one_dimension) {
    const std::vector<double> design = {2.0, -3.0, 0.0, 0.5};
    const Arrangement arrangement = merge(design, 1);
    CHECK_EQUAL(arrangement.count, 1);
    CHECK(arrangement.of_row == std::vector<int>({0, 0, -1, 0}));
    CHECK_EQUAL(arrangement.orientation[0], -arrangement.orientation[1]);
    CHECK_EQUAL(arrangement.orientation[0], arrangement.orientation[3]);
}

// Any number of rows that are multiples of k random directions make k hyperplanes.
TEST(planted_directions) {
    Random random(21);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int p = integer(random, 2, 8);
        const int directions = integer(random, 1, 12);
        check::set_context("trial", trial, "p", p, "directions", directions);
        std::vector<double> base(static_cast<std::size_t>(directions) * p);
        for (double& x : base) x = normal(random);
        std::vector<double> design = base;
        for (int copies = integer(random, 0, 40); copies > 0; --copies) {
            const int d = integer(random, 0, directions - 1);
            const double factor = std::ldexp(integer(random, 0, 1) == 1 ? 1.0 : -1.0, integer(random, -30, 30));
            for (int k = 0; k < p; ++k) design.push_back(factor * base[static_cast<std::size_t>(d) * p + k]);
        }
        const Arrangement arrangement = merge(design, p);
        CHECK_EQUAL(arrangement.count, directions);
        check_consistent(arrangement, design);
    }
}

// Two rows of opposite labels on one hyperplane and a zero row. weights 1, 10, 100, 1000, labels +, -, +, -:
//   rows e_1 (+), 2 e_1 (-), -e_1 (+), 0 (-).  beta_1 > 0: rows 2 and 3 are wrong, 110; beta_1 < 0: row 1, 1.
//   The zero row is classified +1 and is wrong everywhere: 1000.
TEST(tally_by_hand) {
    const std::vector<double> design = {1.0, 0.0, 2.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    const double labels[] = {1.0, -1.0, 1.0, -1.0};
    const double weights[] = {1.0, 10.0, 100.0, 1000.0};
    const Arrangement arrangement = merge(design, 2);
    SideScores sides;
    sides.tally(arrangement, labels, weights);
    CHECK_EQUAL(sides.fixed, 1000.0);
    const bool along = arrangement.normals[0] > 0.0;
    CHECK_EQUAL(along ? sides.positive(0) : sides.negative(0), 110.0);
    CHECK_EQUAL(along ? sides.negative(0) : sides.positive(0), 1.0);
}

// The tally of any point off the hyperplanes is the score from its definition, sum_i w_i 1{sign(x_i'beta) != y_i}.
TEST(tally_against_the_score) {
    Random random(22);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int p = integer(random, 1, 5);
        const auto kind = trial % 2 == 0 ? RowKind::integers : RowKind::repeated;
        Instance instance = random_instance(random, p + integer(random, 0, 15), p, kind, LabelKind::noise);
        for (int i = 0; i < instance.n; ++i) instance.weights.push_back(normal(random));
        const Arrangement arrangement = merge(instance.design, p);
        check_consistent(arrangement, instance.design);
        SideScores sides;
        sides.tally(arrangement, instance.labels.data(), instance.weights.data());
        for (int points = 0; points < 20; ++points) {
            check::set_context("trial", trial, "p", p, "point", points);
            std::vector<double> beta(p);
            for (double& x : beta) x = normal(random);
            double tallied = sides.fixed;
            for (int h = 0; h < arrangement.count; ++h) {
                double side = 0.0;
                for (int k = 0; k < p; ++k) side += arrangement.normals[static_cast<std::size_t>(h) * p + k] * beta[k];
                tallied += side > 0.0 ? sides.positive(h) : sides.negative(h);
            }
            CHECK_NEAR(tallied, oracle::score(instance.view(), 0, beta.data()), 1e-12);
        }
    }
}
