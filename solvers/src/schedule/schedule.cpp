#include "schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

#include "cudbound/settings.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

Schedule::Schedule(const Problem& problem, const Limits& limits, const Ranks& ranks, const Results& results)
    : problem_(problem),
      limits_(limits),
      ranks_(ranks),
      results_(results),
      width_(problem.callers_p()),
      draws_(problem.draws) {
    for (State& draw : draws_) draw.cap = std::min(Effort::first_cap, limits.nodes);
    if (ranks.known) {
        for (std::int64_t d = 0; d < problem.draws; ++d) spent_before_ += results.nodes[d];
        return;
    }
    for (std::int64_t d = 0; d < problem.draws; ++d) {
        // what is known without a search: the weights of one sign
        const auto [most, least] = problem.score_range(d);
        results.lower[d] = 0.0;
        results.upper[d] = std::max(most, -least) * (1.0 + Settings::score) / problem.divisor();
        results.status[d] = static_cast<std::int32_t>(Status::INTERRUPTED);
        results.nodes[d] = 0;
        std::copy_n(problem.callers_anchor(), width_, results.witness + d * width_);
    }
}

const Vector<Task>& Schedule::plan() {
    const std::int64_t before = spent_;
    spent_ = -spent_before_;
    for (std::int64_t d = 0; d < problem_.draws; ++d) spent_ += results_.nodes[d];
    for (const Task& task : batch_) set_ups_ += set_up(task);
    spent_ += set_ups_ + charged_.load(std::memory_order_relaxed);
    if (stage_ == Stage::search && !batch_.empty() && batch_.front().kind != Kind::dive)
        recent_nodes_ = Effort::fade * recent_nodes_ + static_cast<double>(spent_ - before);
    batch_.clear();
    if (ranks_.count == 0) plan_some();
    while (at_rank_ < ranks_.count && !plan_stage(ranks_.values[at_rank_])) continue;
    return batch_;
}

// One stage of a rank after the other, some of them several times. Returns whether this one has tasks.
bool Schedule::plan_stage(std::int64_t rank) {
    const Stage first = ranks_.known ? Stage::search : Stage::dive;
    switch (stage_) {
        case Stage::start:
            stage_ = first;
            for (std::int64_t d = 0; d < problem_.draws && !ranks_.known; ++d) batch_.push_back({Kind::start, d, {}});
            return !batch_.empty();
        case Stage::dive:
            stage_ = Stage::search;
            return plan_dives(rank, false);
        case Stage::search:
            // where searches are dear, dives may raise t for them
            if (are_searches_dear() && dive_more(rank)) return true;
            if (plan_searches(rank)) return true;
            stage_ = Stage::bound;
            narrow_cap_ = 0;
            return dive_more(rank);
        case Stage::bound:
            if (has_minorant(problem_) && plan_narrowing(rank, Kind::bound)) return true;
            // where nodes of the loss are dear, more of the quadratic prove more
            stage_ = narrows_again_ ? Stage::finish : Stage::narrow;
            if (!narrows_again_ && are_nodes_dear() && narrow_cap_ != 0 && narrow_cap_ <= nodes_left()) {
                stage_ = Stage::bound;
                narrow_cap_ *= Effort::more_nodes;
                start_narrowing(rank, true);
            } else {
                narrow_cap_ = 0;
            }
            return false;
        case Stage::narrow:
            if (plan_narrowing(rank, Kind::search)) return true;
            stage_ = Stage::finish;
            return false;
        case Stage::finish:
            if (plan_searches(rank)) return true;
            if (at_rank_ + 1 == ranks_.count && plan_random_dives(rank)) return true;
            stage_ = first;
            search_from_ = spent_;
            open_ = recent_nodes_ = recent_placed_ = 0.0;
            dived_more_ = false;
            ++at_rank_;
            return false;
    }
    throw std::logic_error("there is no such stage");
}

// Every draw completely, all at once unless their nodes are counted.
void Schedule::plan_some() {
    for (; at_draw_ < problem_.draws && !(is_limited() && std::ssize(batch_) >= Effort::batch_size); ++at_draw_) {
        if (nodes_left() <= 0) break;
        if (ranks_.known && static_cast<Status>(results_.status[at_draw_]) == Status::OPTIMAL) {
            ++decided_;
            continue;
        }
        batch_.push_back({Kind::search, at_draw_, {}});
    }
    for (Task& task : batch_) {
        task.target.work = share(batch_.size());
        task.target.nodes = std::min(limits_.nodes, task.target.work);
    }
}

