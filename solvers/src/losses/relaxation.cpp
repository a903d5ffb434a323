#include "losses/relaxation.hpp"

#include "losses/hinge.hpp"
#include "losses/smooth.hpp"
#include "losses/squared.hpp"
#include "problem/loss.hpp"

namespace cudbound {

std::unique_ptr<Relaxation> make_relaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget) {
    return with_loss(problem.loss, [&]<Loss kind>() -> std::unique_ptr<Relaxation> {
        if constexpr (kind == Loss::SQUARED) {
            return std::make_unique<SquaredRelaxation>(problem, arrangement, budget);
        } else if constexpr (kind == Loss::HINGE) {
            return std::make_unique<HingeRelaxation>(problem, arrangement, budget);
        } else {
            return std::make_unique<SmoothRelaxation<kind>>(problem, arrangement, budget);
        }
    });
}

}  // namespace cudbound
