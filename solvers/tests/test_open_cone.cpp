// Strict homogeneous inequalities a_j'w > 0, j in members: an interior point, or members that exclude each other.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "arrangements.hpp"
#include "check.hpp"
#include "open_cone.hpp"

namespace {

using cudbound::OpenCone;

std::vector<int> all_of(const oracle::Rows& normals) {
    std::vector<int> members(normals.size());
    std::iota(members.begin(), members.end(), 0);
    return members;
}

std::vector<double> flatten(const oracle::Rows& rows) {
    std::vector<double> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

// What find() promises, for one set of members.
void check_promise(OpenCone* cone, const oracle::Rows& normals, int p, const std::vector<int>& members) {
    oracle::Rows chosen;
    for (const int j : members) chosen.push_back(normals[j]);
    const bool found = cone->find(flatten(normals).data(), members);
    CHECK_EQUAL(found, oracle::is_open_cone(chosen, p));
    if (found) {
        const oracle::Vector w(cone->interior(), cone->interior() + p);
        for (const auto& a : chosen) CHECK_AT_MOST(1.0 - 1e-8, oracle::dot(a, w));
        return;
    }
    const std::vector<int>& conflict = cone->conflict();
    CHECK_AT_MOST(conflict.size(), static_cast<std::size_t>(p) + 1);
    CHECK_AT_MOST(std::size_t{2}, conflict.size());
    CHECK_EQUAL(std::set<int>(conflict.begin(), conflict.end()).size(), conflict.size());
    oracle::Rows excluded;
    for (const int j : conflict) {
        CHECK(std::find(members.begin(), members.end(), j) != members.end());
        excluded.push_back(normals[j]);
    }
    CHECK(!oracle::is_open_cone(excluded, p));
    // a vanishing combination with all weights positive: whichever member goes, the others no longer exclude each other
    for (std::size_t k = 0; k < conflict.size(); ++k) {
        oracle::Rows rest = excluded;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
        CHECK(oracle::is_open_cone(rest, p));
    }
}

}  // namespace

// No condition: any w will do.
TEST(no_members) {
    OpenCone cone(2);
    const double normals[] = {1.0, 0.0};
    CHECK(cone.find(normals, {}));
}

// e_1'w >= 1 and e_2'w >= 1: the nearest point is (1, 1).
TEST(quadrant_by_hand) {
    OpenCone cone(2);
    const double normals[] = {1.0, 0.0, 0.0, 1.0, -1.0, 0.0};
    CHECK(cone.find(normals, {0, 1}));
    CHECK_NEAR(cone.interior()[0], 1.0, 1e-12);
    CHECK_NEAR(cone.interior()[1], 1.0, 1e-12);
    // row 2 is the opposite of row 0, and no row but these two takes part
    CHECK(!cone.find(normals, {0, 1, 2}));
    std::vector<int> conflict = cone.conflict();
    std::sort(conflict.begin(), conflict.end());
    CHECK(conflict == std::vector<int>({0, 2}));
    // a search after a failure starts afresh
    CHECK(cone.find(normals, {1, 2}));
}

// Gordan: the normals of three lines through the origin at 120 degrees add up to zero, so no open cell is on all three
// positive sides, though beta = 0 is on all three closed ones. Any two of them do meet. In R^3 the same three planes
// share a line.
TEST(three_lines_through_a_point) {
    const double h = std::sqrt(0.75);
    const oracle::Rows flat = {{1.0, 0.0}, {-0.5, h}, {-0.5, -h}};
    const oracle::Rows space = {{1.0, 0.0, 0.0}, {-0.5, h, 0.0}, {-0.5, -h, 0.0}};
    for (const int p : {2, 3}) {
        check::set_context("p", p);
        const oracle::Rows& normals = p == 2 ? flat : space;
        OpenCone cone(p);
        check_promise(&cone, normals, p, all_of(normals));
        CHECK_EQUAL(cone.conflict().size(), std::size_t{3});
        for (const auto& pair : {std::vector<int>{0, 1}, std::vector<int>{0, 2}, std::vector<int>{1, 2}}) {
            check_promise(&cone, normals, p, pair);
        }
    }
}

// Two half-planes whose normals are almost opposite leave a wedge of the given angle. A wedge of 1e-7 is an open cell,
// a wedge of 1e-12 is rounding.
TEST(thin_wedges) {
    for (const double angle : {1e-3, 1e-7, 1e-12}) {
        check::set_context("angle", angle);
        const double normals[] = {0.0, 1.0, std::sin(angle), -std::cos(angle)};
        OpenCone cone(2);
        const bool expected = angle > 1e-10;
        CHECK_EQUAL(cone.find(normals, {0, 1}), expected);
        if (!expected) CHECK_EQUAL(cone.conflict().size(), std::size_t{2});
    }
}

// Random normals, in general position and degenerate, against the enumeration of all cells.
TEST(random_against_enumeration) {
    Random random(31);
    int found = 0;
    int trials = 0;
    for (int trial = 0; trial < 450; ++trial) {
        const int p = 1 + trial % 4;
        const auto kind = static_cast<NormalKind>(trial / 4 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const GainProblem problem = random_gains(random, p, integer(random, 1, p + 3), kind);
        OpenCone cone(p);
        check_promise(&cone, problem.normals, p, all_of(problem.normals));
        oracle::Rows all = problem.normals;
        ++trials;
        if (oracle::is_open_cone(all, p)) ++found;
        std::vector<int> some;
        for (int j = 0; j < static_cast<int>(all.size()); ++j) {
            if (integer(random, 0, 1) == 1) some.push_back(j);
        }
        if (!some.empty()) check_promise(&cone, problem.normals, p, some);
    }
    check::set_context("both outcomes occur often");
    CHECK_AT_MOST(trials / 10, found);
    CHECK_AT_MOST(trials / 10, trials - found);
}
