#include "smooth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "active_set.hpp"
#include "cholesky.hpp"
#include "cudbound/settings.hpp"
#include "loss.hpp"
#include "vector_math.hpp"

namespace cudbound {

namespace {

// A point with the quadratic model of the loss there, from which the next Newton step starts.
struct SmoothNode final : Node {
    explicit SmoothNode(int p) : Node(p), gradient(p), factor(p) {}

    double value = 0.0;    // the loss at `point`
    double dropped = 0.0;  // part of it from rows whose loss has all but vanished; the model leaves them out
    std::vector<double> gradient;
    Cholesky factor;      // of the Hessian
    bool curved = false;  // whether the Hessian was factorised as it is; if not, a small multiple of I was added
    double spread = 0.0;  // largest |R^{-T} x_i|: how fast the curvature can change
};

// min_t h(t) - nu t with h(t) = (exp(-r t) + r t - 1) / r^2, negated: how much the loss of a self-concordant model can
// undercut the quadratic one at a residual of length nu. Bach (2010), proposition 1.
double undercut(double nu, double r) {
    const double x = r * nu;
    if (x >= 1.0) return std::numeric_limits<double>::infinity();
    if (x < 1e-3) return nu * nu * (0.5 + x / 6.0 * (1.0 + x));  // more than the series
    return (x + (1.0 - x) * std::log1p(-x)) / (r * r);
}

// The t at which h(t) reaches `rise`.
double farthest(double rise, double r) {
    const auto h = [r](double t) {
        const double x = r * t;
        return x < 1e-3 ? t * t * (0.5 - x / 6.0) : (std::exp(-x) + x - 1.0) / (r * r);
    };
    double high = r * rise + std::sqrt(2.0 * rise) + 1.0 / std::max(r, 1e-300);
    double low = 0.0;
    for (int k = 0; k < 60 && high - low > 1e-6 * high; ++k) {
        const double middle = 0.5 * (low + high);
        (h(middle) < rise ? low : high) = middle;
    }
    return high;
}

template <Loss kind>
class SmoothRelaxation final : public Relaxation {
 public:
    SmoothRelaxation(const Problem& problem, const Arrangement& arrangement)
        : problem_(problem),
          arrangement_(arrangement),
          root_(static_cast<int>(problem.p)),
          active_(static_cast<int>(problem.p)),
          minorant_(static_cast<int>(problem.p)) {
        p = static_cast<int>(problem.p);
        rate = problem.alpha / static_cast<double>(problem.n);
        anchor.assign(problem.anchor, problem.anchor + p);
        apex.assign(p, 0.0);
        const auto size = static_cast<std::size_t>(p);
        ridge_.assign(size * size, 0.0);
        if (problem.penalty != nullptr) {
            for (std::size_t k = 0; k < ridge_.size(); ++k) {
                ridge_[k] = 2.0 * static_cast<double>(problem.n) * problem.penalty[k];
            }
        }
        hessian_.resize(size * size);
        for (auto* vector : {&newton_, &start_, &scaled_, &trial_, &unit_, &shift_}) vector->resize(size);
        const auto n = static_cast<std::size_t>(problem.n);
        columns_.reserve(n * size);
        for (auto* vector : {&mass_, &offset_, &margins_, &slopes_, &bends_, &lengths_, &weighted_, &reach_}) {
            vector->reserve(n);
        }
        drawn_.reserve(n);
        gone_.reserve(n);
        columns_scratch_.reserve(n * size);
    }

    void set(std::int64_t draw) override {
        gather(draw);
        anchor_loss = loss(anchor.data());
        if (problem_.penalty != nullptr) {
            double modelled = 0.0;
            for (int a = 0; a < p; ++a) modelled += anchor[a] * dot(&ridge_[at(a, 0)], anchor.data(), p);
            anchor_loss += std::max(0.0, static_cast<double>(problem_.n) * problem_.anchor_penalty - 0.5 * modelled);
        }
        apex_loss = loss(apex.data());
        extent = std::sqrt(dot(anchor.data(), anchor.data(), p));
        if (extent == 0.0) extent = 1.0;
        minimise_freely();
        slack = Settings::excess * (anchor_loss + apex_loss);
        apex_tolerance = 10.0 * Settings::newton_gap * (1.0 + apex_loss);
        extent =
            std::sqrt(std::max(dot(anchor.data(), anchor.data(), p), dot(root_.point.data(), root_.point.data(), p)));
        bound_curvature();
    }

