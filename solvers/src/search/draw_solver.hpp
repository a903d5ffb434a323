// One draw at a time: what a thread needs to answer what is asked about its draws.
#pragma once

#include "search/signed_search.hpp"
#include "search/witness.hpp"

namespace cudbound {

// How the search of a draw ended: both bounds are equal, nothing exceeds the floor, something exceeds the ceiling, a
// limit was met, or cells stayed open, or rounding took the witness from the value that was found.
enum class End { exact, below_floor, above_ceiling, at_limit, inaccurate };

// What is proved about one draw.
struct Outcome {
    double lower = 0.0;
    double upper = 0.0;
    End end = End::below_floor;
    Status limit = Status::NODE_LIMIT;  // which, if that was the end
    std::int64_t nodes = 0;
    std::int64_t charged = 0;  // work on conflicts, in nodes that take as long

    bool met(Status which) const { return end == End::at_limit && limit == which; }
    Status status() const {
        if (end == End::at_limit) return limit;
        return end == End::exact ? Status::OPTIMAL : end == End::inaccurate ? Status::INACCURATE : Status::DECIDED;
    }
};

// What a search is to find out, in the units of Q.
struct Target {
    double floor = 0.0;              // values up to this are all the same
    double ceiling = infinity;       // the first value above it is enough
    std::int64_t nodes = unlimited;  // that may be spent
    std::int64_t work = unlimited;   // the same with what is charged
    bool with_model = false;         // a dive goes down the tree of the loss's model
    std::int64_t round = 0;          // of dives along many paths at random; 0 if along one for each sign
};

enum class Kind { start, dive, search, bound };

// Each call writes coefficients worth `lower` to `witness`.
class DrawSolver {
 public:
    DrawSolver(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
               const Limits& limits, Budget::Clock::time_point begun, KeptDraws& kept);

    Outcome run(Kind kind, std::int64_t draw, Side side, const Target& target, double* witness);

    // No tree: the cells that hold the anchor and the draw's minimizer.
    Outcome start(std::int64_t draw, Side side, double* witness);
    // One path of at most `steps` nodes down the tree for each sign.
    Outcome dive(std::int64_t draw, Side side, int steps, bool with_model, double* witness);
    // Many paths at random down the tree of the loss's model, for the sign of the better start.
    Outcome dive_at_random(std::int64_t draw, Side side, const Target& target, double* witness);
    // Where nothing exceeds the floor, that is the upper bound.
    Outcome search(std::int64_t draw, Side side, const Target& target, double* witness);
    // An upper bound from the tree of a quadratic below the loss; the lower one is 0.
    Outcome bound(std::int64_t draw, Side side, const Target& target);

 private:
    // The search of the loss, or of a quadratic in its place: one below it, or its model.
    struct Tree {
        Tree(const Problem& problem, const Arrangement& arrangement, std::unique_ptr<Relaxation> relaxation,
             Budget& budget)
            : draw(problem, arrangement, std::move(relaxation)), apex(arrangement), search(draw, apex, budget) {}

        void tally(std::int64_t number) {
            draw.tally(number);
            apex.forget();
        }

        PlacedDraw draw;
        ApexGain apex;
        SignedSearch search;
    };

    void begin(std::int64_t draw, Side side);
    Tree* tally_model();
    Outcome spent() const {
        return {.limit = budget_.status(), .nodes = budget_.nodes(), .charged = budget_.charged()};
    }
    double write(double* witness);
    void offer_start(const Vector<double>& beta, bool is_anchor, double score, Side side);
    Outcome finish(double floor, double open_bound, Side side, double* witness);

    Budget budget_;
    Tree loss_;
    PlacedDraw& draw_;  // of it
    WitnessWriter writer_;
    KeptDraws& kept_;
    std::unique_ptr<Tree> minorant_;  // both are made when they are first asked for
    std::unique_ptr<Tree> model_;
    RandomPaths paths_;
    Incumbent incumbent_;
    double started_at_ = 0.0;  // its value before the search
    Vector<double> beta_;      // (p) scratch
};

}  // namespace cudbound
