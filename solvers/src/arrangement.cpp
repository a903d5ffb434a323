#include "arrangement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cudbound/settings.hpp"

namespace cudbound {

namespace {

double length(const double* row, std::int64_t p) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < p; ++k) sum += row[k] * row[k];
    return std::sqrt(sum);
}

}  // namespace

Arrangement merge_rows(std::int64_t n, std::int64_t p, const double* design) {
    Arrangement result;
    result.p = static_cast<int>(p);
    result.of_row.assign(n, -1);
    result.orientation.assign(n, 1);

    std::vector<double> lengths(n);
    for (std::int64_t i = 0; i < n; ++i) lengths[i] = length(design + i * p, p);
    const double longest = n > 0 ? *std::max_element(lengths.begin(), lengths.end()) : 0.0;

    // Collinear unit rows have the same |projection| on any fixed direction. Sorting by it brings them within
    // reach of each other without comparing all pairs.
    std::vector<double> unit(n * p);
    std::vector<double> key(n);
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < n; ++i) {
        if (!(lengths[i] > Settings::zero_row * longest)) continue;
        double projection = 0.0;
        for (std::int64_t k = 0; k < p; ++k) {
            unit[i * p + k] = design[i * p + k] / lengths[i];
            projection += unit[i * p + k] * std::cos(1.0 + 0.7 * static_cast<double>(k));
        }
        key[i] = std::abs(projection);
        order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });

    const double reach = Settings::merge * std::sqrt(static_cast<double>(p));
    std::vector<std::int64_t> representative;  // row that gave each hyperplane its normal
    std::vector<int> nearby;                   // hyperplanes whose key is within reach, oldest first
    for (const std::int64_t i : order) {
        std::erase_if(nearby, [&](int h) { return key[i] - key[representative[h]] > reach; });
        for (const int h : nearby) {
            const double* a = &unit[i * p];
            const double* b = &unit[representative[h] * p];
            double same = 0.0;
            double opposite = 0.0;
            for (std::int64_t k = 0; k < p; ++k) {
                same += (a[k] - b[k]) * (a[k] - b[k]);
                opposite += (a[k] + b[k]) * (a[k] + b[k]);
            }
            if (std::min(same, opposite) <= Settings::merge * Settings::merge) {
                result.of_row[i] = h;
                result.orientation[i] = same <= opposite ? 1 : -1;
                break;
            }
        }
        if (result.of_row[i] < 0) {
            result.of_row[i] = result.count++;
            representative.push_back(i);
            nearby.push_back(result.of_row[i]);
        }
    }
    result.normals.resize(static_cast<std::size_t>(result.count) * p);
    for (int h = 0; h < result.count; ++h) {
        std::copy_n(&unit[representative[h] * p], p, &result.normals[static_cast<std::size_t>(h) * p]);
    }
    return result;
}

void SideScores::tally(const Arrangement& arrangement, const double* labels, const double* weights) {
    fixed = 0.0;
    positive.assign(arrangement.count, 0.0);
    negative.assign(arrangement.count, 0.0);
    for (std::size_t i = 0; i < arrangement.of_row.size(); ++i) {
        const int h = arrangement.of_row[i];
        if (h < 0) {
            if (labels[i] < 0.0) fixed += weights[i];
        } else if (labels[i] * arrangement.orientation[i] > 0.0) {
            negative[h] += weights[i];
        } else {
            positive[h] += weights[i];
        }
    }
}

}  // namespace cudbound
