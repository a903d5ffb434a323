// The nodes and time left to a search, and whether it has been told to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>

#include "cudbound/draws.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

class Budget {
 public:
    using Clock = std::chrono::steady_clock;

    Budget(const Limits& limits, const std::atomic<bool>& stop, Clock::time_point begun = Clock::now())
        : limits_(limits), stop_(stop), deadline_(after(begun, limits.total_seconds)) {}

    // A new search of at most `nodes` nodes, and of no more than `work` with what is charged.
    void start(std::int64_t nodes = unlimited, std::int64_t work = unlimited) {
        nodes_ = 0;
        products_ = 0;
        allowed_ = std::min(limits_.nodes, nodes);
        work_ = work;
        status_ = Status::OPTIMAL;
        timed_ = std::isfinite(limits_.seconds) || deadline_ != Clock::time_point::max();
        until_ = std::isfinite(limits_.seconds) ? std::min(deadline_, after(Clock::now(), limits_.seconds)) : deadline_;
    }

    // Counts one node. Returns false when the search has to end; status() then says why.
    bool spend() {
        if (status_ == Status::OPTIMAL && (nodes_ >= allowed_ || nodes_ + charged() >= work_))
            status_ = Status::NODE_LIMIT;
        if (!go_on()) return false;
        ++nodes_;
        return true;
    }

    // Counts work beside the nodes.
    void charge(std::int64_t products) { products_ += products; }

    // Within a node, wherever it can take long: whether the search may continue.
    bool go_on() {
        if (status_ != Status::OPTIMAL) return false;
        if (stop_.load(std::memory_order_relaxed)) {
            status_ = Status::INTERRUPTED;
        } else if (timed_ && ++looks_ % Effort::looks_per_clock == 0 && Clock::now() > until_) {
            status_ = Status::TIME_LIMIT;
        }
        return status_ == Status::OPTIMAL;
    }

    // Ends the search for a reason given by the caller.
    void finish(Status status) {
        if (status_ == Status::OPTIMAL) status_ = status;
    }

    bool exhausted() const { return status_ != Status::OPTIMAL; }
    Status status() const { return status_; }
    std::int64_t nodes() const { return nodes_; }
    // The nodes that would take as long.
    std::int64_t charged() const { return products_ / Settings::products_per_node; }

 private:
    static Clock::time_point after(Clock::time_point begun, double seconds) {
        if (!(seconds < Effort::longest_wait)) return Clock::time_point::max();
        return begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    const Limits limits_;
    const std::atomic<bool>& stop_;
    const Clock::time_point deadline_;
    Clock::time_point until_ = Clock::time_point::max();
    bool timed_ = false;
    unsigned looks_ = 0;
    std::int64_t allowed_ = 0;
    std::int64_t nodes_ = 0;
    std::int64_t work_ = 0;
    std::int64_t products_ = 0;
    Status status_ = Status::OPTIMAL;
};

}  // namespace cudbound