// The draws that may lie above the quantile, those with the largest lower bound first: a few nodes show that most of
// them do, which raises t for the searches that follow. Where searches are dear or t is out of reach, all that may lie
// above t follow, as far as they can be paid.
bool Schedule::plan_dives(std::int64_t rank, bool others) {
    const Quantile now = quantile(rank);
    if (!(now.lower < now.upper) || nodes_left() <= 0) return false;
    order_.clear();
    for (std::int64_t d = 0; d < problem_.draws; ++d) {
        if (results_.lower[d] < results_.upper[d] && !(others && results_.lower[d] > now.lower)) order_.push_back(d);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [this](auto a, auto b) { return results_.lower[a] > results_.lower[b]; });
    Target target;
    target.with_model = is_limited() && has_minorant(problem_);
    const std::int64_t price = target.with_model ? Effort::model_dive_nodes : Effort::dive_nodes;
    const std::int64_t part = target.with_model ? Effort::dive_share : Effort::further_dive_share;
    const std::int64_t wanted = others ? nodes_left() / part / price
                                       : Effort::dives_per_draw_above * (problem_.draws - rank) + Effort::more_dives;
    if (std::ssize(order_) > wanted) order_.resize(wanted);
    target.nodes = target.with_model ? Effort::most_dive_steps : Effort::dive_steps;
    if (is_limited() && !target.with_model) {
        const auto dives = 2 * std::max<std::int64_t>(1, std::ssize(order_));
        const std::int64_t steps = nodes_left() / Effort::dive_share / dives;
        target.nodes = std::clamp(steps, Effort::dive_steps, Effort::most_dive_steps);
    }
    for (const std::int64_t d : order_) batch_.push_back({Kind::dive, d, target});
    return !batch_.empty();
}

bool Schedule::dive_more(std::int64_t rank) {
    if (!is_limited() || !(problem_.loss == Loss::SQUARED || has_minorant(problem_))) return false;
    return !std::exchange(dived_more_, true) && plan_dives(rank, true);
}

// At the end, nodes that no search can use may still raise t: paths at random, into the draws next to it.
bool Schedule::plan_random_dives(std::int64_t rank) {
    const Quantile now = quantile(rank);
    const bool possible = is_limited() && has_minorant(problem_) && now.lower < now.upper;
    if (!possible || rounds_++ == Effort::random_rounds) return false;
    find_open(now.lower);
    std::stable_sort(order_.begin(), order_.end(),
                     [this](auto a, auto b) { return results_.lower[a] > results_.lower[b]; });
    const std::int64_t paid = std::max<std::int64_t>(0, nodes_left()) / Effort::random_dive_nodes;
    const std::int64_t wanted = std::min(paid, Effort::dives_per_draw_above * (problem_.draws - rank));
    if (std::ssize(order_) > wanted) order_.resize(wanted);
    Target target;
    target.with_model = true;
    target.nodes = Effort::most_dive_steps;
    target.round = rounds_;
    for (const std::int64_t d : order_) batch_.push_back({Kind::dive, d, target});
    return !batch_.empty();
}

// Whether a node of the loss takes as long as many of the quadratic.
bool Schedule::are_nodes_dear() const { return has_minorant(problem_) && minorant_nodes() >= Effort::dear_node; }

// Whether setting up the searches of these draws alone would take a large part of the nodes.
bool Schedule::are_set_ups_dear(std::int64_t draws, std::int64_t nodes) const {
    return is_limited() && are_nodes_dear() && Effort::set_up_nodes * draws > nodes / Effort::set_up_share;
}

bool Schedule::are_searches_dear() const {
    if (has_minorant(problem_)) {
        return are_set_ups_dear(problem_.draws, nodes_at_first()) ||
               (are_nodes_dear() && recent_nodes_ > Effort::dear_batch);
    }
    return (spent_ - search_from_) / Effort::dive_share > Effort::dive_nodes * problem_.draws;
}

