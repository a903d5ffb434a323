// Points, hyperplanes and losses in the coordinates of a relaxation, told from what it says of coefficients.
#pragma once

#include <atomic>
#include <vector>

#include "cudbound/draws.hpp"
#include "losses/relaxation.hpp"
#include "oracles.hpp"

// That of a search that nothing ends.
inline cudbound::Budget& unlimited_budget() {
    static const std::atomic<bool> stop{false};
    static cudbound::Budget budget({}, stop);
    return budget;
}

// Writes the unit normal and the offset of one hyperplane, and returns its curvature.
inline double place(cudbound::Relaxation& relaxation, int hyperplane, double* unit, double* offset) {
    double curvature = 0.0;
    relaxation.place({hyperplane}, unit, offset, &curvature);
    return curvature;
}

inline oracle::Vector to_beta(const cudbound::Relaxation& relaxation, const oracle::Vector& v) {
    oracle::Vector beta(v.size());
    relaxation.to_beta(v.data(), beta.data());
    return beta;
}

// The point of these coefficients, by elimination.
inline oracle::Vector from_beta(const cudbound::Relaxation& relaxation, const oracle::Vector& beta) {
    const std::size_t p = beta.size();
    const oracle::Vector origin = to_beta(relaxation, oracle::Vector(p, 0.0));
    std::vector<std::vector<long double>> map(p, std::vector<long double>(p));
    std::vector<long double> right(p);
    for (std::size_t k = 0; k < p; ++k) {
        oracle::Vector axis(p, 0.0);
        axis[k] = 1.0;
        const oracle::Vector image = to_beta(relaxation, axis);
        for (std::size_t l = 0; l < p; ++l) map[l][k] = static_cast<long double>(image[l]) - origin[l];
        right[k] = static_cast<long double>(beta[k]) - origin[k];
    }
    std::vector<long double> v;
    oracle::solve_linear(map, right, &v);
    return {v.begin(), v.end()};
}

// Its loss, up to the constant of the draw.
inline double loss_at(const cudbound::Relaxation& relaxation, const cudbound::Problem& problem,
                      const oracle::Vector& v) {
    const auto n = static_cast<double>(problem.n);
    const double at_zero = n * oracle::loss(problem, 0, oracle::Vector(v.size(), 0.0).data());
    return n * oracle::loss(problem, 0, to_beta(relaxation, v).data()) - at_zero + relaxation.apex_loss;
}
