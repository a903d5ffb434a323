// The cells of an arrangement of hyperplanes, found by going through its flats.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>

#include "oracles.hpp"

namespace oracle {

double dot(const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

Vector unit(Vector a) {
    const double length = std::sqrt(dot(a, a));
    for (double& x : a) x /= length;
    return a;
}

namespace {

__extension__ using Wide = __int128;

Wide determinant(const std::vector<std::vector<Wide>>& a) {
    if (a.empty()) return 1;
    Wide sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[0][k] == 0) continue;
        std::vector<std::vector<Wide>> minor(a.begin() + 1, a.end());
        for (auto& row : minor) row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
        sum += (k % 2 == 0 ? 1 : -1) * a[0][k] * determinant(minor);
    }
    return sum;
}

}  // namespace

int rank_of_whole_numbers(const Rows& rows) {
    const int n = static_cast<int>(rows.size());
    const int p = static_cast<int>(rows[0].size());
    int rank = 0;
    for_each_subset(n, p, [&](const std::vector<int>& some_rows) {
        if (static_cast<int>(some_rows.size()) <= rank) return;
        for_each_subset(p, p, [&](const std::vector<int>& columns) {
            if (columns.size() != some_rows.size() || static_cast<int>(columns.size()) <= rank) return;
            std::vector<std::vector<Wide>> minor;
            for (const int i : some_rows) {
                minor.emplace_back();
                for (const int k : columns) minor.back().push_back(static_cast<Wide>(rows[i][k]));
            }
            if (determinant(minor) != 0) rank = static_cast<int>(columns.size());
        });
    });
    return rank;
}

void for_each_subset(int m, int largest, const std::function<void(const std::vector<int>&)>& visit) {
    std::vector<int> members;
    const std::function<void(int)> extend = [&](int first) {
        visit(members);
        if (static_cast<int>(members.size()) == largest) return;
        for (int j = first; j < m; ++j) {
            members.push_back(j);
            extend(j + 1);
            members.pop_back();
        }
    };
    extend(0);
}

namespace {

constexpr double negligible = 1e-9;

// Orthonormal basis of the hyperplane a'w = 0, by Gram-Schmidt.
Rows basis_of_hyperplane(const Vector& a) {
    const std::size_t p = a.size();
    Rows basis{a};
    for (std::size_t k = 0; k < p && basis.size() < p; ++k) {
        Vector e(p, 0.0);
        e[k] = 1.0;
        for (int twice = 0; twice < 2; ++twice) {
            for (const Vector& b : basis) {
                const double along = dot(e, b);
                for (std::size_t l = 0; l < p; ++l) e[l] -= along * b[l];
            }
        }
        if (dot(e, e) > 1e-4) basis.push_back(unit(e));
    }
    basis.erase(basis.begin());
    return basis;
}

// Which side of each hyperplane a point is on, as bits that are the same for opposite points.
std::uint64_t sides_of(const Rows& planes, const Vector& point) {
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < planes.size(); ++j) {
        if (dot(planes[j], point) > 0.0) bits |= std::uint64_t{1} << j;
    }
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - planes.size());
    return (bits & 1) != 0 ? bits : ~bits & all;
}

// A point in one of every two opposite cells of at least one hyperplane, with unit normals.
Rows half_of_cells(const Rows& planes, int p) {
    if (p == 1) return {{1.0}};
    if (planes.size() > 64) throw std::logic_error("the oracle takes 64 hyperplanes");
    Rows points;
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < planes.size(); ++i) {
        const Rows basis = basis_of_hyperplane(planes[i]);
        Rows traces;
        Rows units;
        bool repeated = false;
        for (std::size_t j = 0; j < planes.size(); ++j) {
            Vector trace;
            for (const Vector& e : basis) trace.push_back(dot(e, planes[j]));
            if (std::sqrt(dot(trace, trace)) > negligible) {
                traces.push_back(trace);
                units.push_back(unit(trace));
            } else {
                repeated = repeated || j < i;  // it is this hyperplane
            }
        }
        if (repeated) continue;
        Vector first(p - 1, 0.0);
        first[0] = 1.0;
        for (const Vector& facet : units.empty() ? Rows{first} : half_of_cells(units, p - 1)) {
            double clearance = 1.0;
            for (const Vector& trace : traces) clearance = std::min(clearance, std::abs(dot(trace, facet)));
            for (const double side : {0.5, -0.5}) {
                Vector point(p, 0.0);
                for (int l = 0; l < p; ++l) {
                    for (std::size_t e = 0; e < basis.size(); ++e) point[l] += facet[e] * basis[e][l];
                    point[l] += side * clearance * planes[i][l];
                }
                if (seen.insert(sides_of(planes, point)).second) points.push_back(unit(point));
            }
        }
    }
    return points;
}

}  // namespace

Rows cells(const Rows& normals, int p) {
    Rows planes;
    for (const Vector& a : normals) {
        if (std::sqrt(dot(a, a)) > negligible) planes.push_back(unit(a));
    }
    if (planes.empty()) {
        Vector anywhere(p, 0.0);
        anywhere[0] = 1.0;
        return {anywhere};
    }
    Rows points = half_of_cells(planes, p);
    const std::size_t half = points.size();
    for (std::size_t k = 0; k < half; ++k) {
        points.push_back(points[k]);
        for (double& x : points.back()) x = -x;
    }
    return points;
}

double largest_gain(const Rows& normals, const Vector& gains, int p) {
    double best = -std::numeric_limits<double>::infinity();
    for (const Vector& w : cells(normals, p)) {
        double gain = 0.0;
        for (std::size_t j = 0; j < normals.size(); ++j) {
            if (dot(normals[j], w) > 0.0) gain += gains[j];
        }
        best = std::max(best, gain);
    }
    return best;
}

bool is_open_cone(const Rows& normals, int p) {
    const std::size_t size = normals.size();
    if (static_cast<int>(size) <= p) {
        // independent normals can have any products with a w; their Gram matrix is regular
        std::vector<std::vector<long double>> gram(size, std::vector<long double>(size));
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j) gram[i][j] = dot(normals[i], normals[j]);
        }
        std::vector<long double> any;
        if (solve_linear(gram, std::vector<long double>(size, 1.0L), &any)) return true;
    }
    const Rows points = cells(normals, p);
    return std::any_of(points.begin(), points.end(), [&](const Vector& w) {
        return std::all_of(normals.begin(), normals.end(), [&](const Vector& a) { return dot(a, w) > 0.0; });
    });
}

}  // namespace oracle
