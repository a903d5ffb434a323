// A loop over independent pieces of work on several threads, which the caller can stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cudbound/draws.hpp"
#include "cudbound/settings.hpp"

namespace cudbound {

// Threads that are waited for at the end of the block, also when an exception leaves it. std::jthread does the same,
// but the C++ library of Apple's compilers has it behind a flag until Xcode 26.
struct JoinedThreads {
    std::vector<std::thread> threads;
    ~JoinedThreads() {
        for (std::thread& thread : threads) thread.join();
    }
};

// Keeps what is thrown on any of several threads, and tells all of them to stop.
class Failures {
 public:
    explicit Failures(std::atomic<bool>& stop) : stop_(stop) {}

    template <class Call>
    void guard(const Call& call) noexcept {
        try {
            call();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            last_ = std::current_exception();
            stop_ = true;
        }
    }
    void rethrow() const {
        if (last_) std::rethrow_exception(last_);
    }

 private:
    std::atomic<bool>& stop_;
    std::mutex mutex_;
    std::exception_ptr last_;
};

// Calls `work()` on each of `threads` threads, and on the calling thread asks the monitor from time to time, with
// `done()`, whether to go on; if not, or if one of them throws, `stop` becomes true, which the work must look at. An
// exception of a worker or of the monitor is passed on after all threads have ended.
template <class Work, class Done>
void on_threads(int threads, const Monitor& monitor, std::atomic<bool>& stop, const Done& done, const Work& work) {
    Failures failures(stop);
    int working = threads;
    std::mutex mutex;
    std::condition_variable finished;
    const auto run = [&] {
        failures.guard(work);
        const std::lock_guard lock(mutex);
        --working;
        finished.notify_one();
    };
    {
        JoinedThreads pool;
        for (int t = 0; t < threads; ++t) pool.threads.emplace_back(run);
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(Effort::monitor_milliseconds),
                                  [&] { return working == 0; })) {
            lock.unlock();
            failures.guard([&] {
                if (monitor && !stop && !monitor(done())) stop = true;
            });
            lock.lock();
        }
    }
    failures.rethrow();
}

// At most as many threads as there are pieces of work, and at least one.
inline int useful_threads(int threads, std::int64_t pieces) {
    return static_cast<int>(std::min<std::int64_t>(threads, std::max<std::int64_t>(pieces, 1)));
}

// Calls work(k) for k = 0 .. count - 1, where `make_worker()` returns the `work` of one thread. Returns false if the
// monitor stopped the loop.
template <class MakeWorker>
bool in_parallel(std::int64_t count, int threads, const Monitor& monitor, const MakeWorker& make_worker) {
    if (count == 1) {  // to start a thread takes longer than many a piece, which nothing stops in between
        make_worker()(0);
        return true;
    }
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> stop{false};
    on_threads(
        useful_threads(threads, count), monitor, stop, [&] { return done.load(); },
        [&] {
            auto work = make_worker();
            for (std::int64_t k = next++; k < count && !stop.load(std::memory_order_relaxed); k = next++) {
                work(k);
                ++done;
            }
        });
    return done == count;
}

}  // namespace cudbound
