// The quadratic model of a smooth loss at the minimizer of the draw. It bounds nothing, but its tree costs far less
// than that of the loss: dives look there for classifiers.
#pragma once

#include <memory>

#include "losses/relaxation.hpp"

namespace cudbound {

// Follows `loss`, which has to be set to the draw before. Where the model is singular, `found` is false.
std::unique_ptr<Relaxation> make_model(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss);

}  // namespace cudbound