// Whether the nodes that are left are better kept for narrowing: what the last batches took for each draw that they
// placed tells what the others would take. It overstates that, since the hardest draws come first and t still rises, so
// up to half of the nodes are tried, unless far more would be needed: the sooner where the set-ups are dear.
bool Schedule::is_out_of_reach(double open) {
    const auto left = static_cast<double>(nodes_left());
    const auto tried = static_cast<double>(spent_ - search_from_);
    // not even the set-up of the first batch can be paid
    if (has_minorant(problem_) &&
        Effort::set_up_nodes * Effort::batch_size > left / static_cast<double>(Effort::first_share))
        return true;
    recent_placed_ = Effort::fade * recent_placed_ + std::max(0.0, open_ - open);
    open_ = open;
    const double patience = (left + tried) / 2.0 / std::max(1.0, tried);
    const double more = are_set_ups_dear(problem_.draws, nodes_at_first()) ? patience : patience * patience;
    return open * recent_nodes_ > left * std::max(1.0, more) * std::max(1.0, recent_placed_);
}

bool Schedule::plan_searches(std::int64_t rank) {
    const Quantile now = quantile(rank);
    std::int64_t settled = 0;
    for (std::int64_t d = 0; d < problem_.draws; ++d) settled += placed(d, now);
    decided_ = settled;
    if (!(now.lower < now.upper)) return false;
    double floor = now.lower;
    find_open(floor);
    if (order_.empty()) {
        floor = attainable(rank);
        find_open(floor);
    }
    if (stage_ == Stage::finish && are_set_ups_dear(std::ssize(order_), nodes_left())) return false;
    // the first value above this is enough to place a draw, and raises t if needed
    const std::int64_t above = rank + (problem_.draws - rank) / 2;
    const double ceiling = std::max(floor, sorted_[above - 1]);
    const bool may_stop = stage_ == Stage::search && is_limited();
    if (may_stop && is_out_of_reach(static_cast<double>(order_.size()))) return false;
    std::int64_t least_cap = unlimited;
    for (const std::int64_t d : order_) least_cap = std::min(least_cap, draws_[d].cap);
    // hard draws wait for the others, which may raise t beyond them
    std::erase_if(order_, [&](auto d) { return draws_[d].cap > least_cap; });
    if (order_.empty() || nodes_left() <= 0) return false;
    std::stable_sort(order_.begin(), order_.end(),
                     [this](auto a, auto b) { return results_.lower[a] > results_.lower[b]; });
    const bool again = may_stop && least_cap > Effort::first_cap;
    // where the set-ups are dear, a few draws tell whether t is in reach
    const bool is_trial = may_stop && recent_placed_ == 0.0 && are_set_ups_dear(problem_.draws, nodes_at_first());
    const std::size_t most = again || is_trial ? Effort::second_batch_size : Effort::batch_size;
    if (order_.size() > most) order_.resize(most);
    const bool is_first = recent_nodes_ == 0.0 || is_trial;
    const std::size_t parts = again ? 2 : is_first ? Effort::first_share : Effort::next_share;
    const std::int64_t work = share((may_stop ? parts : 1) * (is_trial ? Effort::batch_size : order_.size()));
    const auto gets_no_more = [&](auto d) { return work < 2 * draws_[d].tried; };
    if (again && std::any_of(order_.begin(), order_.end(), gets_no_more)) return false;
    // most of them lie below the floor: a quadratic below the loss, once, may prove that sooner
    const std::int64_t quick = std::min(std::min(least_cap, work), Effort::quick_nodes);
    for (const std::int64_t d : order_) {
        if (has_minorant(problem_) && !draws_[d].has_bound) {
            batch_.push_back({Kind::bound, d, {floor, floor, quick, quick}});
        } else {
            batch_.push_back({Kind::search, d, {floor, ceiling, std::min(least_cap, work), work}});
        }
    }
    return true;
}

// Draws that may lie on either side of the floor, and that a search may place.
void Schedule::find_open(double floor) {
    order_.clear();
    for (std::int64_t d = 0; d < problem_.draws; ++d) {
        if (draws_[d].stuck || results_.upper[d] <= floor || results_.lower[d] > floor) continue;
        order_.push_back(d);
    }
}

// The r-th smallest upper bound cannot fall below this: a draw that no search improves counts with its upper bound, any
// other with its lower one. Leaves these in `sorted_`, in ascending order.
double Schedule::attainable(std::int64_t rank) {
    sorted_.assign(results_.lower, results_.lower + problem_.draws);
    for (std::int64_t d = 0; d < problem_.draws; ++d) {
        if (draws_[d].stuck) sorted_[d] = results_.upper[d];
    }
    std::sort(sorted_.begin(), sorted_.end());
    return sorted_[rank - 1];
}

void Schedule::start_narrowing(std::int64_t rank, bool again) {
    narrows_again_ = again;
    unproved_ = quantile(rank).lower;
    sampled_at_ = -1.0;
    for (State& draw : draws_) {
        draw.has_failed = again && draw.failed >= 0.0;
        draw.failed = -1.0;
    }
}

