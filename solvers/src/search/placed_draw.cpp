#include "search/placed_draw.hpp"

namespace cudbound {

PlacedDraw::PlacedDraw(const Problem& the_problem, const Arrangement& the_arrangement,
                       std::unique_ptr<Relaxation> the_relaxation)
    : problem(the_problem),
      arrangement(the_arrangement),
      p(static_cast<int>(the_problem.p)),
      relaxation(std::move(the_relaxation)),
      weights_(the_problem.n),
      anchor_sides_(the_arrangement.count),
      beta_(p) {
    const double length = length_of(problem.anchor, p);
    for (int h = 0; h < arrangement.count; ++h) {
        const double side = dot(arrangement.normal(h), problem.anchor, p);
        anchor_sides_[h] = length > 0.0 ? side / length : 0.0;
    }
}

void PlacedDraw::tally(std::int64_t which) {
    number = which;
    divisor = problem.divisor();  // whole numbers: scores are exact, and equal scores compare equal
    for (std::int64_t i = 0; i < problem.n; ++i) weights_[i] = problem.weight(number, i);
    range_ = problem.score_range(number);
    total = range_.most - range_.least;
    rounding = problem.weights != nullptr ? Settings::score * total : 0.0;

    relaxation->set(number);
    scores_.tally(arrangement, problem.labels, weights_.data());
    constant = scores_.fixed;
    double left_out = 0.0;
    std::size_t kept = 0;
    id.resize(arrangement.count);
    difference.resize(arrangement.count);
    // no branches: which hyperplanes count is random
    for (int h = 0; h < arrangement.count; ++h) {
        const double positive_side = scores_.positive[h];
        const double apart = positive_side - scores_.negative[h];
        id[kept] = h;
        difference[kept] = apart;
        // one that counts nothing is left out; all of these together count at most half of what sums may be wrong by
        const bool counts = !(left_out + std::abs(apart) <= 0.5 * rounding);
        kept += counts;
        left_out += counts ? 0.0 : std::abs(apart);
        constant += counts ? 0.0 : positive_side;
    }
    id.resize(kept);
    difference.resize(kept);
}

// Rows of a hyperplane whose sides count the same change sides together, unless they point both ways: sign(0) = +1.
void PlacedDraw::list_strict(Vector<char>* strict) const {
    const std::int64_t n = problem.n;
    strict->assign(n, 0);
    for (std::int64_t i = 0; i < n; ++i) {
        const int h = arrangement.of_row[i];
        if (h < 0 || weights_[i] == 0.0) continue;
        const double apart = scores_.positive[h] - scores_.negative[h];
        (*strict)[i] = std::abs(apart) > 0.5 * rounding || arrangement.mixed[h];
    }
}

void PlacedDraw::place() {
    const std::size_t m = id.size();
    units.resize(size() * p);
    for (auto* vector : {&offset, &curvature, &at_minimizer, &crossing}) vector->resize(m);
    probed.assign(m, 0);
    relaxation->place(id, units.data(), offset.data(), curvature.data());
    tie = (Settings::tie + relaxation->error) * relaxation->extent;
    near_tie = relaxation->near_ties * tie;
    const Node& minimizer = relaxation->root();
    for (std::size_t i = 0; i < m; ++i) {
        at_minimizer[i] = dot(unit(static_cast<int>(i)), minimizer.point.data(), p) + offset[i];
        // the minimizer may be closer by a tie, which is long where the coefficients are
        const double sure = std::max(0.0, std::abs(at_minimizer[i]) - tie);
        crossing[i] = minimizer.loss + curvature[i] * sure * sure;
    }
}

bool PlacedDraw::score_anchor(double* score) const {
    return score_by([this](int i) { return anchor_sides_[id[i]]; }, Settings::clear, score);
}

bool PlacedDraw::score_minimizer(double* score) const {
    double* beta = beta_.data();
    relaxation->to_beta(relaxation->root().point.data(), beta);
    const double near = Settings::clear * length_of(beta, p);
    return score_by([&](int i) { return dot(normal(i), beta, p); }, near, score);
}

template <class SideOf>
bool PlacedDraw::score_by(const SideOf& side_of, double near, double* score) const {
    int clear = 0;
    double sum = constant;
    for (int i = 0; i < size(); ++i) {
        const double side = side_of(i);
        clear += std::abs(side) > near;
        sum += side > 0.0 ? positive(i) : negative(i);
    }
    *score = sum;
    return clear == size();
}

}  // namespace cudbound