    double transform(const double* normal, double* unit, double* offset) const override {
        std::copy_n(normal, p, unit);
        *offset = 0.0;
        if (!minorised_) return 0.0;
        minorant_.solve_transposed(normal, unit_.data());
        return 0.5 / dot(unit_.data(), unit_.data(), p);
    }

    void to_beta(const double* v, double* beta) const override { std::copy_n(v, p, beta); }
    void direction_from_beta(const double* beta, double* v) const override { std::copy_n(beta, p, v); }

    double loss(const double* beta) const override {
        double sum = constant_ + penalty(beta);
        const std::size_t k = mass_.size();
        set_margins(beta);
        for (std::size_t i = 0; i < k; ++i) sum += mass_[i] * loss_at<kind>(margins_[i]).value;
        return sum;
    }

    std::unique_ptr<Node> make_node() const override { return std::make_unique<SmoothNode>(p); }

    void copy(const Node& from, Node& to) const override {
        const auto& source = static_cast<const SmoothNode&>(from);
        auto& target = static_cast<SmoothNode&>(to);
        target.point = source.point;
        target.loss = source.loss;
        target.value = source.value;
        target.dropped = source.dropped;
        target.gradient = source.gradient;
        target.factor.copy_from(source.factor);
        target.curved = source.curved;
        target.spread = source.spread;
    }

    void start(Node& node) const override { copy(root_, node); }

    Settled settle(Node& node, const Sides& sides, const std::vector<int>& forced, double limit) override {
        auto& here = static_cast<SmoothNode&>(node);
        return descend(here, sides, forced, limit, false);
    }

 private:
    static constexpr double pivot = self_concordant<kind> ? Settings::vanishing_pivot : Settings::pieces_pivot;
    static constexpr double ridge = self_concordant<kind> ? Settings::vanishing_ridge : Settings::pieces_ridge;

    std::size_t at(int row, int column) const { return static_cast<std::size_t>(row) * p + column; }

    // The drawn rows, each turned by its label, so that its margin is its product with beta plus its offset.
    void gather(std::int64_t draw) {
        constant_ = 0.0;
        drawn_.clear();
        mass_.clear();
        offset_.clear();
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double mass = problem_.mass(draw, i);
            if (mass == 0.0) continue;
            const double offset = problem_.offset == nullptr ? 0.0 : problem_.labels[i] * problem_.offset[i];
            if (arrangement_.of_row[i] < 0) {
                constant_ += mass * loss_at<kind>(offset).value;
                continue;
            }
            drawn_.push_back(i);
            mass_.push_back(mass);
            offset_.push_back(offset);
        }
        const std::size_t k = mass_.size();
        columns_.resize(k * static_cast<std::size_t>(p));
        for (std::size_t i = 0; i < k; ++i) {
            const double* row = problem_.design + drawn_[i] * p;
            for (int l = 0; l < p; ++l) columns_[l * k + i] = problem_.labels[drawn_[i]] * row[l];
        }
        for (auto* vector : {&margins_, &slopes_, &bends_, &lengths_, &weighted_, &reach_}) vector->resize(k);
        gone_.assign(k, 0);
    }

    void set_margins(const double* beta) const {
        const std::size_t k = mass_.size();
        std::copy(offset_.begin(), offset_.end(), margins_.begin());
        for (int l = 0; l < p; ++l) {
            const double* column = columns_.data() + l * k;
            for (std::size_t i = 0; i < k; ++i) margins_[i] += beta[l] * column[i];
        }
    }

    double penalty(const double* beta) const {
        if (problem_.penalty == nullptr) return 0.0;
        double sum = 0.0;
        for (int a = 0; a < p; ++a) sum += beta[a] * dot(&ridge_[at(a, 0)], beta, p);
        return 0.5 * sum;
    }

