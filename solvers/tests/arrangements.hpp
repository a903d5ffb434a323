// Unit normals with gains, at random, as the searches for the best open cell take them.
#pragma once

#include <cmath>
#include <vector>

#include "instances.hpp"
#include "oracles.hpp"

struct GainProblem {
    int p = 0;
    oracle::Rows normals;  // distinct hyperplanes
    oracle::Vector gains;  // positive

    std::vector<double> flat() const {
        std::vector<double> all;
        for (const auto& a : normals) all.insert(all.end(), a.begin(), a.end());
        return all;
    }

    // Adds the hyperplane of `a` unless it is there already, whichever way it points.
    bool add(oracle::Vector a, double gain) {
        const double length = std::sqrt(oracle::dot(a, a));
        if (length == 0.0) return false;
        for (double& x : a) x /= length;
        for (const auto& b : normals) {
            if (std::abs(oracle::dot(a, b)) > 1.0 - 1e-9) return false;
        }
        normals.push_back(a);
        gains.push_back(gain);
        return true;
    }

    // Gain of the open cell that contains w, or -1 if w lies on a hyperplane, or closer than `clear` relative to |w|.
    double gain_at(const std::vector<double>& w, double clear) const {
        const double length = std::sqrt(oracle::dot(w, w));
        double gain = 0.0;
        for (std::size_t j = 0; j < gains.size(); ++j) {
            const double side = oracle::dot(normals[j], w);
            if (!(std::abs(side) > clear * length)) return -1.0;
            if (side > 0.0) gain += gains[j];
        }
        return gain;
    }
};

enum class NormalKind {
    general,   // normal entries
    integers,  // entries -1, 0, 1: many hyperplanes through a line
    pencil     // normal entries in two coordinates: all hyperplanes share a flat of codimension 2
};

// At most m hyperplanes (fewer if the kind has fewer, one for p = 1), with gains 1, 2 or 3.
inline GainProblem random_gains(Random& random, int p, int m, NormalKind kind) {
    GainProblem problem{p, {}, {}};
    for (int tries = 0; tries < 50 && static_cast<int>(problem.gains.size()) < m; ++tries) {
        oracle::Vector a(p, 0.0);
        for (int k = 0; k < p; ++k) {
            if (kind == NormalKind::integers) {
                a[k] = integer(random, -1, 1);
            } else if (kind == NormalKind::general || k < 2) {
                a[k] = normal(random);
            }
        }
        problem.add(a, integer(random, 1, 3));
    }
    return problem;
}
