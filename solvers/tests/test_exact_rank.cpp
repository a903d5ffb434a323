// Linear dependence of rows, decided without rounding: against minors of whole numbers in 128 bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "arrangements.hpp"
#include "check.hpp"
#include "problem/exact_rank.hpp"

namespace {

using cudbound::ExactRank;
using oracle::Rows;
__extension__ using Wide = __int128;

std::vector<std::int64_t> all_of(const Rows& rows) {
    std::vector<std::int64_t> members(rows.size());
    std::iota(members.begin(), members.end(), 0);
    return members;
}

bool dependent(const Rows& rows) {
    const auto flat = flatten(rows);
    const auto members = all_of(rows);
    ExactRank exact(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size()), flat.data());
    return exact.dependent(members.data(), static_cast<int>(members.size()));
}

int rank(const Rows& rows) {
    const auto flat = flatten(rows);
    const auto members = all_of(rows);
    ExactRank exact(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size()), flat.data());
    int least = 0;
    while (!exact.rank_at_most(members.data(), static_cast<int>(members.size()), least)) ++least;
    // and so for all larger ones
    for (int more = least; more <= static_cast<int>(rows.size()) + 1; ++more) {
        CHECK(exact.rank_at_most(members.data(), static_cast<int>(members.size()), more));
    }
    return least;
}

double whole(Random& random, std::int64_t most) {
    return static_cast<double>(std::uniform_int_distribution<std::int64_t>(-most, most)(random));
}

Rows product(Random& random, int n, int p, int inner, std::int64_t most) {
    Rows rows(n, oracle::Vector(p, 0.0));
    for (int k = 0; k < inner; ++k) {
        oracle::Vector right(p);
        for (double& x : right) x = whole(random, most);
        for (auto& row : rows) {
            const double left = whole(random, most);
            for (int l = 0; l < p; ++l) row[l] += left * right[l];
        }
    }
    return rows;
}

}  // namespace

TEST(by_hand) {
    CHECK(dependent({{1.0, 2.0}, {2.0, 4.0}}));
    CHECK(dependent({{1.0, 2.0}, {-0.5, -1.0}}));
    CHECK(!dependent({{1.0, 2.0}, {2.0, 5.0}}));
    CHECK(dependent({{0.0, 0.0}}));
    CHECK(!dependent({{0.0, 5e-324}}));
    CHECK(dependent({{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}}));  // more rows than columns
    CHECK(dependent({{1.0, 0.0, 1.0}, {0.0, 1.0, 1.0}, {1.0, 1.0, 2.0}}));
    CHECK(!dependent({{1.0, 0.0, 1.0}, {0.0, 1.0, 1.0}, {1.0, 1.0, std::nextafter(2.0, 3.0)}}));
    // the determinant is 2^61 - 1, the first prime that is tried
    CHECK(!dependent({{std::ldexp(1.0, 30), 1.0}, {1.0, std::ldexp(1.0, 31)}}));
    CHECK(dependent({{std::ldexp(1.0, 30), 1.0}, {std::ldexp(1.0, 61), std::ldexp(1.0, 31)}}));
    CHECK_EQUAL(rank({{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}), 0);
    CHECK_EQUAL(rank({{1.0, 1.0, 1.0}, {2.0, 2.0, 2.0}, {0.0, 0.0, 0.0}}), 1);
    CHECK_EQUAL(rank({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}}), 2);
}

// Products of thin matrices have the rank of the thin side, or less.
TEST(small_whole_numbers) {
    Random random(201);
    int seen[5] = {0, 0, 0, 0, 0};
    for (int trial = 0; trial < check::trials(3000); ++trial) {
        const int n = integer(random, 1, 4);
        const int p = integer(random, 1, 4);
        check::set_context("trial", trial, "n", n, "p", p);
        const Rows rows = product(random, n, p, integer(random, 0, 4), trial % 2 == 0 ? 3 : 3000);
        const int expected = oracle::rank_of_whole_numbers(rows);
        CHECK_EQUAL(rank(rows), expected);
        CHECK_EQUAL(dependent(rows), expected < n);
        ++seen[expected];
    }
    for (const int times : seen) CHECK_AT_MOST(check::share_of(15), times);
}

// Neighbors of collinear rows: the determinant of two rows of 53 bits is a number of 107 bits, of which floating-point
// numbers see none when it is 1.
TEST(numbers_of_all_bits) {
    const double large = 0x1p52;
    CHECK(!dependent({{large + 1.0, large}, {large, large - 1.0}}));  // determinant -1
    Random random(202);
    int collinear = 0;
    for (int trial = 0; trial < check::trials(500); ++trial) {
        check::set_context("trial", trial);
        const double x = whole(random, std::int64_t{1} << 50);
        const double y = whole(random, std::int64_t{1} << 50);
        // 3 x and 3 y are rounded at times, x / 3 and y / 3 most often
        const double factor = trial % 2 == 0 ? 3.0 : 1.0 / 3.0;
        const Rows rows = {{x, y}, {std::nearbyint(factor * x), std::nearbyint(factor * y)}};
        const bool expected = static_cast<Wide>(x) * static_cast<Wide>(rows[1][1]) ==
                              static_cast<Wide>(y) * static_cast<Wide>(rows[1][0]);
        CHECK_EQUAL(dependent(rows), expected);
        collinear += expected ? 1 : 0;
    }
    CHECK_AT_MOST(check::share_of(200), collinear);
    CHECK_AT_MOST(collinear, 400);
}