    // The loss at the node's point and its derivatives row by row.
    void measure(SmoothNode& node) {
        const std::size_t k = mass_.size();
        set_margins(node.point.data());
        node.value = constant_ + penalty(node.point.data());
        node.dropped = 0.0;
        for (std::size_t i = 0; i < k; ++i) {
            const LossAt here = loss_at<kind>(margins_[i]);
            const double value = mass_[i] * here.value;
            node.value += value;
            slopes_[i] = mass_[i] * here.slope;
            bends_[i] = mass_[i] * here.bend;
            if constexpr (self_concordant<kind>) {
                gone_[i] = value < (gone_[i] ? Settings::returned : Settings::vanished);
                if (!gone_[i]) continue;
                node.dropped += value;
                slopes_[i] = 0.0;
                bends_[i] = 0.0;
            }
        }
    }

    // The quadratic model of the loss where it was measured.
    void model(SmoothNode& node) {
        const std::size_t k = mass_.size();
        for (int a = 0; a < p; ++a) {
            const double* column = columns_.data() + a * k;
            double slope = sum_of_products(slopes_.data(), column, k);
            if (problem_.penalty != nullptr) slope += dot(&ridge_[at(a, 0)], node.point.data(), p);
            node.gradient[a] = slope;
        }
        set_hessian(bends_);
        factorise(node);
        if constexpr (self_concordant<kind>) {
            node.factor.squared_lengths(columns_.data(), static_cast<int>(k), columns_scratch_, lengths_.data());
            double largest = 0.0;
            for (std::size_t i = 0; i < k; ++i) {
                if (bends_[i] > 0.0) largest = std::max(largest, lengths_[i]);
            }
            node.spread = std::sqrt(largest);
        }
    }

    // sum_i bend_i x_i x_i' plus the Hessian of the penalty: the upper triangle
    void set_hessian(const std::vector<double>& bends) {
        const std::size_t k = mass_.size();
        for (int a = 0; a < p; ++a) {
            const double* left = columns_.data() + a * k;
            for (std::size_t i = 0; i < k; ++i) weighted_[i] = bends[i] * left[i];
            for (int b = a; b < p; ++b) {
                hessian_[at(a, b)] = ridge_[at(a, b)] + sum_of_products(weighted_.data(), columns_.data() + b * k, k);
            }
        }
    }

    void factorise(SmoothNode& node) {
        const double longest = Settings::longest_step * size_of(node.point);
        node.curved = node.factor.factorise(hessian_, pivot);
        if (node.curved && free_step(node) <= longest) return;
        node.curved = false;
        double largest = 0.0;
        for (int a = 0; a < p; ++a) largest = std::max(largest, hessian_[at(a, a)]);
        double added = largest > 0.0 ? ridge * largest : 1.0;
        for (int round = 0; round < 40; ++round) {
            for (int a = 0; a < p; ++a) hessian_[at(a, a)] += added;
            if (node.factor.factorise(hessian_, 0.0) && free_step(node) <= longest) return;
            added *= 10.0;
        }
    }

    double free_step(const SmoothNode& node) {
        node.factor.solve_transposed(node.gradient.data(), newton_.data());
        node.factor.solve(newton_.data(), newton_.data());
        return std::sqrt(dot(newton_.data(), newton_.data(), p));
    }

    double size_of(const std::vector<double>& point) const {
        return std::max(extent, std::sqrt(dot(point.data(), point.data(), p)));
    }

    void minimise_freely() {
        root_.point = anchor_loss <= apex_loss ? anchor : apex;
        measure(root_);
        model(root_);
        descend(root_, {p, nullptr, nullptr, 0.0}, {}, std::numeric_limits<double>::infinity(), true);
        attained = root_.curved || (root_.dropped == 0.0 && !all_but_vanished(root_));
        if (root_.curved) {
            // the next step costs little, and squares the error of the minimiser
            for (int l = 0; l < p; ++l) root_.point[l] += newton_[l];
            measure(root_);
            model(root_);
        }
    }

