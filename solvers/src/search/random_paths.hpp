// Paths down a tree that differ at random.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// On each path every hyperplane of a draw has a weight at random. Some weigh more: those that were forced where the
// best value so far was found, or where the loss was all but small enough for a better one. The numbers are the same on
// every machine.
class RandomPaths {
 public:
    void start(std::uint64_t seed, int hyperplanes, double value) {
        state_ = seed;
        best_ = value;
        least_ = infinity;
        weights_.resize(hyperplanes);
        favored_.assign(hyperplanes, 0);
    }

    void next() {
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const double share = uniform();
            weights_[i] = (share + Effort::path_evenness) / (1.0 - share + Effort::path_evenness);
            if (favored_[i]) weights_[i] *= Effort::path_loyalty;
        }
    }

    double weight(int hyperplane) const { return weights_[hyperplane]; }

    // The value of a point whose score exceeds the best value, with its loss and the hyperplanes that are forced.
    // Returns whether it is no better, and none had less loss since `turn`: the caller keeps it as `near`.
    bool offer(double value, double loss, const Vector<int>& forced, const Vector<int>& hyperplanes) {
        if (value > best_) {
            best_ = value;
            least_ = infinity;
            mark(forced, hyperplanes, favored_);
            return false;
        }
        if (!(loss < least_)) return false;
        least_ = loss;
        mark(forced, hyperplanes, led_near_);
        return true;
    }

    // Favors what led to `near`, if that was found after the best value.
    bool turn() {
        if (!(least_ < infinity)) return false;
        least_ = infinity;
        favored_ = led_near_;
        return true;
    }

    Vector<double> near;  // (p) coefficients

 private:
    void mark(const Vector<int>& forced, const Vector<int>& hyperplanes, Vector<char>& marks) const {
        marks.assign(weights_.size(), 0);
        for (const int j : forced) marks[hyperplanes[j]] = 1;
    }

    // splitmix64
    double uniform() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t bits = state_;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
        return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
    }

    std::uint64_t state_ = 0;
    double best_ = 0.0;
    double least_ = infinity;
    Vector<double> weights_;
    Vector<char> favored_;
    Vector<char> led_near_;
};

}  // namespace cudbound
