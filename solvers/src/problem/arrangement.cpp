#include "problem/arrangement.hpp"

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

Arrangement merge_rows(const Problem& problem) {
    const std::int64_t n = problem.n;
    const auto p = static_cast<int>(problem.p);
    Arrangement result;
    result.p = p;
    result.rows_ = n;
    result.exact_ = problem.raw.design == nullptr ? problem.design : problem.raw.exact;
    result.of_row.assign(n, -1);
    result.orientation.assign(n, 1);
    ExactRank exact = result.exact_rows();

    // Collinear unit rows have the same |projection| on any fixed direction. Sorting by it brings them within
    // reach of each other without comparing all pairs.
    Vector<double> unit(n * p);
    Vector<double> key(n);
    Vector<double> error(n);
    Vector<std::int64_t> order;
    const auto row_of = [&](std::int64_t i) { return &unit[i * p]; };
    for (std::int64_t i = 0; i < n; ++i) {
        const double* exactly = result.exact_ + i * problem.p;
        if (std::all_of(exactly, exactly + problem.p, [](double x) { return x == 0.0; })) continue;
        // times a power of 2, since the squares of its entries may be too small for a number
        const double* row = problem.design + i * p;
        double largest = 0.0;
        for (int k = 0; k < p; ++k) largest = std::max(largest, std::abs(row[k]));
        for (int k = 0; k < p; ++k) row_of(i)[k] = largest > 0.0 ? std::scalbn(row[k], -std::ilogb(largest)) : 0.0;
        const double length = length_of(row_of(i), p);
        error[i] = length > 0.0 ? std::min(1.0, problem.raw.error) : 1.0;
        double projection = 0.0;
        for (int k = 0; k < p; ++k) {
            row_of(i)[k] = length > 0.0 ? row_of(i)[k] / length : (k == 0 ? 1.0 : 0.0);
            projection += row_of(i)[k] * std::cos(1.0 + 0.7 * static_cast<double>(k));
        }
        key[i] = std::abs(projection);
        order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        const double left = key[a];
        const double right = key[b];
        return left != right ? left < right : a < b;
    });

    Vector<int> nearby;   // hyperplanes whose key is within reach, oldest first
    double widest = 0.0;  // error of a row so far
    for (const std::int64_t i : order) {
        const double row_error = error[i];
        widest = std::max(widest, row_error);
        const double reach = (Settings::near + row_error + widest) * std::sqrt(static_cast<double>(p));
        std::erase_if(nearby, [&](int h) {
            const std::int64_t first = result.representatives[h];
            return key[i] - key[first] > reach;
        });
        for (const int h : nearby) {
            const std::int64_t other = result.representatives[h];
            const double* a = row_of(i);
            const double* b = row_of(other);
            const double along = dot(a, b, p);
            const double turn = along < 0.0 ? -1.0 : 1.0;
            double apart = 0.0;
            for (int k = 0; k < p; ++k) apart = std::max(apart, std::abs(a[k] - turn * b[k]));
            if (apart > Settings::near + row_error + error[other]) continue;
            const std::int64_t both[] = {i, other};
            if (!exact.dependent(both, 2)) continue;
            // the rows themselves decide which way they point
            const double* x = result.exact_ + i * problem.p;
            const double* y = result.exact_ + other * problem.p;
            double same = 0.0;
            for (std::int64_t k = 0; k < problem.p && same == 0.0; ++k) {
                if (x[k] != 0.0) same = (x[k] > 0.0) == (y[k] > 0.0) ? 1.0 : -1.0;
            }
            result.of_row[i] = h;
            result.orientation[i] = same > 0.0 ? 1 : -1;
            break;
        }
        if (result.of_row[i] < 0) {
            result.of_row[i] = result.count++;
            result.representatives.push_back(i);
            result.errors.push_back(row_error);
            result.normals.insert(result.normals.end(), row_of(i), row_of(i) + p);
            nearby.push_back(result.count - 1);
        }
    }
    result.mixed.assign(result.count, 0);
    for (std::size_t i = 0; i < result.of_row.size(); ++i) {
        if (result.orientation[i] < 0) result.mixed[result.of_row[i]] = 1;
    }
    return result;
}

void SideScores::tally(const Arrangement& arrangement, const double* labels, const double* weights) {
    fixed = 0.0;
    of_side.assign(2 * arrangement.count, 0.0);
    for (std::size_t i = 0; i < arrangement.of_row.size(); ++i) {
        const int h = arrangement.of_row[i];
        if (h < 0) {
            if (labels[i] < 0.0) fixed += weights[i];
        } else {
            of_side[2 * h + !(labels[i] * arrangement.orientation[i] > 0.0)] += weights[i];
        }
    }
}

}  // namespace cudbound
