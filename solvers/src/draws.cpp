#include "cudbound/draws.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "arrangement.hpp"
#include "relaxation.hpp"
#include "tree.hpp"

namespace cudbound {

namespace {

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void validate(const Problem& problem) {
    require(problem.n > 0 && problem.p > 0, "design must have at least one row and one column");
    require(problem.draws >= 0, "the number of draws must not be negative");
    require(problem.alpha >= 0.0, "alpha must be in [0, inf]");
    for (std::int64_t i = 0; i < problem.n; ++i) {
        require(std::abs(problem.labels[i]) == 1.0, "labels must be -1 or +1");
    }
    for (std::int64_t i = 0; i < problem.n * problem.p; ++i) {
        require(std::isfinite(problem.design[i]), "design must be finite");
    }
    for (std::int64_t k = 0; k < problem.p; ++k) require(std::isfinite(problem.anchor[k]), "anchor must be finite");
    for (std::int64_t i = 0; i < problem.draws * problem.n; ++i) {
        require(problem.counts[i] >= 0, "counts must not be negative");
        require(problem.weights == nullptr || std::isfinite(problem.weights[i]), "weights must be finite");
    }
    for (std::int64_t i = 0; i < problem.n; ++i) {
        require(problem.sample_weight == nullptr ||
                    (problem.sample_weight[i] >= 0.0 && std::isfinite(problem.sample_weight[i])),
                "sample_weight must be finite and not negative");
        require(problem.offset == nullptr || std::isfinite(problem.offset[i]), "offset must be finite");
    }
    if (problem.penalty != nullptr) {
        require(std::isfinite(problem.anchor_penalty), "anchor_penalty must be finite");
        for (std::int64_t k = 0; k < problem.p * problem.p; ++k) {
            require(std::isfinite(problem.penalty[k]), "penalty must be finite");
        }
    }
}

}  // namespace

void solve_draws(const Problem& problem, const Limits& limits, Side side, int threads, const Monitor& monitor,
                 const Results& results) {
    validate(problem);
    require(limits.nodes >= 0 && limits.seconds >= 0.0, "limits must not be negative");
    require(threads >= 1, "threads must be at least 1");
    const Arrangement arrangement = merge_rows(problem.n, problem.p, problem.design);

    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::exception_ptr monitor_failure;
    int working = static_cast<int>(std::min<std::int64_t>(threads, std::max<std::int64_t>(problem.draws, 1)));
    std::mutex mutex;
    std::condition_variable finished;

    const auto work = [&] {
        try {
            Tree tree(problem, arrangement, stop, limits);
            for (std::int64_t draw = next++; draw < problem.draws; draw = next++) {
                Outcome outcome;
                if (stop.load(std::memory_order_relaxed)) {
                    outcome = {0.0, std::numeric_limits<double>::infinity(), Status::INTERRUPTED, 0};
                    std::copy_n(problem.anchor, problem.p, results.witness + draw * problem.p);
                } else {
                    outcome = tree.solve(draw, side, results.witness + draw * problem.p);
                }
                results.lower[draw] = outcome.lower;
                results.upper[draw] = outcome.upper;
                results.status[draw] = static_cast<std::int32_t>(outcome.status);
                results.nodes[draw] = outcome.nodes;
                ++done;
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            stop = true;
        }
        const std::lock_guard lock(mutex);
        --working;
        finished.notify_one();
    };

    std::vector<std::jthread> pool;
    for (int t = working; t > 0; --t) pool.emplace_back(work);
    {
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return working == 0; })) {
            lock.unlock();
            try {
                if (monitor && !stop && !monitor(done)) stop = true;
            } catch (...) {
                stop = true;
                monitor_failure = std::current_exception();
            }
            lock.lock();
        }
    }
    pool.clear();
    if (failure) std::rethrow_exception(failure);
    if (monitor_failure) std::rethrow_exception(monitor_failure);
}

void minimise(const Problem& problem, const Minimisers& minimisers) {
    validate(problem);
    const Arrangement arrangement = merge_rows(problem.n, problem.p, problem.design);
    const auto relaxation = make_relaxation(problem, arrangement);
    const auto root = relaxation->make_node();
    for (std::int64_t draw = 0; draw < problem.draws; ++draw) {
        relaxation->set(draw);
        relaxation->start(*root);
        relaxation->to_beta(root->point.data(), minimisers.coef + draw * problem.p);
        minimisers.attained[draw] = relaxation->attained;
        minimisers.found[draw] = relaxation->found;
    }
}

}  // namespace cudbound
