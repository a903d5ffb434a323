// A loop over independent pieces of work on several threads, which the caller can stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cudbound/draws.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

// Calls work(k) for k = 0 .. count - 1, where `make_worker()` returns the `work` of one thread. The monitor is asked on
// the calling thread. Returns false if it stopped the loop; exceptions of workers and of the monitor are passed on.
template <class MakeWorker>
bool in_parallel(std::int64_t count, int threads, const Monitor& monitor, const MakeWorker& make_worker) {
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    int working = static_cast<int>(std::min<std::int64_t>(threads, std::max<std::int64_t>(count, 1)));
    std::mutex mutex;
    std::condition_variable finished;

    const auto run = [&] {
        try {
            auto work = make_worker();
            for (std::int64_t k = next++; k < count && !stop.load(std::memory_order_relaxed); k = next++) {
                work(k);
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

    {
        std::vector<std::jthread> pool;
        for (int t = working; t > 0; --t) pool.emplace_back(run);
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(Effort::monitor_milliseconds),
                                  [&] { return working == 0; })) {
            lock.unlock();
            try {
                if (monitor && !stop && !monitor(done)) stop = true;
            } catch (...) {
                const std::lock_guard again(mutex);
                failure = std::current_exception();
                stop = true;
            }
            lock.lock();
        }
    }
    if (failure) std::rethrow_exception(failure);
    return done == count;
}

}  // namespace cudbound
