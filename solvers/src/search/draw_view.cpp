#include "search/draw_view.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

DrawView::DrawView(const Problem& the_problem, const Arrangement& the_arrangement,
                   std::unique_ptr<Relaxation> the_relaxation)
    : problem(the_problem),
      arrangement(the_arrangement),
      p(static_cast<int>(the_problem.p)),
      relaxation(std::move(the_relaxation)),
      own_weights_(static_cast<std::size_t>(the_problem.n)),
      anchor_sides_(static_cast<std::size_t>(the_arrangement.count)),
      beta_(static_cast<std::size_t>(p)) {
    const double length = std::sqrt(dot(problem.anchor, problem.anchor, p));
    for (int h = 0; h < arrangement.count; ++h) {
        const double side = dot(arrangement.normal(h), problem.anchor, p);
        anchor_sides_[static_cast<std::size_t>(h)] = length > 0.0 ? side / length : 0.0;
    }
}

void DrawView::tally(std::int64_t which) {
    draw = which;
    const std::int64_t n = problem.n;
    const double* weights = nullptr;
    if (problem.weights != nullptr) {
        weights = problem.weights + draw * n;
        divisor = 1.0;
    } else {
        // whole numbers: scores are exact, and equal scores compare equal
        const std::int32_t* counts = problem.counts + draw * n;
        for (std::int64_t i = 0; i < n; ++i) own_weights_[static_cast<std::size_t>(i)] = counts[i] - 1.0;
        weights = own_weights_.data();
        divisor = static_cast<double>(n);
    }
    most_ = 0.0;
    least_ = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        most_ += std::max(weights[i], 0.0);
        least_ += std::min(weights[i], 0.0);
    }
    total = most_ - least_;
    rounding = problem.weights != nullptr ? Settings::score * total : 0.0;

    relaxation->set(draw);
    scores_.tally(arrangement, problem.labels, weights);
    constant = scores_.fixed;
    double left_out = 0.0;
    id.clear();
    difference.clear();
    for (int h = 0; h < arrangement.count; ++h) {
        const double positive_side = scores_.positive[static_cast<std::size_t>(h)];
        const double apart = positive_side - scores_.negative[static_cast<std::size_t>(h)];
        // one that counts nothing is left out, but all of these together count no more than rounding
        if (left_out + std::abs(apart) <= rounding) {
            left_out += std::abs(apart);
            constant += positive_side;
        } else {
            id.push_back(h);
            difference.push_back(apart);
        }
    }
}

// Rows of a hyperplane whose sides count the same change sides together, unless they point both ways: sign(0) = +1.
void DrawView::list_strict(std::vector<char>* strict) const {
    const std::int64_t n = problem.n;
    strict->assign(static_cast<std::size_t>(n), 0);
    for (std::int64_t i = 0; i < n; ++i) {
        const int h = arrangement.of_row[static_cast<std::size_t>(i)];
        const double weight =
            problem.weights != nullptr ? problem.weights[draw * n + i] : problem.counts[draw * n + i] - 1.0;
        if (h < 0 || weight == 0.0) continue;
        const auto at = static_cast<std::size_t>(h);
        const double apart = scores_.positive[at] - scores_.negative[at];
        (*strict)[static_cast<std::size_t>(i)] = std::abs(apart) > rounding || arrangement.mixed[at];
    }
}

void DrawView::place() {
    const std::size_t m = id.size();
    units.resize(m * static_cast<std::size_t>(p));
    offset.resize(m);
    curvature.resize(m);
    at_minimizer.resize(m);
    crossing.resize(m);
    probed.resize(m);
    relaxation->place(id, units.data(), offset.data(), curvature.data());
    const Node& minimizer = relaxation->root();
    for (std::size_t i = 0; i < m; ++i) {
        at_minimizer[i] = dot(unit(static_cast<int>(i)), minimizer.point.data(), p) + offset[i];
        crossing[i] = minimizer.loss + curvature[i] * at_minimizer[i] * at_minimizer[i];
        probed[i] = 0;
    }
    tie = (Settings::tie + relaxation->error) * relaxation->extent;
    const bool exact = problem.loss == Loss::SQUARED || problem.loss == Loss::HINGE;
    near_tie = exact ? tie : Settings::near_ties * tie;
}

bool DrawView::score_anchor(double* score) const {
    bool clear = true;
    *score = constant;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const double side = anchor_sides_[static_cast<std::size_t>(id[i])];
        clear = clear && std::abs(side) > Settings::clear;
        *score += side > 0.0 ? positive(static_cast<int>(i)) : negative(static_cast<int>(i));
    }
    return clear;
}

bool DrawView::score_minimizer(double* score) const {
    relaxation->to_beta(relaxation->root().point.data(), beta_.data());
    return score_at(beta_.data(), score);
}

bool DrawView::score_at(const double* beta, double* score) const {
    const double near = Settings::clear * std::sqrt(dot(beta, beta, p));
    bool clear = true;
    *score = constant;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const double side = dot(normal(static_cast<int>(i)), beta, p);
        clear = clear && std::abs(side) > near;
        *score += side > 0.0 ? positive(static_cast<int>(i)) : negative(static_cast<int>(i));
    }
    return clear;
}

}  // namespace cudbound
