// What a search may still spend, and whether it has been told to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "cudbound/draws.hpp"

namespace cudbound {

class Budget {
 public:
    Budget(const Limits& limits, const std::atomic<bool>& stop) : limits_(limits), stop_(stop) {}

    void start() {
        nodes_ = 0;
        status_ = Status::OPTIMAL;
        if (limits_.seconds < std::numeric_limits<double>::infinity()) begun_ = Clock::now();
    }

    // Counts one node. Returns false when the search has to end; status() then says why.
    bool spend() {
        if (status_ != Status::OPTIMAL) return false;
        if (nodes_ >= limits_.nodes) {
            status_ = Status::NODE_LIMIT;
        } else if (stop_.load(std::memory_order_relaxed)) {
            status_ = Status::INTERRUPTED;
        } else if (nodes_ % 64 == 0 && limits_.seconds < std::numeric_limits<double>::infinity() &&
                   std::chrono::duration<double>(Clock::now() - begun_).count() > limits_.seconds) {
            status_ = Status::TIME_LIMIT;
        } else {
            ++nodes_;
            return true;
        }
        return false;
    }

    bool exhausted() const { return status_ != Status::OPTIMAL; }
    Status status() const { return status_; }
    std::int64_t nodes() const { return nodes_; }

 private:
    using Clock = std::chrono::steady_clock;

    const Limits& limits_;
    const std::atomic<bool>& stop_;
    std::int64_t nodes_ = 0;
    Status status_ = Status::OPTIMAL;
    Clock::time_point begun_{};
};

}  // namespace cudbound
