// Best cells of one sign of a draw under squared loss, by cones with their apex at beta = 0.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "check.hpp"
#include "instances.hpp"
#include "losses/relaxation.hpp"
#include "oracles.hpp"
#include "placed.hpp"
#include "problem/arrangement.hpp"
#include "search/cone_search.hpp"
#include "search/gain_by_cones.hpp"

namespace {

using namespace cudbound;

struct Run {
    double value = 0.0;  // in units of 1 / n
    double upper = 0.0;
    bool exhausted = false;
};

// The first draw of an instance for one sign, told what beta = 0 is worth and nothing else.
class SignedSearch {
 public:
    SignedSearch(const Instance& instance, double sign)
        : problem_(instance.view()),
          arrangement_(merge_rows(problem_)),
          relaxation_(make_relaxation(problem_, arrangement_, unlimited_budget())),
          p_(instance.p) {
        std::vector<double> weights(instance.n);
        for (int i = 0; i < instance.n; ++i) weights[i] = instance.counts[i] - 1.0;
        SideScores scores;
        scores.tally(arrangement_, problem_.labels, weights.data());
        relaxation_->set(0);
        settled_ = sign * scores.fixed;
        std::vector<double> unit(p_);
        for (int h = 0; h < arrangement_.count; ++h) {
            const double gain = sign * (scores.positive(h) - scores.negative(h));
            settled_ += std::min(sign * scores.positive(h), sign * scores.negative(h));
            if (gain == 0.0) continue;
            const double* normal = &arrangement_.normals[static_cast<std::size_t>(h) * p_];
            const double turn = gain > 0.0 ? 1.0 : -1.0;
            double offset = 0.0;
            CHECK_EQUAL(place(*relaxation_, h, unit.data(), &offset), 1.0);
            for (int l = 0; l < p_; ++l) {
                normals_.push_back(turn * unit[l]);
                in_beta_.push_back(turn * normal[l]);
            }
            arranged_.push_back(h);
            distances_.push_back(turn * offset);
            gains_.push_back(std::abs(gain));
        }
        const std::atomic<bool> stop{false};
        const Limits limits;
        Budget budget(limits, stop);
        budget.start();
        GainByCones cones(arrangement_, p_, std::make_shared<ExactRank>(arrangement_.exact_rows()));
        cones.search({p_, static_cast<int>(gains_.size()), in_beta_.data(), gains_.data(),
                      cudbound::Settings::cone_rounding, arranged_.data()},
                     -1.0, std::numeric_limits<double>::infinity(), budget);
        CHECK_EQUAL(cones.best(), cones.upper());
        cap_ = settled_ + std::max(0.0, cones.best());
    }

    Run run(std::int64_t nodes = std::numeric_limits<std::int64_t>::max()) const {
        const std::atomic<bool> stop{false};
        Limits limits;
        limits.nodes = nodes;
        Budget budget(limits, stop);
        budget.start();
        SignedDraw draw;
        draw.hyperplanes = {p_, static_cast<int>(gains_.size()), normals_.data(), gains_.data(), 1e-10};
        draw.in_beta = {in_beta_.data(), arranged_.data()};
        draw.distances = distances_.data();
        draw.fixed_score = settled_;
        draw.cap = cap_;
        draw.tie = 1e-10 * relaxation_->extent;
        draw.relaxation = relaxation_.get();
        const double incumbent =
            std::max(0.0, cap_ * relaxation_->g(relaxation_->apex_loss - relaxation_->apex_tolerance));
        ConeSearch search(arrangement_);
        search.search(draw, incumbent, budget);
        if (search.improved()) check_attained(search);
        if (!search.improved()) CHECK_EQUAL(search.best(), incumbent);
        const double n = static_cast<double>(problem_.n);
        return {search.best() / n, std::max(search.best(), search.open_bound()) / n, budget.exhausted()};
    }

 private:
    // The cell next to the point has the score, and the value is the score times g there.
    void check_attained(const ConeSearch& search) const {
        double score = settled_;
        oracle::Rows tight;
        for (std::size_t j = 0; j < gains_.size(); ++j) {
            const oracle::Vector normal(normals_.begin() + static_cast<std::ptrdiff_t>(j * p_),
                                        normals_.begin() + static_cast<std::ptrdiff_t>((j + 1) * p_));
            const double side = oracle::dot(normal, search.point()) + distances_[j];
            const auto& sides = search.sides();
            if (std::find(sides.begin(), sides.end(), static_cast<int>(j)) != sides.end()) {
                CHECK_NEAR(side, 0.0, 1e-9 * relaxation_->extent);
                tight.push_back(normal);
                score += gains_[j];
            } else if (side > 1e-10 * relaxation_->extent) {
                score += gains_[j];
            }
        }
        CHECK_NEAR(score, search.score(), 1e-12);
        CHECK_NEAR(search.best(), score * relaxation_->g(oracle::dot(search.point(), search.point())), 1e-9);
        if (!tight.empty() && tight.size() < 8) CHECK(oracle::is_open_cone(tight, p_));
    }

