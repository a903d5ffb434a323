#include "cudbound/draws.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <memory>

#include "control/parallel.hpp"
#include "control/requirements.hpp"
#include "cudbound/settings.hpp"
#include "losses/relaxation.hpp"
#include "problem/arrangement.hpp"
#include "schedule/schedule.hpp"

namespace cudbound {

namespace {

void require_size(const double* values, std::int64_t count, const char* message) {
    double largest = 0.0;
    for (std::int64_t k = 0; values != nullptr && k < count; ++k) largest = std::max(largest, std::abs(values[k]));
    require(largest == 0.0 || (largest >= Settings::least_size && largest <= Settings::most_size), message);
}

void validate(const Problem& problem) {
    const std::int64_t n = problem.n;
    const std::int64_t p = problem.p;
    const std::int64_t all = problem.draws * n;
    require(n > 0 && p > 0, "design must have at least one row and one column");
    require(problem.draws >= 0, "the number of draws must not be negative");
    require(problem.alpha >= 0.0, "alpha must be in [0, inf]");
    require(all_are(problem.labels, n, is_sign), "labels must be -1 or +1");
    require(all_are(problem.design, n * p, is_finite), "design must be finite");
    require(all_are(problem.anchor, p, is_finite), "anchor must be finite");
    require(all_are(problem.counts, all, [](auto count) { return count >= 0; }), "counts must not be negative");
    require(all_are(problem.weights, all, is_finite), "weights must be finite");
    require(all_are(problem.draw_scale, problem.draws, [](double x) { return x > 0.0 && std::isfinite(x); }),
            "draw_scale must be finite and positive");
    require(all_are(problem.sample_weight, n, is_strength), "sample_weight must be finite and not negative");
    require(all_are(problem.offset, n, is_finite), "offset must be finite");
    require(problem.l1 == nullptr || problem.loss == Loss::SQUARED || problem.loss == Loss::LOGISTIC,
            "l1 needs squared or logistic loss");
    require(all_are(problem.l1, problem.callers_p(), is_strength), "l1 must be finite and not negative");
    require(problem.penalty == nullptr || std::isfinite(problem.anchor_penalty), "anchor_penalty must be finite");
    require(all_are(problem.penalty, p * p, is_finite), "penalty must be finite");
    require_size(problem.design, n * p, "the largest absolute value of design must be 0 or in [1e-100, 1e100]");
    require_size(problem.anchor, p, "the largest absolute value of anchor must be 0 or in [1e-100, 1e100]");
    require_size(problem.weights, all, "the largest absolute value of weights must be 0 or in [1e-100, 1e100]");
    require_size(problem.sample_weight, n, "the largest sample_weight must be 0 or in [1e-100, 1e100]");
    require_size(problem.offset, n, "the largest absolute value of offset must be 0 or in [1e-100, 1e100]");
    require_size(problem.penalty, p * p, "the largest absolute value of penalty must be 0 or in [1e-100, 1e100]");
}

}  // namespace

void solve_draws(const Problem& problem, const Limits& limits, Side side, const Ranks& ranks, int threads,
                 const Monitor& monitor, const Results& results) {
    validate(problem);
    require(limits.nodes >= 0 && limits.seconds >= 0.0, "limits must not be negative");
    require(limits.total_nodes >= 0 && limits.total_seconds >= 0.0, "limits must not be negative");
    require(threads >= 1, "threads must be at least 1");
    for (std::int64_t k = 0; k < ranks.count; ++k) {
        require(ranks.values[k] >= (k > 0 ? ranks.values[k - 1] : 1) && ranks.values[k] <= problem.draws,
                "ranks must be in [1, draws] and ascending");
    }
    const auto begun = Budget::Clock::now();
    const Arrangement arrangement = merge_rows(problem);
    Schedule schedule(problem, limits, ranks, results);
    KeptDraws kept(problem.draws);

    std::atomic<bool> stop{false};
    std::atomic<bool> out_of_time{false};
    // Nothing may leave a thread before the others have met it at the barrier: they would wait for it forever.
    Failures of_workers(stop);

    const Vector<Task>* batch = nullptr;
    std::atomic<std::int64_t> next{0};
    const auto plan = [&]() noexcept {
        static const Vector<Task> nothing;
        next = 0;
        batch = &nothing;
        if (!stop && !out_of_time) of_workers.guard([&] { batch = &schedule.plan(); });
    };
    plan();
    const int working = useful_threads(threads, problem.draws);
    std::barrier together(working, plan);

    const auto work = [&] {
        std::unique_ptr<DrawSolver> solver;
        Vector<double> witness(problem.callers_p());
        const auto take_tasks = [&] {
            if (!solver) solver = std::make_unique<DrawSolver>(problem, arrangement, stop, limits, begun, kept);
            const auto size = static_cast<std::int64_t>(batch->size());
            for (std::int64_t k = next++; k < size; k = next++) {
                if (stop.load(std::memory_order_relaxed)) break;
                const Task& task = (*batch)[k];
                const Outcome outcome = solver->run(task.kind, task.draw, side, task.target, witness.data());
                schedule.record(task, outcome, witness.data());
            }
        };
        while (!batch->empty()) {
            of_workers.guard(take_tasks);
            const double elapsed = std::chrono::duration<double>(Budget::Clock::now() - begun).count();
            if (elapsed > limits.total_seconds) out_of_time = true;
            together.arrive_and_wait();
        }
    };
    Failures of_monitor(stop);  // what was found until then is still reported
    of_monitor.guard([&] { on_threads(working, monitor, stop, [&] { return schedule.decided(); }, work); });
    of_workers.rethrow();
    const bool timed = out_of_time || std::isfinite(limits.seconds);
    schedule.close(stop ? Status::INTERRUPTED : timed ? Status::TIME_LIMIT : Status::NODE_LIMIT);
    of_monitor.rethrow();
}

bool minimize(const Problem& problem, const Monitor& monitor, const Minimizers& minimizers) {
    validate(problem);
    const Arrangement arrangement = merge_rows(problem);
    const std::atomic<bool> never{false};
    Budget budget({}, never);
    const auto relaxation = make_relaxation(problem, arrangement, budget);
    const auto minimize_draw = [&](std::int64_t draw) {
        relaxation->set(draw);
        relaxation->to_beta(relaxation->root().point.data(), minimizers.coef + draw * problem.p);
        minimizers.attained[draw] = relaxation->has_minimizer;
        minimizers.found[draw] = relaxation->found;
    };
    return in_parallel(problem.draws, 1, monitor, [&] { return minimize_draw; });
}

}  // namespace cudbound
