// One draw at a time: what a thread needs to answer what is asked about its draws.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "apex_gain.hpp"
#include "budget.hpp"
#include "draw_view.hpp"
#include "incumbent.hpp"
#include "signed_search.hpp"
#include "witness.hpp"

namespace cudbound {

// What is proved about one draw.
struct Outcome {
    double lower = 0.0;
    double upper = 0.0;
    Status status = Status::OPTIMAL;
    std::int64_t nodes = 0;
};

// What a search is to find out, in the units of Q.
struct Target {
    double floor = 0.0;                                             // values up to this are all the same
    double ceiling = std::numeric_limits<double>::infinity();       // the first value above it is enough
    std::int64_t nodes = std::numeric_limits<std::int64_t>::max();  // that may be spent
};

enum class Kind { start, dive, search };

// Each call writes coefficients worth `lower` to `witness`.
class DrawSolver {
 public:
    DrawSolver(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
               const Limits& limits, Budget::Clock::time_point begun);

    Outcome run(Kind kind, std::int64_t draw, Side side, const Target& target, double* witness);

    // No tree: the cells that hold the anchor and the draw's minimizer.
    Outcome start(std::int64_t draw, Side side, double* witness);
    // One path of at most `steps` nodes down the tree for each sign.
    Outcome dive(std::int64_t draw, Side side, int steps, double* witness);
    // OPTIMAL with both bounds equal, or DECIDED: with upper = floor, or with lower above the ceiling.
    Outcome search(std::int64_t draw, Side side, const Target& target, double* witness);

 private:
    void begin(std::int64_t draw, Side side);
    double write(double* witness);
    void offer_start(const std::vector<double>& beta, bool is_anchor, double score, Side side);
    double trivial_bound(Side side) const;
    Outcome finish(double floor, double open_bound, Side side, double* witness);

    DrawView view_;
    Budget budget_;
    ApexGain apex_;
    SignedSearch search_;
    WitnessWriter writer_;
    Incumbent incumbent_;
    double started_at_ = 0.0;   // its value before the search
    std::vector<double> beta_;  // (p) scratch
};

}  // namespace cudbound
