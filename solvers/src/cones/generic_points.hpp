// Points in general position, the same in every run.
#pragma once

#include <cstdint>

namespace cudbound {

class GenericPoints {
 public:
    void next(double* point, int p) {
        for (int l = 0; l < p; ++l) {
            state_ = state_ * 6364136223846793005u + 1442695040888963407u;
            point[l] = static_cast<double>(state_ >> 11) * 0x1p-53 - 0.5;
        }
    }

 private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15u;
};

}  // namespace cudbound