    // Newton's method: each step minimises the quadratic model on the cone. The model's minimum, lowered by how much
    // the loss can undercut the model, bounds the loss on the cone from below (the multipliers of the constraints are
    // those of a dual feasible point). The node's point need not lie in the cone at first; then it takes the whole
    // step.
    Settled descend(SmoothNode& here, const Sides& sides, const std::vector<int>& forced, double limit, bool inside) {
        std::fill(gone_.begin(), gone_.end(), 0);
        for (int iteration = 0; iteration < Settings::newton_steps; ++iteration) {
            if (!find_step(here, sides, forced)) return Settled::unresolved;
            // newton_ is the step, scaled_ the same in the metric of the Hessian
            const double descent = dot(here.gradient.data(), newton_.data(), p);
            const double length2 = dot(scaled_.data(), scaled_.data(), p);
            here.loss =
                std::max(0.0, here.value - here.dropped + descent + length2 - model_error(here, std::sqrt(length2)));
            if (here.curved && here.loss > limit) return Settled::too_far;
            if (inside &&
                here.value - here.dropped - here.loss <= Settings::newton_gap * (1.0 + std::abs(here.value))) {
                return here.loss > limit ? Settled::too_far : Settled::yes;
            }
            if (inside) {
                if (!step_down(here, descent)) return Settled::unresolved;
            } else {
                for (int l = 0; l < p; ++l) here.point[l] += newton_[l];
                measure(here);
                // beta = 0 lies in every cone, and so does what is between
                while (!(here.value <= apex_loss)) {
                    const double size = dot(here.point.data(), here.point.data(), p);
                    for (double& x : here.point) x = size > 1e-300 && std::isfinite(size) ? 0.25 * x : 0.0;
                    measure(here);
                }
                inside = true;
            }
            model(here);
        }
        return Settled::unresolved;
    }

    bool all_but_vanished(const SmoothNode& here) const {
        return self_concordant<kind> && here.value <= Settings::vanished * static_cast<double>(mass_.size());
    }

    // The minimiser of the node's quadratic model on the cone: in the metric of the Hessian, the point of the cone that
    // is nearest to the free minimiser of the model.
    bool find_step(const SmoothNode& here, const Sides& sides, const std::vector<int>& forced) {
        here.factor.solve_transposed(here.gradient.data(), shift_.data());
        active_.reset();
        double allowed = 0.01 * Settings::tie;  // relative to the length of the point: cones have no scale
        for (int patience = 100 + 20 * (p + static_cast<int>(forced.size())); patience > 0; --patience) {
            for (int l = 0; l < p; ++l) scaled_[l] = active_.point()[l] - shift_[l];
            here.factor.solve(scaled_.data(), newton_.data());
            for (int l = 0; l < p; ++l) trial_[l] = here.point[l] + newton_[l];
            const double length = size_of(trial_);
            const int next = sides.most_violated(forced, trial_.data(), allowed * length);
            if (next < 0) return true;
            here.factor.solve_transposed(sides.normal(next), unit_.data());
            const double scale = 1.0 / std::sqrt(dot(unit_.data(), unit_.data(), p));
            for (double& x : unit_) x *= scale;
            const double violation = sides.side(next, trial_.data());
            if (active_.add(next, unit_.data(), violation * scale, std::numeric_limits<double>::infinity()) ==
                ActiveSet::Outcome::infeasible) {
                // a cone is never empty: the violation is a rounding error
                if (violation < -Settings::tie * length || allowed == Settings::tie) return false;
                allowed = Settings::tie;
                active_.reset();
            }
        }
        return false;
    }

    // How much the loss on the cone can lie below the minimum of the model there, given the length of the step.
    double model_error(const SmoothNode& here, double length) {
        if constexpr (self_concordant<kind>) return undercut(length, here.spread);
        // the model's gradient at the end of the step is that of a dual feasible point; what the step changes is the
        // error
        here.factor.multiply_transposed(scaled_.data(), unit_.data());
        if (minorised_) {
            minorant_.solve_transposed(unit_.data(), unit_.data());
            return 0.5 * dot(unit_.data(), unit_.data(), p);
        }
        return Settings::residual_reach * size_of(here.point) * std::sqrt(dot(unit_.data(), unit_.data(), p));
    }