// Multiples by a factor that rounds are collinear only if all products are exact, or by a chance that the cross product
// of two entries, taken exactly as the sum of two numbers each, would show.
TEST(rounded_multiples) {
    Random random(203);
    int exact = 0;
    for (int trial = 0; trial < check::trials(500); ++trial) {
        check::set_context("trial", trial);
        const double x = normal(random);
        const double y = normal(random);
        const double factor = trial % 3 == 0 ? 0.1 : trial % 3 == 1 ? std::ldexp(1.0, integer(random, -60, 60)) : 3.0;
        const double u = factor * x;
        const double v = factor * y;
        // x v - y u, where the fused operation gives what is lost of a product
        const double first = x * v;
        const double second = y * u;
        const bool expected = first == second && std::fma(x, v, -first) == std::fma(y, u, -second);
        CHECK_EQUAL(dependent({{x, y}, {u, v}}), expected);
        exact += expected ? 1 : 0;
    }
    CHECK_AT_MOST(check::share_of(160), exact);
    CHECK_AT_MOST(exact, 400);
}

// Powers of two that scale rows and columns do not change ranks, however far apart they are.
TEST(exponents_far_apart) {
    Random random(204);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int n = integer(random, 1, 4);
        const int p = integer(random, 1, 4);
        check::set_context("trial", trial, "n", n, "p", p);
        Rows rows = product(random, n, p, integer(random, 1, 4), 9);
        const int expected = oracle::rank_of_whole_numbers(rows);
        std::vector<int> columns(static_cast<std::size_t>(p));
        for (int& exponent : columns) exponent = integer(random, -400, 400);
        for (auto& row : rows) {
            const int own = integer(random, -600, 500);
            for (int k = 0; k < p; ++k) row[k] = std::ldexp(row[k], own + columns[static_cast<std::size_t>(k)]);
        }
        CHECK_EQUAL(rank(rows), expected);
        // the smallest numbers there are, which have fewer bits
        for (auto& row : rows) {
            for (double& x : row) x = x == 0.0 ? 0.0 : std::copysign(5e-324, x);
        }
        Rows signs = rows;
        for (auto& row : signs) {
            for (double& x : row) x = x == 0.0 ? 0.0 : std::copysign(1.0, x);
        }
        CHECK_EQUAL(rank(rows), oracle::rank_of_whole_numbers(signs));
    }
}

// 1e16 + 1 is not a floating-point number, so what a sum of rows loses by rounding makes it independent of them.
TEST(rounded_sums) {
    const Rows rows = {{1e16, 1.0, 0.0}, {1.0, 1e-16, 1.0}, {1e16 + 1.0, 1.0 + 1e-16, 1.0}};
    CHECK(!dependent(rows));
    CHECK(dependent({{0x1p60, 1.0, 0.0}, {0x1p30, 0.5, 1.0}, {0x1p60 + 0x1p30, 1.5, 1.0}}));
}

// Answers are remembered: asked again, in any order and after many others, they are the same.
TEST(asked_again) {
    Random random(205);
    const int n = 60;
    Rows rows;
    for (int i = 0; i < n; ++i) rows.push_back({whole(random, 2), whole(random, 2), whole(random, 2)});
    const auto flat = flatten(rows);
    ExactRank exact(n, 3, flat.data());
    for (int trial = 0; trial < check::trials(20000); ++trial) {
        check::set_context("trial", trial);
        std::vector<std::int64_t> members;
        const int size = integer(random, 1, 3);
        while (static_cast<int>(members.size()) < size) {
            const int next = integer(random, 0, trial % 2 == 0 ? n - 1 : 9);
            if (std::find(members.begin(), members.end(), next) == members.end()) members.push_back(next);
        }
        Rows some;
        for (const auto i : members) some.push_back(rows[static_cast<std::size_t>(i)]);
        CHECK_EQUAL(exact.dependent(members.data(), size), oracle::rank_of_whole_numbers(some) < size);
    }
}

// More rows than are remembered at once, in many dimensions: a vanishing combination of all is found, and lost again
// with the last bit of one entry.
TEST(many_rows) {
    Random random(206);
    for (const int p : {13, 20, 40}) {
        check::set_context("p", p);
        Rows rows(static_cast<std::size_t>(p), oracle::Vector(static_cast<std::size_t>(p), 0.0));
        for (int i = 0; i + 1 < p; ++i) {
            for (int k = 0; k < p; ++k) rows[i][k] = whole(random, 1000);
            for (int k = 0; k < p; ++k) rows[p - 1][k] += (i % 5 - 2) * rows[i][k];
        }
        CHECK(dependent(rows));
        CHECK_EQUAL(rank(rows), p - 1);
        rows[p - 1][0] = std::nextafter(rows[p - 1][0], 1e9);
        CHECK(!dependent(rows));
        CHECK_EQUAL(rank(rows), p);
    }
}
