// A quadratic below the logistic loss wherever g > 0: its tree costs far less than that of the loss, and proves upper
// bounds.
#pragma once

#include <memory>
#include <vector>

#include "losses/ball.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

// Those of all draws, kept from one search to the next. Threads work on different draws.
using Minorants = std::vector<std::unique_ptr<const Ball::Quadratic>>;

// Whether there is one. Its minimizer, cells and values are those of the quadratic: they bound Q from above, and no
// more. A draw without it has `found` false.
bool has_minorant(const Problem& problem);
std::unique_ptr<Relaxation> make_minorant(const Problem& problem, const Arrangement& arrangement, Minorants& kept);

}  // namespace cudbound
