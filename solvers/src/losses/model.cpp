#include "losses/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "losses/drawn_rows.hpp"
#include "losses/squared.hpp"
#include "problem/loss.hpp"

namespace cudbound {

namespace {

template <Loss kind>
class ModelRelaxation final : public SquaredRelaxation {
 public:
    ModelRelaxation(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss)
        : SquaredRelaxation(problem, arrangement),
          loss_(loss),
          rows_(problem, arrangement),
          beta_(static_cast<std::size_t>(problem.p)) {
        rows_.keep_all();
        quadratic_.gram.resize(beta_.size() * beta_.size());
    }

    void set(std::int64_t draw) override {
        found = loss_.found;
        if (!found) return;
        rows_.set(draw);
        const Node& minimizer = loss_.root();
        rows_.measure(minimizer.point.data());
        rows_.hessian(quadratic_.gram);
        for (double& x : quadratic_.gram) x *= 0.5;
        quadratic_.center = minimizer.point;
        quadratic_.least = minimizer.loss;
        quadratic_.anchor_rise = std::max(0.0, loss_.anchor_loss + loss_.slack - minimizer.loss);
        found = ball_.set(quadratic_);
        if (found) adopt(0.0);
    }

    double attained_loss(const Node& node) override {
        ball_.to_beta(node.point.data(), beta_.data());
        return rows_.loss(beta_.data()) - quadratic_.least;
    }

 private:
    const Relaxation& loss_;
    DrawnRows<kind> rows_;
    Ball::Quadratic quadratic_;
    std::vector<double> beta_;  // (p) scratch
};

}  // namespace

std::unique_ptr<Relaxation> make_model(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss) {
    return with_loss(problem.loss, [&]<Loss kind>() -> std::unique_ptr<Relaxation> {
        if constexpr (kind == Loss::SQUARED || kind == Loss::HINGE) {
            throw std::invalid_argument("this loss has no model of its own");
        } else {
            return std::make_unique<ModelRelaxation<kind>>(problem, arrangement, loss);
        }
    });
}

}  // namespace cudbound
