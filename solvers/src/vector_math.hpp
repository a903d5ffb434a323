#pragma once

namespace cudbound {

inline double dot(const double* a, const double* b, int size) {
    double sum = 0.0;
    for (int k = 0; k < size; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace cudbound
