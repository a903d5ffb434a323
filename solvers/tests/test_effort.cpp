// The nodes that fixed problems take, and the numbers that are computed on the way. Most mistakes in a relaxation, a
// plan or an order of branching leave the answers right and change only these. The record says what was, not what is
// right: after a change of the solver that is meant to change it, renew it from the folder of the project by
//   CUDBOUND_RENEW=solvers/tests/recorded_effort.inc build/solvers/tests/test_effort
#include <bit>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "check.hpp"
#include "cudbound/fits.hpp"
#include "gain_searches.hpp"
#include "instances.hpp"
#include "losses/relaxation.hpp"
#include "losses/squared.hpp"
#include "made_up_draws.hpp"
#include "placed.hpp"
#include "search/draw_solver.hpp"
#include "search/gain_by_cones.hpp"
#include "search/gain_by_conflicts.hpp"

namespace {

using cudbound::Limits;
using cudbound::Loss;
using cudbound::Relaxation;
using cudbound::Side;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Nodes, the sum of the reported bounds, and a hash of the bits of all numbers.
struct Record {
    std::string name;
    std::int64_t nodes;
    double bounds;
    std::uint64_t bits;
};

// The last bits of exp and log are those of one C library, which looks for fused multiply-add.
#if defined(__x86_64__) && defined(__GLIBC__)
const bool has_bits = __builtin_cpu_supports("fma") != 0;
#else
constexpr bool has_bits = false;
#endif

const std::vector<Record> recorded = {
#include "recorded_effort.inc"
};

class Recorder {
 public:
    explicit Recorder(std::string name) : now_{std::move(name), 0, 0.0, 14695981039346656037U} {}
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void add(double value) {
        if (std::isnan(value)) value = infinity;  // a NaN has a sign and a payload, which do not count
        if (value == 0.0) value = 0.0;            // -0 too
        now_.bits = (now_.bits ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
        now_.bits ^= now_.bits >> 29U;
    }
    void add(const std::vector<double>& values) {
        for (const double value : values) add(value);
    }
    void add(std::int32_t status, std::int64_t nodes) {
        now_.nodes += nodes;
        add(static_cast<double>(status));
        add(static_cast<double>(nodes));
    }
    void add(const Answer& answer) {
        for (std::size_t d = 0; d < answer.nodes.size(); ++d) {
            now_.bounds += answer.lower[d] + answer.upper[d];
            add(static_cast<std::int32_t>(answer.status[d]), answer.nodes[d]);
        }
        add(answer.lower);
        add(answer.upper);
        add(answer.witness);
    }
    void add(const cudbound::Outcome& outcome) {
        now_.nodes += outcome.nodes;
        now_.bounds += outcome.lower + outcome.upper;
        add(static_cast<double>(outcome.nodes));
        add(static_cast<double>(outcome.charged));
        add(static_cast<double>(outcome.end));
        add(outcome.lower);
        add(outcome.upper);
    }

    // Checks, or renews the line.
    ~Recorder() {
        if (const char* const file = std::getenv("CUDBOUND_RENEW")) {
            static std::ofstream out(file);
            out << "{\"" << now_.name << "\", " << now_.nodes << ", " << check::text_of(now_.bounds) << ", "
                << now_.bits << "U},\n";
            return;
        }
        check::set_context(now_.name);
        for (const Record& before : recorded) {
            if (before.name != now_.name) continue;
            CHECK_NEAR(now_.bounds, before.bounds, 1e-9 * (1.0 + std::abs(before.bounds)));
            if (has_bits) {
                CHECK_EQUAL(now_.nodes, before.nodes);
                CHECK_EQUAL(now_.bits, before.bits);
            } else {  // other last bits change a node here and there
                CHECK_NEAR(static_cast<double>(now_.nodes), static_cast<double>(before.nodes),
                           2.0 + 0.02 * static_cast<double>(before.nodes));
            }
            return;
        }
        CHECK(false);  // nothing was recorded
    }

 private:
    Record now_;
};

constexpr const char* loss_names[] = {"squared", "logistic", "exponential", "squared hinge", "hinge", "huber"};

enum class Dress { plain, penalty, free_intercept, weights, offset, few_rows, raw, l1 };
constexpr Dress all_dresses[] = {Dress::plain,   Dress::penalty, Dress::free_intercept,
                                 Dress::weights, Dress::offset,  Dress::few_rows,
                                 Dress::raw,     Dress::l1};

bool exists(Loss loss, Dress dress) { return dress != Dress::l1 || loss == Loss::SQUARED || loss == Loss::LOGISTIC; }

Instance problem_of(Random& random, Loss loss, Dress dress, int trial, int draws) {
    const int p = 1 + trial % 4;
    const RowKind rows[] = {RowKind::general, RowKind::homogeneous, RowKind::integers, RowKind::repeated};
    const int n = 8 + (trial % 2 == 0 ? 2 : 5) * p + trial % 3;
    Instance instance = random_instance(random, n, p, rows[(trial / 2 + trial) % 4],
                                        trial % 3 == 0 ? LabelKind::clear : LabelKind::noise, draws);
    instance.loss = loss;
    const double rates[] = {static_cast<double>(n), 3.0, 200.0, 0.5, infinity};
    instance.alpha = rates[trial % 5];
    if (dress == Dress::penalty || dress == Dress::free_intercept || dress == Dress::raw) {
        std::vector<double> strengths(p, trial % 2 == 0 ? 0.02 : 0.5);
        if (dress == Dress::free_intercept) strengths[0] = 0.0;
        penalize(strengths, &instance);
    }
    if (dress == Dress::l1) instance.l1.assign(p, trial % 2 == 0 ? 0.02 : 0.3);
    for (int i = 0; i < n; ++i) {
        if (dress == Dress::weights) instance.sample_weight.push_back(0.5 * integer(random, 0, 3));
        if (dress == Dress::offset) instance.offset.push_back(normal(random));
    }
    for (int k = 0; k < n * draws && dress == Dress::weights; ++k) instance.weights.push_back(normal(random) / n);
    if (dress == Dress::few_rows) {
        for (std::size_t k = 0; k < instance.counts.size(); ++k) instance.counts[k] = k % n < 4 ? 1 + k % 3 : 0;
    }
    if (dress == Dress::raw) change_basis(random, &instance);
    return instance;
}

// Calls f(recorder, random, loss, dress) for each kind of problem; one record per loss.
template <class F>
void for_all_kinds(const char* what, const F& f) {
    for (const Loss loss : all_losses) {
        const auto which = static_cast<std::size_t>(loss);
        Recorder recorder(std::string(what) + ", " + loss_names[which]);
        Random random(1000 + which);
        for (const Dress dress : all_dresses) {
            if (exists(loss, dress)) f(recorder, random, loss, dress);
        }
    }
}

void record(Recorder& recorder, Random& random, Relaxation& relaxation, const cudbound::Arrangement& arrangement) {
    const auto& facts = relaxation;
    for (const double x : {facts.anchor_loss, facts.apex_loss, facts.apex_tolerance, facts.extent, facts.error,
                           facts.slack, facts.taken_off, facts.near_ties, facts.horizon(), facts.reach(2.0, 1.0)})
        recorder.add(x);
    recorder.add(facts.found + 2.0 * facts.has_minimizer + 4.0 * facts.certain);
    recorder.add(facts.anchor);
    recorder.add(facts.apex);
    recorder.add(relaxation.root().loss);
    recorder.add(relaxation.root().point);
    const int p = relaxation.p;
    recorder.add(arrangement.normals);
    recorder.add(arrangement.errors);
    std::vector<int> hyperplanes(arrangement.count);
    for (int h = 0; h < arrangement.count; ++h) hyperplanes[h] = h;
    std::vector<double> units(static_cast<std::size_t>(arrangement.count * p));
    std::vector<double> offsets(arrangement.count);
    std::vector<double> curvatures(arrangement.count);
    relaxation.place(hyperplanes, units.data(), offsets.data(), curvatures.data());
    recorder.add(units);
    recorder.add(offsets);
    recorder.add(curvatures);
    recorder.add(relaxation.certain);
    if (!relaxation.found) return;
    // down a path, as the tree does
    const auto node = relaxation.make_node();
    for (int path = 0; path < 4; ++path) {
        for (int h = 0; h < arrangement.count; ++h) {
            if (integer(random, 0, 1) == 0) continue;
            for (int l = 0; l < p; ++l) units[h * p + l] = -units[h * p + l];
            offsets[h] = -offsets[h];
        }
        const cudbound::Sides sides{p, units.data(), offsets.data(), 1e-10 * relaxation.extent};
        relaxation.copy(relaxation.root(), *node);
        std::vector<int> forced;
        for (int h = path; h < arrangement.count && forced.size() < 6; ++h) {
            const double side = sides.side(h, node->point.data());
            if (side >= -sides.tie) continue;
            recorder.add(relaxation.rise(*node, curvatures[h], -side, side - offsets[h]));
            recorder.add(relaxation.loss_at_point(*node));
            forced.push_back(h);
            const double limit = path < 2 ? infinity : relaxation.horizon();
            const auto settled = relaxation.settle(*node, sides, forced, limit);
            recorder.add(static_cast<double>(settled));
            if (settled != Relaxation::Settled::yes) break;
            recorder.add(node->loss);
            recorder.add(node->point);
            recorder.add(relaxation.confirm(*node, sides, forced, relaxation.horizon()));
        }
    }
}

}  // namespace

TEST(searches) {
    for_all_kinds("searches", [](Recorder& recorder, Random& random, Loss loss, Dress dress) {
        for (int trial = 0; trial < 10; ++trial) {
            const Instance instance = problem_of(random, loss, dress, trial, 2);
            recorder.add(solve(instance));
            if (trial % 2 == 0) recorder.add(solve(instance, {}, trial % 4 == 0 ? Side::POSITIVE : Side::NEGATIVE));
        }
    });
}

TEST(quantiles) {
    for_all_kinds("quantiles", [](Recorder& recorder, Random& random, Loss loss, Dress dress) {
        for (int trial = 0; trial < 3; ++trial) {
            const Instance instance = problem_of(random, loss, dress, trial, 12);
            Limits limits;
            recorder.add(solve_ranks(instance, {6, 11}, limits));
            limits.total_nodes = 60 + 150 * trial;
            recorder.add(solve_ranks(instance, {11}, limits));
            limits.nodes = 3;
            const Answer known = solve_ranks(instance, {11}, limits);
            recorder.add(known);
            recorder.add(solve_ranks(instance, {11}, {}, Side::BOTH, 1, &known));
        }
    });
}

TEST(relaxations) {
    for_all_kinds("relaxations", [](Recorder& recorder, Random& random, Loss loss, Dress dress) {
        for (int trial = 0; trial < 8; ++trial) {
            const Instance instance = problem_of(random, loss, dress, trial, 2);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            const auto relaxation = cudbound::make_relaxation(problem, arrangement, unlimited_budget());
            for (int d = 0; d < 2; ++d) {
                relaxation->set(d);
                record(recorder, random, *relaxation, arrangement);
            }
            std::vector<double> coef(static_cast<std::size_t>(2 * instance.p));
            bool attained[2] = {};
            bool found[2] = {};
            recorder.add(cudbound::minimize(problem, {}, {coef.data(), attained, found}));
            recorder.add(coef);
            for (const bool one : {attained[0], attained[1], found[0], found[1]}) recorder.add(one);
        }
    });
}

// The quadratic below a loss, and the model of one.
TEST(quadratics) {
    for_all_kinds("quadratics", [](Recorder& recorder, Random& random, Loss loss, Dress dress) {
        for (int trial = 0; trial < 8; ++trial) {
            const Instance instance = problem_of(random, loss, dress, trial, 2);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            recorder.add(cudbound::has_minorant(problem));
            cudbound::KeptDraws kept(2);
            const auto of_loss = cudbound::make_relaxation(problem, arrangement, unlimited_budget());
            const bool smooth = loss != Loss::SQUARED && loss != Loss::HINGE;
            for (int d = 0; d < 2; ++d) {
                of_loss->set(d);
                if (smooth) {
                    const auto model = cudbound::make_model(problem, arrangement, *of_loss, unlimited_budget());
                    model->set(d);
                    recorder.add(model->found);
                    if (model->found) record(recorder, random, *model, arrangement);
                }
                if (!cudbound::has_minorant(problem)) continue;
                const auto below = cudbound::make_minorant(problem, arrangement, kept, unlimited_budget());
                below->set(d);
                const cudbound::Ball::Quadratic& quadratic = *kept[d].quadratic;
                recorder.add(quadratic.exists);
                if (!quadratic.exists) continue;
                recorder.add(quadratic.gram);
                recorder.add(quadratic.center);
                recorder.add(quadratic.least);
                recorder.add(quadratic.anchor_rise);
                if (below->found) record(recorder, random, *below, arrangement);
            }
        }
    });
}

TEST(tasks) {
    const std::atomic<bool> stop{false};
    for_all_kinds("tasks", [&](Recorder& recorder, Random& random, Loss loss, Dress dress) {
        for (int trial = 0; trial < 5; ++trial) {
            const Instance instance = problem_of(random, loss, dress, trial, 2);
            const auto problem = instance.view();
            const auto arrangement = cudbound::merge_rows(problem);
            cudbound::KeptDraws kept(2);
            cudbound::DrawSolver solver(problem, arrangement, stop, {}, cudbound::Budget::Clock::now(), kept);
            std::vector<double> witness(static_cast<std::size_t>(instance.width()));
            const bool smooth = loss != Loss::SQUARED && loss != Loss::HINGE;
            for (int d = 0; d < 2; ++d) {
                const auto start = solver.start(d, Side::BOTH, witness.data());
                recorder.add(start);
                recorder.add(witness);
                recorder.add(solver.dive(d, Side::BOTH, 3, false, witness.data()));
                recorder.add(witness);
                if (smooth) recorder.add(solver.dive(d, Side::BOTH, 20, true, witness.data()));
                recorder.add(witness);
                for (const double share : {0.3, 0.7}) {
                    const double floor = start.lower + share * (start.upper - start.lower);
                    recorder.add(solver.search(d, Side::BOTH, {floor, floor, 50, 60}, witness.data()));
                    recorder.add(witness);
                    if (cudbound::has_minorant(problem))
                        recorder.add(solver.bound(d, Side::BOTH, {floor, floor, 50, 60}));
                }
            }
        }
    });
}

// Few dimensions and many hyperplanes, some of which share flats: cones of directions.
TEST(cones) {
    for (const int p : {2, 3, 4}) {
        Recorder recorder("cones, p = " + std::to_string(p));
        Random random(2000 + p);
        const RowKind rows[] = {RowKind::general, RowKind::homogeneous, RowKind::repeated, RowKind::integers};
        for (int trial = 0; trial < 16; ++trial) {
            const int n = p == 4 ? 40 : 120;
            Instance instance =
                random_instance(random, n, p, rows[trial % 4], trial % 3 == 0 ? LabelKind::clear : LabelKind::noise);
            const double rates[] = {static_cast<double>(n), 1.0, 6.0};
            instance.alpha = rates[trial % 3];
            if (trial % 5 == 0) penalize(std::vector<double>(p, 0.1), &instance);
            recorder.add(solve(instance));
            recorder.add(solve(instance, {50 + 10 * trial, infinity}));
        }
    }
}

// The work on a cone, in products: what is missing from a full node is charged until the node is full.
TEST(open_cones) {
    Recorder recorder("open cones");
    Random random(2400);
    for (int trial = 0; trial < 300; ++trial) {
        const int p = 1 + trial % 6;
        const GainProblem problem = random_gains(random, p, 2 + trial / 15, static_cast<NormalKind>(trial / 6 % 3));
        const Hyperplanes hyperplanes = problem.hyperplanes();
        cudbound::OpenCone cone(hyperplanes.arrangement);
        gain_searches::Begun budget;
        cone.charge_to(*budget);
        std::vector<int> members;
        for (int j = 0; j < static_cast<int>(problem.gains.size()); ++j) {
            if (integer(random, 0, 3) > 0) members.push_back(j);
        }
        const auto answer = cone.find(hyperplanes.normals(), members);
        recorder.add(static_cast<double>(answer));
        for (const int j : cone.conflict()) recorder.add(j);
        if (answer == cudbound::OpenCone::Answer::open) recorder.add({cone.interior(), cone.interior() + p});
        std::int64_t missing = 0;
        for (const auto full = (*budget).charged(); (*budget).charged() == full; ++missing) (*budget).charge(1);
        recorder.add(0, (*budget).charged() * cudbound::Settings::products_per_node - missing);
    }
}

// Of hyperplanes in general position, of those with entries -1, 0, 1, and of pencils.
TEST(best_cells) {
    for (const bool by_cones : {true, false}) {
        Recorder recorder(std::string("best cells by ") + (by_cones ? "cones" : "conflicts"));
        Random random(2500);
        const auto keep = [&](auto&& search, const auto& hyperplanes, const GainProblem& problem, double enough,
                              std::int64_t most) {
            gain_searches::Begun budget(most);
            search.search(hyperplanes.central(problem.gains), enough, infinity, *budget);
            recorder.add(search.best());
            recorder.add(search.upper());
            recorder.add(search.direction());
            recorder.add(0, (*budget).nodes());
        };
        for (int trial = 0; trial < 90; ++trial) {
            const int p = 1 + trial % 5;
            GainProblem problem = random_gains(random, p, 6 + trial / 5, static_cast<NormalKind>(trial / 5 % 3));
            if (trial % 3 == 0 && p > 1) {  // a thin cell
                oracle::Vector turned = problem.normals[0];
                for (double& x : turned) x = -x;
                turned[0] += std::pow(10.0, -integer(random, 3, 15));
                problem.normals.push_back(oracle::unit(turned));
                problem.rows.push_back(turned);
                problem.gains.push_back(1.0);
            }
            const Hyperplanes hyperplanes = problem.hyperplanes();
            const double enough = trial % 4 == 0 ? 3.0 : 0.0;
            const std::int64_t most = trial % 6 == 0 ? 20 : gain_searches::no_limit;
            if (by_cones) {
                keep(cudbound::GainByCones(hyperplanes.arrangement, p, hyperplanes.exact()), hyperplanes, problem,
                     enough, most);
            } else {
                keep(cudbound::GainByConflicts(hyperplanes.arrangement), hyperplanes, problem, enough, most);
            }
        }
    }
}

// What a schedule asks for, of draws that are easy, hard, stuck or full of conflicts.
TEST(plans) {
    for (const int p : {1, 13, 20}) {
        for (const Loss loss : {Loss::SQUARED, Loss::LOGISTIC}) {
            Recorder recorder("plans, p = " + std::to_string(p) + ", " + loss_names[static_cast<std::size_t>(loss)]);
            Random random(3000 + p);
            for (int trial = 0; trial < 60; ++trial) {
                std::vector<made_up::Draw> draws(static_cast<std::size_t>(integer(random, 20, 90)));
                for (auto& draw : draws) {
                    draw.value = 0.005 * integer(random, 0, 100);
                    draw.nodes = static_cast<std::int64_t>(std::exp(integer(random, 0, 3 + trial % 9)));
                    draw.stuck = integer(random, 0, 20) == 0;
                    draw.lower = draw.value * 0.5;
                    draw.upper = std::min(0.5, draw.value + 0.1);
                    draw.easy_from = draw.value + 0.02 * integer(random, 0, 10);
                    draw.conflicts = integer(random, 0, 3);
                    draw.dived = trial % 3 == 0 ? 0.1 * integer(random, 0, 9) : 0.0;
                }
                const auto most = static_cast<std::int64_t>(draws.size());
                made_up::Call call{{most / 2, most - 3}, {}, loss, p};
                if (trial % 7 == 0) call.ranks.clear();
                if (trial % 4 != 0) call.limits.total_nodes = std::int64_t{1} << integer(random, 7, 21);
                if (trial % 5 == 0) call.limits.nodes = std::int64_t{1} << integer(random, 0, 15);
                const auto note = [&](const auto& tasks, const auto& known, std::int64_t decided) {
                    recorder.add(static_cast<double>(tasks.size()));
                    recorder.add(static_cast<double>(decided));
                    recorder.add(known.lower);
                    recorder.add(known.upper);
                    for (const auto& task : tasks) {
                        const auto& target = task.target;
                        for (const double x : {static_cast<double>(task.kind), static_cast<double>(task.draw),
                                               target.floor, target.ceiling, static_cast<double>(target.nodes),
                                               static_cast<double>(target.work), target.with_model ? 1.0 : 0.0})
                            recorder.add(x);
                    }
                };
                const auto keep = [&](const made_up::Ended& ended) {
                    for (std::size_t d = 0; d < draws.size(); ++d) recorder.add(ended.status[d], ended.nodes[d]);
                };
                const auto ended = made_up::run(draws, call, note);
                keep(ended);
                call.known = &ended;
                keep(made_up::run(draws, call, note));
            }
        }
    }
}

// Batched fits, of few columns and of many, mapped or not, with one penalty or several.
TEST(refits) {
    for (const Loss loss : all_losses) {
        if (loss == Loss::HINGE) continue;
        Recorder recorder(std::string("refits, ") + loss_names[static_cast<std::size_t>(loss)]);
        Random random(4000);
        for (int trial = 0; trial < 12; ++trial) {
            constexpr int n = 24;
            constexpr int count = 4;
            const int p = trial % 2 == 0 ? 2 : 27;
            const auto entries = static_cast<std::size_t>(count * p);
            std::vector<double> rows(static_cast<std::size_t>(n * p));
            for (double& x : rows) x = trial % 4 < 2 ? normal(random) : integer(random, -1, 1);
            std::vector<double> labels(n);
            for (int i = 0; i < n; ++i) {  // wrong for some rows that are far out
                double& first = rows[static_cast<std::size_t>(i * p)];
                labels[i] = (first > 0.0) == (i % 8 > 0) ? 1.0 : -1.0;
                first *= i % 8 == 0 ? 2.0 : 0.2;
            }
            std::vector<double> weights(static_cast<std::size_t>(count * n));
            for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = integer(random, 0, k % 8 == 0 ? 1 : 5);
            cudbound::Fits fits;
            fits.intercept = trial % 3 != 0;
            std::vector<double> penalty(static_cast<std::size_t>(count) * (entries / count + fits.intercept), 0.02);
            if (trial >= 6) {
                for (double& x : penalty) x = 0.01 * integer(random, 0, 9);
            }
            std::vector<double> shift(entries);
            std::vector<double> scale(entries);
            for (double& x : shift) x = normal(random);
            for (double& x : scale) x = integer(random, 0, 3);
            fits.n = n;
            fits.p = p;
            fits.fits = count;
            fits.rows = rows.data();
            if (trial % 5 > 2) fits.shift = shift.data();
            if (trial % 5 > 1) fits.scale = scale.data();
            fits.labels = labels.data();
            fits.weights = weights.data();
            fits.penalty = penalty.data();
            fits.loss = loss;
            std::vector<double> scores(weights.size());
            std::vector<double> doubt(weights.size());
            bool found[count] = {};
            cudbound::fit_all(fits, 1, {}, {scores.data(), doubt.data(), found});
            recorder.add(scores);
            recorder.add(doubt);
            for (const bool one : found) recorder.add(one);
        }
    }
}
