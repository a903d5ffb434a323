#include "relaxation.hpp"

#include "squared.hpp"

namespace cudbound {

std::unique_ptr<Relaxation> make_relaxation(const Problem& problem, const Arrangement& arrangement) {
    return std::make_unique<SquaredRelaxation>(problem, arrangement);
}

}  // namespace cudbound
