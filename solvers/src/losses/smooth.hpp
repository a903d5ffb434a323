// Smooth losses: the minimizer on a cone by Newton steps, each a least-distance problem.
#pragma once

#include <memory>

#include "losses/relaxation.hpp"

namespace cudbound {

// The relaxation of a logistic, exponential, squared hinge or Huber loss. Coordinates are the coefficients themselves.
std::unique_ptr<Relaxation> make_smooth(const Problem& problem, const Arrangement& arrangement, Budget& budget);

}  // namespace cudbound
