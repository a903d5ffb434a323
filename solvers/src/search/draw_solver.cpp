#include "search/draw_solver.hpp"

namespace cudbound {

namespace {

// The largest score whose Q, as it is reported, is at most the floor: what is found above it exceeds the floor, which
// ends a search, and what is not is at most the floor without any tolerance.
double floor_in_scores(double floor, const PlacedDraw& placed) {
    double most = floor * placed.divisor;
    while (most / placed.divisor > floor) most = std::nextafter(most, 0.0);
    double next = most;
    while (most > 0.0 && next / placed.divisor <= floor) {
        most = next;
        next = std::nextafter(next, HUGE_VAL);
    }
    double score = std::max(0.0, most - placed.rounding);
    while (score > 0.0 && score + placed.rounding > most) score = std::nextafter(score, 0.0);
    return score;
}

// Of the deviations that count.
std::span<const double> signs_of(Side side) {
    static constexpr double both[] = {1.0, -1.0};
    return std::span(both).subspan(side == Side::NEGATIVE ? 1 : 0, side == Side::BOTH ? 2 : 1);
}

double trivial_bound(const PlacedDraw& draw, Side side) {
    double most = 0.0;
    for (const double sign : signs_of(side)) most = std::max(most, draw.most(sign));
    return most;
}

}  // namespace

DrawSolver::DrawSolver(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
                       const Limits& limits, Budget::Clock::time_point begun, KeptDraws& kept)
    : budget_(limits, stop, begun),
      loss_(problem, arrangement, make_relaxation(problem, arrangement, budget_, &kept), budget_),
      draw_(loss_.draw),
      writer_(draw_),
      kept_(kept),
      beta_(problem.p) {}

// The anchor and the minimizer lie in cells with g = 1: a first incumbent for either sign. One that lies on a
// hyperplane belongs to no open cell: the search deals with those around it.
void DrawSolver::begin(std::int64_t draw, Side side) {
    loss_.tally(draw);
    incumbent_.clear(draw_.problem.anchor, draw_.p);
    incumbent_.is_anchor = true;
    double score = 0.0;
    beta_.assign(draw_.problem.anchor, draw_.problem.anchor + draw_.p);
    if (draw_.score_anchor(&score)) offer_start(beta_, true, score, side);
    if (draw_.relaxation->found) {
        draw_.relaxation->to_beta(draw_.relaxation->root().point.data(), beta_.data());
        if (draw_.score_minimizer(&score)) offer_start(beta_, false, score, side);
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

void DrawSolver::offer_start(const Vector<double>& beta, bool is_anchor, double score, Side side) {
    for (const double sign : signs_of(side)) {
        if (!(sign * score > incumbent_.value)) continue;
        incumbent_.take(sign * score, sign, sign * score);
        incumbent_.is_anchor = is_anchor;
        incumbent_.point = beta;
    }
}

Outcome DrawSolver::run(Kind kind, std::int64_t draw, Side side, const Target& target, double* witness) {
    switch (kind) {
        case Kind::start:
            return start(draw, side, witness);
        case Kind::dive:
            if (target.round > 0) return dive_at_random(draw, side, target, witness);
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
    outcome.lower = draw_.in_q(writer_.write_start(incumbent_, witness));
    outcome.upper = std::max(outcome.lower, draw_.in_q(trivial_bound(draw_, side)));
    return outcome;
}

Outcome DrawSolver::dive(std::int64_t draw, Side side, int steps, bool with_model, double* witness) {
    budget_.start();
    begin(draw, side);
    Tree* tree = with_model ? tally_model() : nullptr;
    if (tree == nullptr) {
        if (with_model) steps = std::min(steps, static_cast<int>(Effort::dive_steps));
        tree = &loss_;
    }
    tree->draw.place();
    for (const double sign : signs_of(side)) tree->search.dive(sign, steps, incumbent_);
    return finish(0.0, trivial_bound(draw_, side), side, witness);
}

Outcome DrawSolver::dive_at_random(std::int64_t draw, Side side, const Target& target, double* witness) {
    budget_.start();
    begin(draw, side);
    Tree* tree = tally_model();
    const double sign = incumbent_.value > 0.0 ? incumbent_.sign : signs_of(side).front();
    const auto seed = static_cast<std::uint64_t>(target.round * draw_.problem.draws + draw);
    paths_.start(seed << 32, draw_.size(), incumbent_.value);
    for (int path = 0; tree != nullptr && path < Effort::random_paths; ++path) {
        const bool turns = path % Effort::paths_to_turn == 0 && paths_.turn();
        if (turns) tree->draw.relaxation->take_at(paths_.near.data());
        if (!tree->draw.relaxation->found) break;
        if (turns || path == 0) tree->draw.place();
        paths_.next();
        tree->search.dive(sign, static_cast<int>(target.nodes), incumbent_, &paths_);
    }
    return finish(0.0, trivial_bound(draw_, side), side, witness);
}

Outcome DrawSolver::search(std::int64_t draw, Side side, const Target& target, double* witness) {
    budget_.start(target.nodes, target.work);
    begin(draw, side);
    draw_.place();
    const SignedSearch::Target in_scores{floor_in_scores(target.floor, draw_), target.ceiling * draw_.divisor};
    double open_bound = 0.0;
    for (const double sign : signs_of(side)) {
        open_bound = std::max(open_bound, loss_.search.explore(sign, in_scores, incumbent_));
    }
    return finish(target.floor, open_bound, side, witness);
}

// Null if there is none. The draw has been tallied.
DrawSolver::Tree* DrawSolver::tally_model() {
    if (!model_) {
        auto relaxation = make_model(draw_.problem, draw_.arrangement, *draw_.relaxation, budget_);
        model_ = std::make_unique<Tree>(draw_.problem, draw_.arrangement, std::move(relaxation), budget_);
    }
    model_->tally(draw_.number);
    return model_->draw.relaxation->found ? model_.get() : nullptr;
}

Outcome DrawSolver::bound(std::int64_t draw, Side side, const Target& target) {
    budget_.start(target.nodes, target.work);
    if (!minorant_) {
        auto relaxation = make_minorant(draw_.problem, draw_.arrangement, kept_, budget_);
        minorant_ = std::make_unique<Tree>(draw_.problem, draw_.arrangement, std::move(relaxation), budget_);
    }
    minorant_->tally(draw);
    PlacedDraw& placed = minorant_->draw;
    const bool exists = placed.relaxation->found;
    if (exists) placed.place();
    incumbent_.clear(placed.problem.anchor, placed.p);
    const double floor = floor_in_scores(target.floor, placed);
    double open_bound = exists ? 0.0 : trivial_bound(placed, side);
    for (const double sign : signs_of(side)) {
        if (!exists) continue;
        // with no hyperplane there is one score everywhere
        const double open =
            placed.size() == 0 ? sign * placed.constant : minorant_->search.explore(sign, {floor, floor}, incumbent_);
        open_bound = std::max(open_bound, open);
    }
    const double upper = std::min(std::max(open_bound, incumbent_.value), trivial_bound(placed, side));
    Outcome outcome = spent();
    outcome.upper = std::max(placed.in_q(upper), target.floor);
    const bool stopped = outcome.limit == Status::TIME_LIMIT || outcome.limit == Status::INTERRUPTED;
    outcome.end = !stopped && outcome.upper <= target.floor ? End::below_floor : End::at_limit;
    if (!stopped) outcome.limit = Status::NODE_LIMIT;
    return outcome;
}

Outcome DrawSolver::finish(double floor, double open_bound, Side side, double* witness) {
    Outcome outcome = spent();
    const double value = incumbent_.value;
    const double upper = std::min(std::max(value, open_bound), trivial_bound(draw_, side));
    outcome.upper = std::max(draw_.in_q(upper), floor);
    const double worth = write(witness);
    const bool attained = worth >= value - writer_.allowed(incumbent_);
    outcome.lower = attained ? draw_.in_q(value) : std::max(worth, 0.0) / draw_.divisor;
    if (budget_.status() == Status::DECIDED) {
        // it has done its work if the witness is above the floor, whatever it was found to be worth
        outcome.end = attained || outcome.lower > floor ? End::above_ceiling : End::inaccurate;
    } else if (budget_.exhausted()) {
        outcome.end = End::at_limit;
    } else if (!attained || open_bound > value) {
        outcome.end = End::inaccurate;
    } else {
        outcome.end = outcome.lower < outcome.upper ? End::below_floor : End::exact;
    }
    return outcome;
}

}  // namespace cudbound
