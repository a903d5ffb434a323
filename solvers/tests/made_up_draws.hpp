// A solver that is made up: draws whose answers are known, and what a schedule does with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "instances.hpp"
#include "schedule/schedule.hpp"

namespace made_up {

using cudbound::Kind;
using cudbound::Limits;
using cudbound::Loss;
using cudbound::Outcome;
using cudbound::Status;
using cudbound::Task;

// What a search finds out about a draw. One that is stuck never leaves its bounds; the others take `nodes` nodes.
struct Draw {
    double value = 0.0;
    std::int64_t nodes = 1;
    bool stuck = false;
    double lower = 0.0;
    double upper = 0.5;
    double easy_from = 1.0;      // with such floors a search takes one node
    std::int64_t conflicts = 0;  // that each node takes as long as
    double dived = 0.0;          // the share of the value that dives find; if any, they take all their steps
};

struct Ended {
    std::vector<double> lower, upper;
    std::vector<std::int32_t> status;
    std::vector<std::int64_t> nodes;

    double smallest(std::vector<double> values, std::int64_t rank) const {
        std::sort(values.begin(), values.end());
        return values[static_cast<std::size_t>(rank - 1)];
    }
    std::int64_t count(Status which) const {
        return std::count(status.begin(), status.end(), static_cast<std::int32_t>(which));
    }
};

inline Outcome answer(const Draw& draw, const Task& task) {
    Outcome outcome;
    outcome.upper = 0.5;
    if (task.kind == Kind::start) return outcome;
    if (task.kind == Kind::dive) {
        outcome.lower = draw.dived * draw.value;
        if (draw.dived > 0.0) outcome.nodes = task.target.nodes;
        return outcome;
    }
    if (draw.stuck && task.kind == Kind::search)
        return {draw.lower, draw.upper, cudbound::End::inaccurate, Status::OPTIMAL, 1};
    const std::int64_t nodes = task.target.floor >= draw.easy_from ? 1 : draw.nodes;
    const std::int64_t possible = std::min(task.target.nodes, task.target.work / (1 + draw.conflicts));
    if (nodes > possible)
        return {0.0, 0.5, cudbound::End::at_limit, Status::NODE_LIMIT, possible, possible * draw.conflicts};
    outcome.nodes = nodes;
    outcome.charged = nodes * draw.conflicts;
    if (draw.value <= task.target.floor) {
        outcome.upper = task.target.floor;
    } else if (task.kind == Kind::bound) {
        outcome.end = cudbound::End::at_limit;
    } else if (draw.value > task.target.ceiling) {
        outcome.lower = draw.value;
        outcome.end = cudbound::End::above_ceiling;
    } else {
        outcome = {draw.value, draw.value, cudbound::End::exact, Status::OPTIMAL, nodes, outcome.charged};
    }
    return outcome;
}

struct Call {
    std::vector<std::int64_t> ranks;  // none: every draw
    Limits limits = {};
    Loss loss = Loss::SQUARED;
    int p = 1;                     // a node of the loss is dear with many
    const Ended* known = nullptr;  // to be continued
};

// The trivial upper bound of each draw is 0.5: of 4 rows, 2 are drawn twice and 2 never. `observe` is called with every
// batch and what is known before it.
template <class Observe>
Ended run(const std::vector<Draw>& draws, const Call& call, const Observe& observe) {
    Instance instance;
    instance.n = 4;
    instance.p = call.p;
    instance.draws = static_cast<int>(draws.size());
    instance.design.assign(static_cast<std::size_t>(4 * call.p), 1.0);
    instance.labels.assign(4, 1.0);
    instance.anchor.assign(static_cast<std::size_t>(call.p), 1.0);
    instance.loss = call.loss;
    instance.alpha = 1.0;
    for (std::size_t d = 0; d < draws.size(); ++d) {
        for (const int count : {2, 2, 0, 0}) instance.counts.push_back(count);
    }
    const auto problem = instance.view();
    Ended ended;
    if (call.known != nullptr) ended = *call.known;
    ended.lower.resize(draws.size());
    ended.upper.resize(draws.size());
    ended.status.resize(draws.size());
    ended.nodes.resize(draws.size());
    std::vector<double> witnesses(draws.size() * static_cast<std::size_t>(call.p));
    const std::vector<double> witness(static_cast<std::size_t>(call.p), 1.0);
    const cudbound::Ranks ranks{call.ranks.data(), static_cast<std::int64_t>(call.ranks.size()), call.known != nullptr};
    const cudbound::Results results{ended.lower.data(), ended.upper.data(), ended.status.data(), ended.nodes.data(),
                                    witnesses.data()};
    cudbound::Schedule schedule(problem, call.limits, ranks, results);
    for (int batches = 0; batches < 10000; ++batches) {
        const std::vector<Task> tasks = schedule.plan();
        observe(tasks, ended, schedule.decided());
        if (tasks.empty()) break;
        for (const Task& task : tasks)
            schedule.record(task, answer(draws[static_cast<std::size_t>(task.draw)], task), witness.data());
    }
    schedule.close(Status::NODE_LIMIT);
    return ended;
}

inline Ended run(const std::vector<Draw>& draws, std::int64_t rank, const Limits& limits = {}) {
    return run(draws, {{rank}, limits}, [](const auto&...) {});
}

inline std::vector<Draw> spread(int count) {
    std::vector<Draw> draws;
    for (int d = 0; d < count; ++d) draws.push_back({0.004 * (d + 1)});
    return draws;
}

}  // namespace made_up
