// Which draw is searched next, and for what: all of them completely, or only as far as quantiles require.
#pragma once

#include <atomic>
#include <cstdint>

#include "cudbound/draws.hpp"
#include "linear_algebra/vector.hpp"
#include "search/draw_solver.hpp"

namespace cudbound {

struct Task {
    Kind kind;
    std::int64_t draw;
    Target target;
};

// The quantile at rank r is the r-th smallest Q. Every draw has proved bounds lower <= Q <= upper, and t, the r-th
// smallest lower, is at most the quantile. As long as a draw has lower <= t < upper it is searched with the floor t:
// either its Q is at most t, or a classifier with a larger value is found. t never falls, and once the r-th smallest
// upper is t, so is the quantile.
//
// A draw that no search can improve, because of rounding or a limit of its own, counts with its upper bound: the others
// are then searched until the r-th smallest upper cannot fall.
//
// Where nodes are limited and t is out of reach, the remaining ones narrow the bracket: a higher floor needs fewer
// nodes, and the quantile is at most any floor that r draws are proved not to exceed. The search then takes what is
// left. Tasks are planned in batches, from bounds alone: the result does not depend on which thread does what.
class Schedule {
 public:
    Schedule(const Problem& problem, const Limits& limits, const Ranks& ranks, const Results& results);

    // The next batch; empty at the end. Called when all tasks of the last one have been recorded.
    const Vector<Task>& plan();
    // Records the result of a task; safe to call from several threads for different draws.
    void record(const Task& task, const Outcome& outcome, const double* witness);
    // No more tasks: states how each draw ended. Draws that were not searched ended for `reason`.
    void close(Status reason);

    // Draws that will not be searched again, as far as is known now.
    std::int64_t decided() const { return decided_.load(std::memory_order_relaxed); }

 private:
    struct State {                       // of a draw
        std::int64_t cap = 0;            // nodes that its next search may take
        std::int64_t tried = 0;          // nodes with which a search did not place it
        double failed = -1.0;            // the highest floor at which narrowing met its limit
        bool has_failed = false;         // whether it did with fewer nodes
        bool has_bound = false;          // whether the quadratic has been made
        bool stuck = false;              // another search would find nothing more
        Status ended = Status::OPTIMAL;  // how the last search ended
    };
    struct Quantile {
        double lower;  // t
        double upper;
    };

    bool plan_stage(std::int64_t rank);
    void plan_some();
    bool plan_dives(std::int64_t rank, bool others);
    bool plan_searches(std::int64_t rank);
    bool is_out_of_reach(double open);
    bool dive_more(std::int64_t rank);
    bool plan_random_dives(std::int64_t rank);
    bool plan_narrowing(std::int64_t rank, Kind kind);
    void start_narrowing(std::int64_t rank, bool again);
    void keep_sample();
    bool will_exceed(std::int64_t failed, std::int64_t may_exceed);
    Quantile quantile(std::int64_t rank);
    double attainable(std::int64_t rank);
    void find_open(double floor);
    std::int64_t share(std::size_t draws) const;
    std::int64_t set_up(const Task& task);
    // Nodes of a quadratic that take as long as one of the loss, whose Hessian they save.
    std::int64_t minorant_nodes() const;
    bool is_limited() const;
    bool are_nodes_dear() const;
    bool are_set_ups_dear(std::int64_t draws, std::int64_t nodes) const;
    bool are_searches_dear() const;
    std::int64_t nodes_at_first() const { return limits_.total_nodes - search_from_; }
    std::int64_t nodes_left() const { return limits_.total_nodes - spent_; }
    bool placed(std::int64_t draw, const Quantile& quantile) const;

    const Problem& problem_;
    const Limits& limits_;
    const Ranks& ranks_;
    const Results& results_;
    const std::int64_t width_;  // of a witness

    enum class Stage { start, dive, search, bound, narrow, finish } stage_ = Stage::start;
    std::int64_t at_rank_ = 0;
    std::int64_t at_draw_ = 0;
    bool dived_more_ = false;  // at this rank
    std::int64_t rounds_ = 0;  // of random dives
    std::int64_t spent_ = 0;
    std::int64_t set_ups_ = 0;              // nodes that took as long as setting up searches and dives
    std::atomic<std::int64_t> charged_{0};  // nodes that took as long as conflicts
    std::int64_t search_from_ = 0;          // what was spent before the searches for t
    double open_ = 0.0;                     // draws that were open before their last batch
    double recent_nodes_ = 0.0;             // that their last batches took, older ones less and less
    double recent_placed_ = 0.0;            // draws that these placed
    std::atomic<std::int64_t> decided_{0};
    Vector<State> draws_;
    double unproved_ = 0.0;          // narrowing did not bring the quantile down to this
    std::int64_t narrow_cap_ = 0;    // nodes that a search of that stage may take
    bool narrows_again_ = false;     // with more nodes
    double sampled_at_ = -1.0;       // the last floor of narrowing
    std::int64_t sample_ = 0;        // draws of its first batch, until they are judged
    std::int64_t sampled_of_ = 0;    // and of how many
    std::int64_t spent_before_ = 0;  // nodes that were spent before this call
    Vector<Task> batch_;
    Vector<double> sorted_;
    Vector<std::int64_t> order_;
};

}  // namespace cudbound
