// The comparisons that prune, and what is kept of the parts that are left open. NaN prunes nothing: a comparison with
// it is false, so every prune asks for what has to hold, never for the failure of its opposite.
#pragma once

#include <cmath>

#include "cudbound/draws.hpp"

namespace cudbound {

// Whether a part with this upper bound holds nothing above the value: not if either is NaN.
inline bool at_most(double bound, double value) { return bound <= value; }

// Whether a part with this least loss lies beyond the limit: not if either is NaN.
inline bool exceeds(double loss, double limit) { return loss > limit; }

// The bound of what is left open, after a part with another bound is. std::max would forget a NaN, of which nothing is
// known: it counts as infinity.
inline double with_open(double open, double bound) { return std::isnan(bound) ? infinity : std::max(open, bound); }

}  // namespace cudbound
