// The largest total gain of strict inequalities a_j'w > 0 that hold at once, by subdividing the directions.
#include <cmath>

#include "gain_searches.hpp"
#include "search/gain_by_cones.hpp"
#include "search/gain_by_conflicts.hpp"

namespace {

using namespace gain_searches;

// `nodes` of this search alone; `budget_nodes` of the draw it belongs to.
Run search(const GainProblem& problem, double enough = 0.0, double nodes = infinity,
           std::int64_t budget_nodes = no_limit) {
    Begun begun(budget_nodes);
    cudbound::Budget& budget = *begun;
    const Hyperplanes hyperplanes = problem.hyperplanes();
    cudbound::GainByCones cones(hyperplanes.arrangement, problem.p, hyperplanes.exact());
    cones.search(hyperplanes.central(problem.gains), enough, nodes, budget);
    CHECK_AT_MOST(static_cast<double>(budget.nodes()), nodes);
    return {cones.best(), cones.upper(), cones.direction(), budget.exhausted(), budget.nodes()};
}

void check_solved(const GainProblem& problem, double expected) {
    const Run run = search(problem);
    CHECK_EQUAL(run.best, expected);
    CHECK_EQUAL(run.upper, expected);
    CHECK(!run.exhausted);
    CHECK_EQUAL(problem.gain_at(run.direction, 1e-11), expected);
}

void check_against_enumeration(const GainProblem& problem) {
    check_solved(problem, oracle::largest_gain(problem.normals, problem.gains, problem.p));
}

double by_conflicts(const GainProblem& problem, double enough) {
    Begun budget;
    const Hyperplanes hyperplanes = problem.hyperplanes();
    cudbound::GainByConflicts gain_by_conflicts(hyperplanes.arrangement);
    gain_by_conflicts.search(hyperplanes.central(problem.gains), enough, infinity, *budget);
    return gain_by_conflicts.upper();
}

// Rows of a design with an intercept and features of a few values each (0: normal entries), turned at random.
GainProblem design_rows(Random& random, int m, const std::vector<int>& values) {
    const int p = 1 + static_cast<int>(values.size());
    GainProblem problem{p, {}, {}};
    for (int tries = 0; tries < 30 * m && static_cast<int>(problem.gains.size()) < m; ++tries) {
        const double turn = integer(random, 0, 1) == 0 ? 1.0 : -1.0;
        oracle::Vector a = {turn};
        for (const int count : values)
            a.push_back(turn * (count == 0 ? normal(random) : integer(random, 0, count - 1)));
        problem.add(a, integer(random, 1, 3));
    }
    return problem;
}

}  // namespace

// One hyperplane: its positive side, gain 7.
TEST(one_hyperplane) {
    for (const int p : {1, 2, 3, 4, 5}) {
        check::set_context("p", p);
        oracle::Vector a(p, 0.0);
        a[p - 1] = -1.0;
        check_solved({p, {a}, {7.0}}, 7.0);
    }
}

// Lines at 0, 90 degrees, gains 1 and 2: the first quadrant has both, 3. In R^3 with a third plane: all 6.
TEST(orthogonal_hyperplanes) {
    check_solved({2, {{1.0, 0.0}, {0.0, 1.0}}, {1.0, 2.0}}, 3.0);
    check_solved({3, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {1.0, 2.0}}, 3.0);
    check_solved({3, {{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0}}, {1.0, 2.0, 3.0}}, 6.0);
}

// Three lines at 120 degrees, gains 1, 2, 3, exclude each other: 5. In more dimensions the hyperplanes share a flat.
TEST(three_lines_through_a_point) {
    const double h = std::sqrt(0.75);
    for (const int p : {2, 3, 4, 5}) {
        for (int first = 0; first + 1 < p; ++first) {
            check::set_context("p", p, "first", first);
            GainProblem problem{p, oracle::Rows(3, oracle::Vector(p, 0.0)), {1.0, 2.0, 3.0}};
            problem.normals[0][first] = 1.0;
            problem.normals[1][first] = problem.normals[2][first] = -0.5;
            problem.normals[1][p - 1] = h;
            problem.normals[2][p - 1] = -h;
            check_solved(problem, 5.0);
        }
    }
}

// A fan of 2k lines in the plane: with normals at angles i * 180 / 2k degrees, every second
// one reversed, half of the lines are on their positive sides in every cell but for one: k or k - 1 or k + 1. By hand:
// going around, each line changes the count by one and neighbors in opposite ways, so that it alternates between k and
// k + 1 on one half of the circle and k and k - 1 on the other. With a third coordinate that no line has, all meet in a
// line.
TEST(a_fan_of_lines) {
    for (const int p : {2, 3, 4}) {
        for (const int k : {4, 10, 30}) {
            check::set_context("p", p, "k", k);
            GainProblem problem{p, {}, {}};
            for (int i = 0; i < 2 * k; ++i) {
                const double angle = 3.14159265358979324 * i / (2 * k);
                const double sign = i % 2 == 0 ? 1.0 : -1.0;
                oracle::Vector a(p, 0.0);
                a[0] = sign * std::cos(angle);
                a[p - 1] = sign * std::sin(angle);
                problem.add(a, 1.0);
            }
            check_solved(problem, k + 1.0);
        }
    }
}

