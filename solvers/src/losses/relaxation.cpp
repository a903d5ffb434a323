#include "losses/relaxation.hpp"

#include "losses/hinge.hpp"
#include "losses/quadratics.hpp"
#include "losses/smooth.hpp"

namespace cudbound {

LossAt loss_at(Loss loss, double margin) {
    return with_loss(loss, [margin]<Loss kind>() { return loss_at<kind>(margin); });
}

std::unique_ptr<Relaxation> make_relaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget,
                                            KeptDraws* kept) {
    return with_loss(problem.loss, [&]<Loss kind>() -> std::unique_ptr<Relaxation> {
        if constexpr (kind == Loss::SQUARED) {
            return std::make_unique<SquaredRelaxation>(problem, arrangement, budget);
        } else if constexpr (kind == Loss::HINGE) {
            return std::make_unique<HingeRelaxation>(problem, arrangement, budget);
        } else {
            return std::make_unique<SmoothRelaxation<kind>>(problem, arrangement, budget, kept);
        }
    });
}

bool has_minorant(const Problem& problem) {
    const double size = static_cast<double>(problem.draws) * static_cast<double>(problem.p * problem.p);
    return with_loss(problem.loss, []<Loss kind>() { return has_quadratic<kind>; }) && std::isfinite(problem.alpha) &&
           problem.alpha > 0.0 && size <= Settings::minorant_size;
}

std::unique_ptr<Relaxation> make_minorant(const Problem& problem, const Arrangement& arrangement, KeptDraws& kept,
                                          Budget& budget) {
    return with_loss(problem.loss, [&]<Loss kind>() -> std::unique_ptr<Relaxation> {
        if constexpr (has_quadratic<kind>) {
            return std::make_unique<MinorantRelaxation<kind>>(problem, arrangement, kept, budget);
        } else {
            throw std::invalid_argument("there is no quadratic below this loss");
        }
    });
}

std::unique_ptr<Relaxation> make_model(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss,
                                       Budget& budget) {
    return with_loss(problem.loss, [&]<Loss kind>() -> std::unique_ptr<Relaxation> {
        if constexpr (kind == Loss::SQUARED || kind == Loss::HINGE) {
            throw std::invalid_argument("this loss has no model of its own");
        } else {
            return std::make_unique<ModelRelaxation<kind>>(problem, arrangement, loss, budget);
        }
    });
}

}  // namespace cudbound