bool Schedule::plan_narrowing(std::int64_t rank, Kind kind) {
    if (!is_limited()) return false;
    const Quantile now = quantile(rank);
    const std::int64_t left = nodes_left();
    const std::int64_t may_exceed = problem_.draws - rank;
    if (narrow_cap_ == 0) {
        const std::int64_t steps = kind == Kind::bound ? 2 * Effort::narrowing_steps : Effort::narrowing_steps;
        narrow_cap_ = std::min(limits_.nodes, std::max<std::int64_t>(1, left / steps / (may_exceed + 1)));
        start_narrowing(rank, false);
    }
    const double enough =
        std::clamp(Effort::narrow_part * (now.upper - now.lower), Effort::narrow_enough, Effort::narrow_most);
    const double step = narrows_again_ ? Effort::narrow_next_step : Effort::narrow_step;
    while (left > 0 && now.upper - std::max(unproved_, now.lower) > enough) {
        const double floor = now.upper - step * (now.upper - std::max(unproved_, now.lower));
        std::int64_t exceed = 0;  // draws that do, or that cannot be shown not to
        std::int64_t failed = 0;  // of these, at this floor
        order_.clear();
        for (std::int64_t d = 0; d < problem_.draws; ++d) {
            if (results_.upper[d] <= floor) continue;
            if (results_.lower[d] > floor || draws_[d].failed >= floor || draws_[d].ended == Status::INACCURATE) {
                ++exceed;
                failed += draws_[d].failed == floor ? 1 : 0;
            } else {
                order_.push_back(d);
            }
        }
        if (exceed > may_exceed || (floor == sampled_at_ && will_exceed(failed, may_exceed))) {
            if (narrows_again_) return false;
            unproved_ = floor;
            continue;
        }
        std::stable_sort(order_.begin(), order_.end(),
                         [this](auto a, auto b) { return results_.upper[a] < results_.upper[b]; });
        if (std::exchange(sampled_at_, floor) != floor) keep_sample();
        if (order_.size() > Effort::batch_size) order_.resize(Effort::batch_size);
        std::int64_t nodes = std::min(narrow_cap_, share(order_.size()));
        if (kind == Kind::bound) nodes *= minorant_nodes();
        for (const std::int64_t d : order_) batch_.push_back({kind, d, {floor, floor, nodes, nodes}});
        return !batch_.empty();
    }
    return false;
}

// The first batch at a floor tells whether too many draws will fail: every so many of all, or with more nodes than
// before, of those that failed.
void Schedule::keep_sample() {
    const auto has_failed = [this](auto d) { return draws_[d].has_failed; };
    if (std::any_of(order_.begin(), order_.end(), has_failed)) std::erase_if(order_, std::not_fn(has_failed));
    sampled_of_ = std::ssize(order_);
    sample_ = std::min(sampled_of_, narrows_again_ ? std::int64_t{Effort::second_batch_size} : Effort::batch_size);
    for (std::int64_t k = 0; k < sample_; ++k) order_[k] = order_[(2 * k + 1) * sampled_of_ / (2 * sample_)];
    order_.resize(sample_);
}

// Asked once for each sample. Of those that failed with fewer nodes, those that fail again are about all that do.
bool Schedule::will_exceed(std::int64_t failed, std::int64_t may_exceed) {
    const std::int64_t clearly = narrows_again_ ? 1 : Effort::clearly_more;
    return failed * std::exchange(sampled_of_, 0) > clearly * sample_ * may_exceed;
}

bool Schedule::is_limited() const { return limits_.total_nodes < unlimited; }

std::int64_t Schedule::minorant_nodes() const {
    const auto n = static_cast<double>(problem_.n);
    const auto p = static_cast<double>(problem_.p);
    return static_cast<std::int64_t>(
        (Effort::newton_time + Effort::newton_time_of_rows * n * p * p + Effort::newton_time_of_factor * p * p * p) /
        (Effort::quadratic_time + Effort::quadratic_time_of_rows * n * p));
}

// Nodes that take as long as what precedes the search.
std::int64_t Schedule::set_up(const Task& task) {
    if (task.kind == Kind::start) return 0;
    if (task.target.with_model) return Effort::model_dive_nodes;
    if (task.kind != Kind::bound) return Effort::set_up_nodes;
    return std::exchange(draws_[task.draw].has_bound, true) ? 0 : Effort::minorant_set_up_nodes;
}