// General position, entries -1, 0, 1 (many hyperplanes through a line) and pencils (all through one flat).
TEST(random_against_enumeration) {
    Random random(51);
    for (int trial = 0; trial < check::trials(900); ++trial) {
        const int p = 1 + trial % 5;
        const auto kind = static_cast<NormalKind>(trial / 5 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        check_against_enumeration(random_gains(random, p, integer(random, 1, p == 5 ? 7 : 9), kind));
    }
}

// Binary and integer features, on which many rows agree: their hyperplanes share lines and more.
TEST(features_of_few_values) {
    Random random(52);
    const std::vector<std::vector<int>> designs = {{4}, {0, 2}, {5, 5}, {2, 2, 2}, {0, 2, 3}, {3, 3, 3}, {0, 0, 2}};
    for (int trial = 0; trial < check::trials(20); ++trial) {
        for (const auto& values : designs) {
            check::set_context("trial", trial, "features", values.size(), "last", values.back());
            check_against_enumeration(design_rows(random, values.size() < 3 ? 30 : 13, values));
        }
    }
}

// More hyperplanes than can be enumerated fast: the search by conflicts judges.
TEST(random_against_conflicts) {
    Random random(53);
    const int sizes[] = {40, 30, 30, 30, 25};
    for (int trial = 0; trial < check::trials(100); ++trial) {
        const int p = 2 + trial % 5;
        const auto kind = static_cast<NormalKind>(trial / 5 % 3);
        check::set_context("trial", trial, "p", p, "kind", static_cast<int>(kind));
        const GainProblem problem = random_gains(random, p, kind == NormalKind::pencil ? 15 : sizes[p - 2], kind);
        check_solved(problem, by_conflicts(problem, 0.0));
    }
}

// Many hyperplanes through one line: half of the rows have a binary feature equal to 0. What is found is attained; that
// there is no more is for conflicts to say, told what is enough.
TEST(a_binary_feature) {
    Random random(54);
    for (int trial = 0; trial < 4; ++trial) {
        check::set_context("trial", trial);
        const GainProblem problem = design_rows(random, 36, {2, 0, 0});
        const double expected = by_conflicts(problem, 0.0);
        check_solved(problem, expected);
        const Run large = search(design_rows(random, 120, {2, 0, 0}));
        CHECK_EQUAL(large.best, large.upper);
        CHECK_AT_MOST(static_cast<double>(large.nodes), 5000.0);
    }
}

TEST(enough_prunes) {
    check_enough_prunes([](const auto& problem, double enough) { return search(problem, enough); }, 55, 9, 3);
}

// Gains that are not whole numbers: sums in another order differ by rounding, which leaves nothing open.
TEST(fractional_gains) {
    Random random(56);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int p = 1 + trial % 4;
        GainProblem problem = random_gains(random, p, 9, static_cast<NormalKind>(trial / 4 % 3));
        for (double& gain : problem.gains) gain *= 0.1 + 0.01 * integer(random, 0, 30);
        check::set_context("trial", trial, "p", p);
        const double expected = oracle::largest_gain(problem.normals, problem.gains, p);
        const Run run = search(problem);
        CHECK_NEAR(run.best, expected, 1e-13 * expected);
        CHECK_EQUAL(run.upper, run.best);
    }
}

// Every second hyperplane twice, `gap` apart and turned against its double: the wedge between the two is a cell of that
// width. Wide ones are found. Of thin ones it is left open whether they are there: upper counts them, best does not
// have to.
TEST(near_duplicates) {
    Random random(57);
    for (const double gap : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13, 1e-15}) {
        for (int trial = 0; trial < check::trials(30); ++trial) {
            check::set_context("gap", gap, "trial", trial);
            const int p = 2 + trial % 3;
            // Enumeration on gaps of 1e-2 has the same cells, as long as no other hyperplane is as close.
            const GainProblem single = random_gains(random, p, 5, static_cast<NormalKind>(trial / 3 % 2));
            GainProblem merged{p, single.normals, single.gains};
            GainProblem apart{p, single.normals, single.gains};
            for (std::size_t j = 0; j < single.gains.size(); j += 2) {
                oracle::Vector a = single.normals[j];
                oracle::Vector shift(p);
                for (double& x : shift) x = normal(random);
                const double along = oracle::dot(shift, a);
                for (int l = 0; l < p; ++l) shift[l] -= along * a[l];
                const double length = std::sqrt(oracle::dot(shift, shift));
                for (int l = 0; l < p; ++l) a[l] = -a[l] + gap * shift[l] / length;
                apart.normals.push_back(a);
                apart.gains.push_back(1.0);
                merged.normals.push_back(single.normals[j]);
                for (double& x : merged.normals.back()) x = -x;
                merged.gains.push_back(1.0);
            }
            const double without = oracle::largest_gain(merged.normals, merged.gains, p);
            double all = 0.0;
            for (const double gain : apart.gains) all += gain;
            const Run run = search(apart);
            CHECK_AT_MOST(run.best, run.upper);
            CHECK_AT_MOST(run.upper, all);
            CHECK_AT_MOST(without, run.upper);
            CHECK_EQUAL(apart.gain_at(run.direction, 1e-11), run.best);
            if (gap >= 1e-4) {
                CHECK_EQUAL(run.upper, run.best);
                CHECK_EQUAL(run.best, oracle::largest_gain(apart.normals, apart.gains, p));
            } else {
                CHECK_AT_MOST(without, run.best);
            }
        }
    }
}

// The direction that is given has the gain that is given, however early the search ends.
TEST(nodes_run_out) {
    const auto attained = [](const auto& problem, double nodes, std::int64_t budget_nodes) {
        const Run run = search(problem, 0.0, nodes, budget_nodes);
        if (run.best >= 0.0) CHECK_EQUAL(problem.gain_at(run.direction, 1e-11), run.best);
        return run;
    };
    check_nodes_run_out(attained, 58, {30, 20, 10});
}
