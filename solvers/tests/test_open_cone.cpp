// Strict homogeneous inequalities a_j'w > 0, j in members: an interior point, or members that exclude each other.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "arrangements.hpp"
#include "check.hpp"
#include "cones/open_cone.hpp"

namespace {

using cudbound::OpenCone;
using Verdict = cudbound::OpenCone::Answer;

std::vector<int> all_of(const oracle::Rows& normals) {
    std::vector<int> members(normals.size());
    std::iota(members.begin(), members.end(), 0);
    return members;
}

// What find() promises, for one set of members of rows between which rounding leaves no doubt.
void check_promise(OpenCone* cone, const Hyperplanes& hyperplanes, int p, const std::vector<int>& members) {
    oracle::Rows normals;
    for (std::size_t j = 0; j < hyperplanes.arrangement.of_row.size(); ++j) {
        const double* unit = hyperplanes.normals().row(static_cast<int>(j), p);
        normals.emplace_back(unit, unit + p);
    }
    oracle::Rows chosen;
    for (const int j : members) chosen.push_back(normals[j]);
    const Verdict answer = cone->find(hyperplanes.normals(), members);
    CHECK(answer != Verdict::unclear);
    const bool found = answer == Verdict::open;
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

std::vector<int> sorted_conflict(const OpenCone& cone) {
    std::vector<int> conflict = cone.conflict();
    std::sort(conflict.begin(), conflict.end());
    return conflict;
}

}  // namespace

// No condition: any w will do.
TEST(no_members) {
    const Hyperplanes line({{1.0, 0.0}}, 2);
    OpenCone cone(line.arrangement);
    CHECK(cone.find(line.normals(), {}) == Verdict::open);
}

// e_1'w >= 1 and e_2'w >= 1: the nearest point is (1, 1).
TEST(quadrant_by_hand) {
    const Hyperplanes lines({{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}}, 2);
    OpenCone cone(lines.arrangement);
    CHECK(cone.find(lines.normals(), {0, 1}) == Verdict::open);
    CHECK_NEAR(cone.interior()[0], 1.0, 1e-12);
    CHECK_NEAR(cone.interior()[1], 1.0, 1e-12);
    // row 2 is the opposite of row 0, and no row but these two takes part
    CHECK(cone.find(lines.normals(), {0, 1, 2}) == Verdict::empty);
    CHECK(sorted_conflict(cone) == std::vector<int>({0, 2}));
    // a search after a failure starts afresh
    CHECK(cone.find(lines.normals(), {1, 2}) == Verdict::open);
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
        const Hyperplanes planes(p == 2 ? flat : space, p);
        OpenCone cone(planes.arrangement);
        check_promise(&cone, planes, p, {0, 1, 2});
        CHECK_EQUAL(cone.conflict().size(), std::size_t{3});
        for (const auto& pair : {std::vector<int>{0, 1}, std::vector<int>{0, 2}, std::vector<int>{1, 2}}) {
            check_promise(&cone, planes, p, pair);
        }
    }
}

// Two half-planes whose normals are almost opposite leave a wedge of the given angle. A wedge of 1e-7 is found, one of
// 1e-12 is not: it could be rounding, but the rows are not opposite, so that nothing is proved.
TEST(thin_wedges) {
    for (const double angle : {1e-3, 1e-7, 1e-12, 1e-15, 0.0}) {
        check::set_context("angle", angle);
        const Hyperplanes wedge({{0.0, 1.0}, {std::sin(angle), -std::cos(angle)}}, 2);
        OpenCone cone(wedge.arrangement);
        const Verdict expected = angle > 1e-10 ? Verdict::open : angle > 0.0 ? Verdict::unclear : Verdict::empty;
        CHECK(cone.find(wedge.normals(), {0, 1}) == expected);
        if (expected != Verdict::open) CHECK(sorted_conflict(cone) == std::vector<int>({0, 1}));
        // without rows that tell, opposite normals prove nothing
        if (expected == Verdict::open) continue;
        CHECK(cone.find({wedge.normals().rows, nullptr}, {0, 1}) == Verdict::unclear);
    }
}

