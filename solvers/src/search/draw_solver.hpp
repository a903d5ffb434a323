// One draw at a time: what a thread needs to answer what is asked about its draws.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "control/budget.hpp"
#include "losses/quadratics.hpp"
#include "search/apex_gain.hpp"
#include "search/draw_view.hpp"
#include "search/incumbent.hpp"
#include "search/signed_search.hpp"
#include "search/witness.hpp"

namespace cudbound {

// What is proved about one draw.
struct Outcome {
    double lower = 0.0;
    double upper = 0.0;
    Status status = Status::OPTIMAL;
    std::int64_t nodes = 0;
    std::int64_t charged = 0;  // work on conflicts, in nodes that take as long
};

// What a search is to find out, in the units of Q.
struct Target {
    double floor = 0.0;                                             // values up to this are all the same
    double ceiling = std::numeric_limits<double>::infinity();       // the first value above it is enough
    std::int64_t nodes = std::numeric_limits<std::int64_t>::max();  // that may be spent
    std::int64_t work = std::numeric_limits<std::int64_t>::max();   // the same with what is charged
    bool with_model = false;                                        // a dive goes down the tree of the loss's model
};

enum class Kind { start, dive, search, bound };

// Each call writes coefficients worth `lower` to `witness`.
class DrawSolver {
 public:
    DrawSolver(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
               const Limits& limits, Budget::Clock::time_point begun, Minorants& minorants);

    Outcome run(Kind kind, std::int64_t draw, Side side, const Target& target, double* witness);

    // No tree: the cells that hold the anchor and the draw's minimizer.
    Outcome start(std::int64_t draw, Side side, double* witness);
    // One path of at most `steps` nodes down the tree for each sign.
    Outcome dive(std::int64_t draw, Side side, int steps, bool with_model, double* witness);
    // OPTIMAL with both bounds equal, or DECIDED: with upper = floor, or with lower above the ceiling.
    Outcome search(std::int64_t draw, Side side, const Target& target, double* witness);
    // An upper bound from the tree of a quadratic below the loss; the lower one is 0. DECIDED: it is at most the floor.
    Outcome bound(std::int64_t draw, Side side, const Target& target);

 private:
    // The search of a quadratic in place of the loss: one below it, or its model.
    struct Quadratic {
        Quadratic(const DrawView& view, std::unique_ptr<Relaxation> relaxation, Budget& budget);

        bool tally(std::int64_t draw);

        DrawView view;
        ApexGain apex;
        SignedSearch search;
    };

    void begin(std::int64_t draw, Side side);
    bool tally_minorant(std::int64_t draw);
    bool tally_model();
    double write(double* witness);
    void offer_start(const std::vector<double>& beta, bool is_anchor, double score, Side side);
    double trivial_bound(const DrawView& view, Side side) const;
    Outcome finish(double floor, double open_bound, Side side, double* witness);

    Budget budget_;
    DrawView view_;
    ApexGain apex_;
    SignedSearch search_;
    WitnessWriter writer_;
    Minorants& minorants_;
    std::unique_ptr<Quadratic> minorant_;  // both are made when they are first asked for
    std::unique_ptr<Quadratic> model_;
    Incumbent incumbent_;
    double started_at_ = 0.0;   // its value before the search
    std::vector<double> beta_;  // (p) scratch
};

}  // namespace cudbound
