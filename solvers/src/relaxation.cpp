#include "relaxation.hpp"

#include "hinge.hpp"
#include "smooth.hpp"
#include "squared.hpp"

namespace cudbound {

std::unique_ptr<Relaxation> make_relaxation(const Problem& problem, const Arrangement& arrangement) {
    switch (problem.loss) {
        case Loss::SQUARED:
            return std::make_unique<SquaredRelaxation>(problem, arrangement);
        case Loss::HINGE:
            return std::make_unique<HingeRelaxation>(problem, arrangement);
        default:
            return make_smooth(problem, arrangement);
    }
}

}  // namespace cudbound