// Whole numbers with a combination that vanishes exactly, all weights positive, among fewer than p + 1 rows: their unit
// normals vanish only up to rounding, but the rows prove the conflict. With one entry off by as little as it can be
// they are independent: then there is an open cone, found or not, and no proof against it.
TEST(exactly_dependent_rows) {
    Random random(32);
    int trials = 0;
    for (int trial = 0; trial < check::trials(300); ++trial) {
        const int p = integer(random, 2, 6);
        const int size = integer(random, 2, p);
        check::set_context("trial", trial, "p", p, "size", size);
        oracle::Rows rows;
        oracle::Vector sum(p, 0.0);
        for (int j = 0; j + 1 < size; ++j) {
            rows.emplace_back();
            const int weight = integer(random, 1, 5);
            for (int k = 0; k < p; ++k) {
                rows.back().push_back(integer(random, -99, 99));
                sum[k] -= weight * rows.back().back();
            }
        }
        rows.push_back(sum);
        const std::vector<int> members = all_of(rows);
        const Hyperplanes exact(rows, p);
        OpenCone cone(exact.arrangement);
        CHECK(cone.find(exact.normals(), members) == Verdict::empty);
        CHECK(sorted_conflict(cone) == members);

        // Rows of which any but one are independent stay dependent when an entry is moved only if the axis along which
        // it is moved lies in their span.
        const int axis = integer(random, 0, p - 1);
        oracle::Rows with_axis = rows;
        with_axis.emplace_back(p, 0.0);
        with_axis.back()[axis] = 1.0;
        if (oracle::rank_of_whole_numbers(with_axis) < size) continue;
        double& entry = rows[static_cast<std::size_t>(integer(random, 0, size - 1))][axis];
        entry = std::nextafter(entry, 1e6);
        ++trials;
        const Hyperplanes moved(rows, p);
        OpenCone other(moved.arrangement);
        CHECK(other.find(moved.normals(), members) != Verdict::empty);
    }
    CHECK_AT_MOST(check::share_of(250), trials);
}

// p + 1 normals in p dimensions always depend on each other. Where the weights are all well above 0, or one is well
// below, rounding cannot hide which, whatever the rows are.
TEST(generic_conflicts) {
    Random random(33);
    int conflicts = 0;
    for (int trial = 0; trial < check::trials(400); ++trial) {
        const int p = integer(random, 1, 6);
        check::set_context("trial", trial, "p", p);
        oracle::Rows rows;
        for (int j = 0; j <= p; ++j) {
            rows.emplace_back();
            for (int k = 0; k < p; ++k) rows.back().push_back(normal(random));
        }
        // in every second trial the last row is a combination of the others with weights that make a conflict
        if (trial % 2 == 0) {
            rows.back().assign(p, 0.0);
            for (int j = 0; j < p; ++j) {
                const double weight = 0.1 + std::abs(normal(random));
                for (int k = 0; k < p; ++k) rows.back()[k] -= weight * rows[j][k];
            }
        }
        const Hyperplanes planes(rows, p);
        OpenCone cone(planes.arrangement);
        check_promise(&cone, planes, p, all_of(rows));
        conflicts += cone.conflict().empty() ? 0 : 1;
        if (trial % 2 == 0) CHECK_EQUAL(cone.conflict().size(), rows.size());
    }
    CHECK_AT_MOST(check::share_of(200), conflicts);
}

// Random normals, in general position and degenerate, against the enumeration of all cells.
TEST(random_against_enumeration) {
    Random random(31);
    int found = 0;
    int trials = 0;
    for (int trial = 0; trial < check::trials(450); ++trial) {
        const int p = 1 + trial % 4;
        const auto kind = static_cast<NormalKind>(trial / 4 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const GainProblem problem = random_gains(random, p, integer(random, 1, p + 3), kind);
        const Hyperplanes hyperplanes = problem.hyperplanes();
        OpenCone cone(hyperplanes.arrangement);
        check_promise(&cone, hyperplanes, p, all_of(problem.normals));
        oracle::Rows all = problem.normals;
        ++trials;
        if (oracle::is_open_cone(all, p)) ++found;
        std::vector<int> some;
        for (int j = 0; j < static_cast<int>(all.size()); ++j) {
            if (integer(random, 0, 1) == 1) some.push_back(j);
        }
        if (!some.empty()) check_promise(&cone, hyperplanes, p, some);
    }
    check::set_context("both outcomes occur often");
    CHECK_AT_MOST(trials / 10, found);
    CHECK_AT_MOST(trials / 10, trials - found);
}
