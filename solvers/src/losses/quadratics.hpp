// Quadratics in place of a smooth loss, whose trees cost far less than that of the loss.
#pragma once

#include <memory>

#include "linear_algebra/vector.hpp"
#include "losses/ball.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// Those of all draws, kept from one search to the next. Threads work on different draws.
using Minorants = Vector<std::unique_ptr<const Ball::Quadratic>>;

// A quadratic below the loss wherever g > 0, if there is one; an l1 penalty is not part of it, but of its tree. Its
// minimizer, cells and values are those of the quadratic: they bound Q from above, and no more. A draw without it has
// `found` false.
bool has_minorant(const Problem& problem);
std::unique_ptr<Relaxation> make_minorant(const Problem& problem, const Arrangement& arrangement, Minorants& kept,
                                          Budget& budget);

// The quadratic model of the loss at the minimizer of the draw. It bounds nothing: dives look there for classifiers.
// Follows `loss`, which has to be set to the draw before. Where the model is singular, `found` is false.
std::unique_ptr<Relaxation> make_model(const Problem& problem, const Arrangement& arrangement, const Relaxation& loss,
                                       Budget& budget);

}  // namespace cudbound
