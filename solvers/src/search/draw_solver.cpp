#include "search/draw_solver.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "cudbound/settings.hpp"

namespace cudbound {

namespace {

constexpr double signs[] = {1.0, -1.0};

// The largest score whose Q, as it is reported, is at most the floor: what is found above it exceeds the floor, which
// ends a search, and what is not is at most the floor without any tolerance.
double floor_in_scores(double floor, const DrawView& view) {
    double most = floor * view.divisor;
    while (most / view.divisor > floor) most = std::nextafter(most, 0.0);
    for (double next = most; most > 0.0 && next / view.divisor <= floor; next = std::nextafter(next, HUGE_VAL))
        most = next;
    double score = std::max(0.0, most - view.rounding);
    while (score > 0.0 && score + view.rounding > most) score = std::nextafter(score, 0.0);
    return score;
}

bool counts(Side side, double sign) { return side == Side::BOTH || (side == Side::POSITIVE) == (sign > 0.0); }

}  // namespace

DrawSolver::DrawSolver(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
                       const Limits& limits, Budget::Clock::time_point begun, Minorants& minorants)
    : budget_(limits, stop, begun),
      view_(problem, arrangement, make_relaxation(problem, arrangement, budget_)),
      apex_(arrangement),
      search_(view_, apex_, budget_),
      writer_(view_),
      minorants_(minorants),
      beta_(static_cast<std::size_t>(problem.p)) {}

// The anchor and the minimizer lie in cells with g = 1: a first incumbent for either sign. One that lies on a
// hyperplane belongs to no open cell: the search deals with those around it.
void DrawSolver::begin(std::int64_t draw, Side side) {
    view_.tally(draw);
    apex_.forget();
    incumbent_.clear(view_.problem.anchor, view_.p);
    incumbent_.is_anchor = true;
    double score = 0.0;
    beta_.assign(view_.problem.anchor, view_.problem.anchor + view_.p);
    if (view_.score_anchor(&score)) offer_start(beta_, true, score, side);
    if (view_.relaxation->found) {
        view_.relaxation->to_beta(view_.relaxation->root().point.data(), beta_.data());
        if (view_.score_minimizer(&score)) offer_start(beta_, false, score, side);
    }
    started_at_ = incumbent_.value;
}

// The value of the incumbent by the caller's rows, which is quickly found if the search has not improved it.
double DrawSolver::write(double* witness) {
    const bool as_it_was = incumbent_.value > 0.0 && incumbent_.value == started_at_;
    const double worth = as_it_was ? writer_.write_start(incumbent_, witness) : -1.0;
    if (worth >= incumbent_.value - writer_.allowed(incumbent_)) return worth;
    return writer_.write(incumbent_, witness);
}

void DrawSolver::offer_start(const std::vector<double>& beta, bool is_anchor, double score, Side side) {
    for (const double sign : signs) {
        if (!counts(side, sign) || !(sign * score > incumbent_.value)) continue;
        incumbent_.clear(beta.data(), view_.p);
        incumbent_.value = sign * score;
        incumbent_.is_anchor = is_anchor;
        incumbent_.sign = sign;
        incumbent_.score = sign * score;
    }
}

Outcome DrawSolver::run(Kind kind, std::int64_t draw, Side side, const Target& target, double* witness) {
    switch (kind) {
        case Kind::start:
            return start(draw, side, witness);
        case Kind::dive:
            return dive(draw, side, static_cast<int>(target.nodes), target.with_model, witness);
        case Kind::bound:
            return bound(draw, side, target);
        case Kind::search:
            return search(draw, side, target, witness);
    }
    throw std::logic_error("there is no such task");
}

Outcome DrawSolver::start(std::int64_t draw, Side side, double* witness) {
    budget_.start();
    begin(draw, side);
    Outcome outcome;
    outcome.lower = (writer_.write_start(incumbent_, witness) + view_.rounding) / view_.divisor;
    outcome.upper = std::max(outcome.lower, (trivial_bound(view_, side) + view_.rounding) / view_.divisor);
    outcome.status = Status::DECIDED;
    return outcome;
}

Outcome DrawSolver::dive(std::int64_t draw, Side side, int steps, bool with_model, double* witness) {
    budget_.start();
    begin(draw, side);
    SignedSearch* search = &search_;
    if (with_model && tally_model()) {
        search = &model_->search;
    } else {
        if (with_model) steps = std::min(steps, static_cast<int>(Effort::dive_steps));
        view_.place();
    }
    for (const double sign : signs) {
        if (counts(side, sign)) search->dive(sign, steps, incumbent_);
    }
    return finish(0.0, trivial_bound(view_, side), side, witness);
}

Outcome DrawSolver::search(std::int64_t draw, Side side, const Target& target, double* witness) {
    budget_.start(target.nodes, target.work);
    begin(draw, side);
    view_.place();
    const SignedSearch::Target in_scores{floor_in_scores(target.floor, view_), target.ceiling * view_.divisor};
    double open_bound = 0.0;
    for (const double sign : signs) {
        if (counts(side, sign)) open_bound = std::max(open_bound, search_.explore(sign, in_scores, incumbent_));
    }
    return finish(target.floor, open_bound, side, witness);
}

DrawSolver::Quadratic::Quadratic(const DrawView& of, std::unique_ptr<Relaxation> relaxation, Budget& budget)
    : view(of.problem, of.arrangement, std::move(relaxation)), apex(of.arrangement), search(view, apex, budget) {}

// Whether the draw has one.
bool DrawSolver::Quadratic::tally(std::int64_t draw) {
    view.tally(draw);
    apex.forget();
    if (view.relaxation->found) view.place();
    return view.relaxation->found;
}

bool DrawSolver::tally_minorant(std::int64_t draw) {
    if (!minorant_) {
        minorant_ = std::make_unique<Quadratic>(
            view_, make_minorant(view_.problem, view_.arrangement, minorants_, budget_), budget_);
    }
    return minorant_->tally(draw);
}

// The draw has been tallied.
bool DrawSolver::tally_model() {
    if (!model_) {
        model_ = std::make_unique<Quadratic>(
            view_, make_model(view_.problem, view_.arrangement, *view_.relaxation, budget_), budget_);
    }
    return model_->tally(view_.draw);
}

Outcome DrawSolver::bound(std::int64_t draw, Side side, const Target& target) {
    budget_.start(target.nodes, target.work);
    const bool exists = tally_minorant(draw);
    const DrawView& view = minorant_->view;
    incumbent_.clear(view.problem.anchor, view.p);
    const double floor = floor_in_scores(target.floor, view);
    double found = exists ? 0.0 : trivial_bound(view, side);
    for (const double sign : signs) {
        if (!counts(side, sign) || !exists) continue;
        if (view.size() == 0) {  // one score everywhere
            found = std::max(found, sign * view.constant);
            continue;
        }
        found = std::max(found, minorant_->search.explore(sign, {floor, floor}, incumbent_));
    }
    const double upper = std::min(std::max(found, incumbent_.value), trivial_bound(view, side));
    Outcome outcome;
    outcome.upper = std::max((upper + view.rounding) / view.divisor, target.floor);
    outcome.nodes = budget_.nodes();
    outcome.charged = budget_.charged();
    outcome.status = outcome.upper <= target.floor ? Status::DECIDED : Status::NODE_LIMIT;
    if (budget_.status() == Status::TIME_LIMIT || budget_.status() == Status::INTERRUPTED)
        outcome.status = budget_.status();
    return outcome;
}

double DrawSolver::trivial_bound(const DrawView& view, Side side) const {
    double most = 0.0;
    for (const double sign : signs) {
        if (counts(side, sign)) most = std::max(most, view.most(sign));
    }
    return most;
}

Outcome DrawSolver::finish(double floor, double open_bound, Side side, double* witness) {
    Outcome outcome;
    const double value = incumbent_.value;
    outcome.nodes = budget_.nodes();
    outcome.charged = budget_.charged();
    outcome.status = budget_.status();
    const double most = trivial_bound(view_, side);
    const double upper = std::min(std::max(value, open_bound), most);
    outcome.upper = std::max((upper + view_.rounding) / view_.divisor, floor);
    const double worth = write(witness);
    const bool attained = worth >= value - writer_.allowed(incumbent_);
    outcome.lower = attained ? (value + view_.rounding) / view_.divisor : std::max(worth, 0.0) / view_.divisor;
    const bool ended = outcome.status == Status::OPTIMAL;
    if (ended && outcome.lower < outcome.upper) outcome.status = Status::DECIDED;  // nothing above the floor
    // a search that ended at its ceiling has done its work if the witness is nevertheless above the floor
    const bool missed = !attained && (ended || (outcome.status == Status::DECIDED && !(outcome.lower > floor)));
    if ((ended && open_bound > value) || missed) {
        outcome.status = Status::INACCURATE;
    }
    return outcome;
}

}  // namespace cudbound
