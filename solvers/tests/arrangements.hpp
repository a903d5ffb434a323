// Unit normals with gains, at random, as the searches for the best open cell take them.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "problem/arrangement.hpp"

inline std::vector<double> flatten(const oracle::Rows& rows) {
    std::vector<double> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

// The hyperplanes of rows, none of them zero, and a unit normal along each row. Whether some depend on each other is
// told by the rows as they are given, not by the normals, which are rounded.
class Hyperplanes {
 public:
    Hyperplanes(const oracle::Rows& rows, int p) : design_(flatten(rows)), arrangement(merge(p)) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double* normal = arrangement.normal(arrangement.of_row[i]);
            for (int k = 0; k < p; ++k) units_.push_back(arrangement.orientation[i] * normal[k]);
        }
    }
    Hyperplanes(const Hyperplanes&) = delete;
    Hyperplanes& operator=(const Hyperplanes&) = delete;

    cudbound::Normals normals() const { return {units_.data(), arrangement.of_row.data()}; }
    std::shared_ptr<cudbound::ExactRank> exact() const {
        return std::make_shared<cudbound::ExactRank>(arrangement.exact_rows());
    }
    cudbound::CentralHyperplanes central(const std::vector<double>& gains) const {
        cudbound::CentralHyperplanes all;
        all.p = arrangement.p;
        all.count = static_cast<int>(gains.size());
        all.normals = units_.data();
        all.gains = gains.data();
        all.in_arrangement = arrangement.of_row.data();
        return all;
    }

 private:
    cudbound::Arrangement merge(int p) const {
        cudbound::Problem problem;
        problem.n = static_cast<std::int64_t>(design_.size()) / p;
        problem.p = p;
        problem.design = design_.data();
        return cudbound::merge_rows(problem);
    }

    std::vector<double> design_;
    std::vector<double> units_;

 public:
    const cudbound::Arrangement arrangement;
};

struct GainProblem {
    int p = 0;
    oracle::Rows normals;    // distinct hyperplanes, unit
    oracle::Vector gains;    // positive
    oracle::Rows rows = {};  // along the normals, as they were before they were made unit; empty if they were unit

    std::vector<double> flat() const { return flatten(normals); }
    Hyperplanes hyperplanes() const { return {rows.empty() ? normals : rows, p}; }

    // Adds the hyperplane of `a` unless it is there already, whichever way it points.
    bool add(oracle::Vector a, double gain) {
        const double length = std::sqrt(oracle::dot(a, a));
        if (length == 0.0) return false;
        const oracle::Vector row = a;
        for (double& x : a) x /= length;
        for (const auto& b : normals) {
            if (std::abs(oracle::dot(a, b)) > 1.0 - 1e-9) return false;
        }
        normals.push_back(a);
        rows.push_back(row);
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
    GainProblem problem{p, {}, {}, {}};
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