// A batch is planned at once, so that its draws share what is left.
std::int64_t Schedule::share(std::size_t draws) const {
    return std::max<std::int64_t>(1, nodes_left() / std::max<std::int64_t>(1, static_cast<std::int64_t>(draws)));
}

Schedule::Quantile Schedule::quantile(std::int64_t rank) {
    const auto at = static_cast<std::ptrdiff_t>(rank - 1);
    sorted_.assign(results_.upper, results_.upper + problem_.draws);
    std::nth_element(sorted_.begin(), sorted_.begin() + at, sorted_.end());
    const double upper = sorted_[at];
    sorted_.assign(results_.lower, results_.lower + problem_.draws);
    std::nth_element(sorted_.begin(), sorted_.begin() + at, sorted_.end());
    std::sort(sorted_.begin() + at, sorted_.end());
    return {sorted_[at], upper};
}

// Whether it is known on which side of the quantile the draw lies, or that the quantile does not depend on it.
bool Schedule::placed(std::int64_t draw, const Quantile& quantile) const {
    return quantile.lower == quantile.upper || results_.upper[draw] <= quantile.lower ||
           results_.lower[draw] > quantile.upper;
}

void Schedule::record(const Task& task, const Outcome& outcome, const double* witness) {
    const std::int64_t d = task.draw;
    if (outcome.lower > results_.lower[d] ||
        (outcome.lower == results_.lower[d] && task.kind != Kind::dive && task.kind != Kind::bound)) {
        std::copy_n(witness, width_, results_.witness + d * width_);
    }
    results_.lower[d] = std::max(results_.lower[d], outcome.lower);
    results_.upper[d] = std::max(results_.lower[d], std::min(results_.upper[d], outcome.upper));
    const std::int64_t price = task.kind == Kind::bound || task.target.with_model ? minorant_nodes() : 1;
    const std::int64_t nodes = (outcome.nodes + price - 1) / price;
    results_.nodes[d] += nodes;
    charged_.fetch_add((outcome.nodes + outcome.charged + price - 1) / price - nodes, std::memory_order_relaxed);
    if (task.kind == Kind::bound && outcome.end != End::below_floor) draws_[d].failed = task.target.floor;
    if (task.kind != Kind::search) return;
    draws_[d].ended = outcome.status();
    if (stage_ == Stage::narrow) {
        if (outcome.end == End::at_limit || outcome.end == End::inaccurate) draws_[d].failed = task.target.floor;
        return;
    }
    if (outcome.met(Status::NODE_LIMIT) && outcome.nodes < limits_.nodes) {
        draws_[d].cap =
            draws_[d].cap < limits_.nodes / Effort::next_cap ? draws_[d].cap * Effort::next_cap : limits_.nodes;
        draws_[d].tried = outcome.nodes + outcome.charged;
        draws_[d].ended = Status::DECIDED;  // for now: no limit of the caller was met
    } else {
        draws_[d].stuck = outcome.end != End::below_floor && outcome.end != End::above_ceiling;
    }
    if (ranks_.count == 0) ++decided_;
}

void Schedule::close(Status reason) {
    Vector<Quantile> quantiles;
    bool work_is_left = ranks_.count == 0;
    for (std::int64_t k = 0; k < ranks_.count; ++k) {
        quantiles.push_back(quantile(ranks_.values[k]));
        find_open(attainable(ranks_.values[k]));
        work_is_left = work_is_left || (quantiles.back().lower < quantiles.back().upper && !order_.empty());
    }
    // if nothing is left to do, no limit was met: these draws are placed as far as the others allow
    if (!work_is_left && reason != Status::INTERRUPTED) reason = Status::DECIDED;
    for (std::int64_t d = 0; d < problem_.draws; ++d) {
        auto status = draws_[d].ended;
        const bool looked_at = status != Status::OPTIMAL;
        if (results_.lower[d] == results_.upper[d]) {
            status = Status::OPTIMAL;
        } else if (status != Status::INACCURATE) {
            const auto knows = [&](const Quantile& quantile) { return placed(d, quantile); };
            if (!quantiles.empty() && std::all_of(quantiles.begin(), quantiles.end(), knows)) {
                status = Status::DECIDED;
            } else if (!looked_at || status == Status::DECIDED) {
                status = reason;
            }
        }
        results_.status[d] = static_cast<std::int32_t>(status);
    }
}

}  // namespace cudbound