    Problem problem_;
    Arrangement arrangement_;
    std::unique_ptr<Relaxation> relaxation_;
    int p_;
    std::vector<double> normals_, in_beta_, distances_, gains_;
    std::vector<int> arranged_;
    double settled_ = 0.0;
    double cap_ = 0.0;
};

// Rows drawn span R^p, so that no direction is flat.
bool is_curved(const Instance& instance) {
    const Problem problem = instance.view();
    const Arrangement arrangement = merge_rows(problem);
    const auto relaxation = make_relaxation(problem, arrangement, unlimited_budget());
    relaxation->set(0);
    std::vector<double> unit(instance.p);
    double offset = 0.0;
    for (int h = 0; h < arrangement.count; ++h) {
        if (place(*relaxation, h, unit.data(), &offset) != 1.0) return false;
    }
    return true;
}

}  // namespace

// All cells, and the minimum of the loss over each.
TEST(random_against_enumeration) {
    Random random(121);
    int compared = 0;
    const int sizes[] = {14, 14, 11, 9};
    for (int trial = 0; trial < check::trials(600); ++trial) {
        const int p = 1 + trial % 4;
        const auto rows = static_cast<RowKind>(trial / 4 % 4);
        const auto labels = static_cast<LabelKind>(trial / 16 % 2);
        const int n = integer(random, p + 2, sizes[p - 1]);
        Instance instance = random_instance(random, n, p, rows, labels);
        instance.alpha *= trial / 32 % 2 == 0 ? 1.0 : 0.2;
        if (!is_curved(instance)) continue;
        check::set_context("trial", trial, "p", p, "rows", static_cast<int>(rows));
        ++compared;
        const oracle::Values expected = oracle::enumerate_cells(instance.view(), 0);
        for (const double sign : {1.0, -1.0}) {
            const Run run = SignedSearch(instance, sign).run();
            CHECK_NEAR(run.value, sign > 0.0 ? expected.positive : expected.negative, 1e-9);
            CHECK_EQUAL(run.upper, run.value);
        }
    }
    check::set_context("draws compared");
    CHECK_AT_MOST(check::share_of(300), compared);
}

// As large as draws are where cones are used: the solver as a whole judges, which takes the tree for its small ones.
TEST(random_against_the_tree) {
    Random random(122);
    const int sizes[] = {60, 60, 50, 35};
    for (int trial = 0; trial < check::trials(80); ++trial) {
        const int p = 2 + trial % 4;
        const auto rows = static_cast<RowKind>(trial / 4 % 4);
        const Instance instance =
            random_instance(random, sizes[p - 2], p, rows, static_cast<LabelKind>(trial / 16 % 2));
        if (!is_curved(instance)) continue;
        check::set_context("trial", trial, "p", p, "rows", static_cast<int>(rows));
        for (const double sign : {1.0, -1.0}) {
            const Answer tree = solve(instance, {}, sign > 0.0 ? Side::POSITIVE : Side::NEGATIVE);
            const Run run = SignedSearch(instance, sign).run();
            CHECK(tree.status[0] == Status::OPTIMAL);
            CHECK_NEAR(run.value, tree.lower[0], 1e-9);
            CHECK_EQUAL(run.upper, run.value);
        }
    }
}

// Draws that cones take over at once, or from a tree that has drowned: witnesses are in cells that are worth the value.
TEST(inside_the_solver) {
    Random random(123);
    for (const int p : {2, 3}) {
        const Instance instance = random_instance(random, 300, p, RowKind::general, LabelKind::noise, 6);
        const Answer answer = solve(instance);
        for (int d = 0; d < instance.draws; ++d) {
            check::set_context("p", p, "draw", d);
            CHECK(answer.status[d] == Status::OPTIMAL);
            const double* witness = &answer.witness[static_cast<std::size_t>(d) * p];
            const Problem problem = instance.view();
            const double excess = oracle::loss(problem, d, witness) - oracle::anchor_loss(problem, d);
            const double value = std::abs(oracle::score(problem, d, witness)) * oracle::g(problem.alpha, excess);
            CHECK_NEAR(value, answer.lower[d], 1e-6);
            CHECK_EQUAL(answer.lower[d], answer.upper[d]);
        }
    }
}

// What a limit leaves open is in the upper bound.
TEST(nodes_run_out) {
    Random random(124);
    int open = 0;
    for (int trial = 0; trial < check::trials(12); ++trial) {
        const int p = 2 + trial % 3;
        const Instance instance = random_instance(random, 60, p, RowKind::general, LabelKind::noise);
        for (const double sign : {1.0, -1.0}) {
            const SignedSearch search(instance, sign);
            const Run whole = search.run();
            for (const int nodes : {0, 1, 3, 10, 30, 100, 300}) {
                check::set_context("trial", trial, "sign", sign, "nodes", nodes);
                const Run run = search.run(nodes);
                CHECK_AT_MOST(run.value, whole.value + 1e-12);
                CHECK_AT_MOST(whole.value, run.upper + 1e-12);
                if (run.upper > run.value) {
                    ++open;
                    CHECK(run.exhausted);
                }
            }
        }
    }
    check::set_context("searches that did not end");
    CHECK_AT_MOST(check::share_of(20), open);
}
