// What arguments have to be. An array that is absent has every property.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace cudbound {

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T, class Property>
bool all_are(const T* values, std::int64_t size, const Property& property) {
    return values == nullptr || std::all_of(values, values + size, property);
}

inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_sign(double x) { return std::abs(x) == 1.0; }
inline bool is_strength(double x) { return x >= 0.0 && std::isfinite(x); }

}  // namespace cudbound