    // Takes the step, halved until the loss falls by a share of what the model promises.
    bool step_down(SmoothNode& here, double descent) {
        const double before = here.value - here.dropped;
        start_ = here.point;
        double share = 1.0;
        for (int halvings = 0; halvings < 60; ++halvings) {
            for (int l = 0; l < p; ++l) here.point[l] = start_[l] + share * newton_[l];
            measure(here);
            const double promised = -share * descent;
            if (before - (here.value - here.dropped) >= 1e-4 * promised || promised <= 1e-13 * (1.0 + std::abs(before)))
                return true;
            share *= 0.5;
        }
        return false;
    }

    // A quadratic minorant: wherever g > 0, the Hessian is at least that of `minorant_`.
    void bound_curvature() {
        const double rise = horizon() - root_.loss;
        minorised_ = false;
        if (!std::isfinite(rise)) return;
        const std::size_t k = mass_.size();
        double radius = 0.0;  // in the metric whose lengths are in `lengths_`
        if constexpr (self_concordant<kind>) {
            if (!root_.curved || root_.dropped > 0.0) return;
            root_.factor.squared_lengths(columns_.data(), static_cast<int>(k), columns_scratch_, lengths_.data());
            radius = farthest(rise, root_.spread);
        } else {
            std::copy(ridge_.begin(), ridge_.end(), hessian_.begin());
            if (!minorant_.factorise(hessian_, pivot)) return;
            minorised_ = true;
            minorant_.squared_lengths(columns_.data(), static_cast<int>(k), columns_scratch_, lengths_.data());
            radius = std::sqrt(2.0 * rise);
        }
        set_margins(root_.point.data());
        std::fill(reach_.begin(), reach_.end(), std::numeric_limits<double>::infinity());
        for (int round = 0; round < 4; ++round) {
            for (std::size_t i = 0; i < k; ++i) {
                reach_[i] = std::min(reach_[i], 1.000001 * radius * std::sqrt(lengths_[i]));
                bends_[i] = mass_[i] * least_bend<kind>(margins_[i] - reach_[i], margins_[i] + reach_[i]);
            }
            set_hessian(bends_);
            if (!minorant_.factorise(hessian_, pivot)) {
                minorised_ = false;
                return;
            }
            minorised_ = true;
            minorant_.squared_lengths(columns_.data(), static_cast<int>(k), columns_scratch_, lengths_.data());
            radius = std::sqrt(2.0 * rise);
        }
    }

    const Problem& problem_;
    const Arrangement& arrangement_;
    SmoothNode root_;
    ActiveSet active_;
    Cholesky minorant_;
    bool minorised_ = false;
    std::vector<double> ridge_;    // (p, p) Hessian of the penalty
    std::vector<double> hessian_;  // (p, p) scratch

    // the drawn rows
    double constant_ = 0.0;  // loss of the zero rows
    std::vector<std::int64_t> drawn_;
    std::vector<double> columns_;  // (p, k) y_i x_i
    std::vector<double> mass_;
    std::vector<double> offset_;
    mutable std::vector<double> margins_;
    std::vector<double> slopes_;
    std::vector<char> gone_;  // rows that count as having no loss
    std::vector<double> bends_;
    std::vector<double> lengths_;
    std::vector<double> weighted_;
    std::vector<double> reach_;
    std::vector<double> columns_scratch_;

    // (p) scratch
    std::vector<double> newton_;
    std::vector<double> start_;
    std::vector<double> scaled_;
    std::vector<double> trial_;
    mutable std::vector<double> unit_;
    std::vector<double> shift_;
};

}  // namespace

std::unique_ptr<Relaxation> make_smooth(const Problem& problem, const Arrangement& arrangement) {
    switch (problem.loss) {
        case Loss::LOGISTIC:
            return std::make_unique<SmoothRelaxation<Loss::LOGISTIC>>(problem, arrangement);
        case Loss::EXPONENTIAL:
            return std::make_unique<SmoothRelaxation<Loss::EXPONENTIAL>>(problem, arrangement);
        case Loss::SQUARED_HINGE:
            return std::make_unique<SmoothRelaxation<Loss::SQUARED_HINGE>>(problem, arrangement);
        default:
            return std::make_unique<SmoothRelaxation<Loss::HUBER>>(problem, arrangement);
    }
}

}  // namespace cudbound
