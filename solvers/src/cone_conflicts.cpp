#include "cone_conflicts.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

ConeConflicts::ConeConflicts(int p) : p_(p), active_(p), axis_(p), sum_(p), point_(p) {}

void ConeConflicts::set(const SimplicialCone& cone) {
    cone_ = &cone;
    const std::size_t k = cone.cut.size();
    rows_.resize(k * cone.p);
    lengths_.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
        double* row = &rows_[j * cone.p];
        for (int v = 0; v < p_; ++v) row[v] = cone.sides[static_cast<std::size_t>(v) * k + j];
        lengths_[j] = std::sqrt(dot(row, row, p_));  // positive, since the hyperplane cuts the cone
        for (int v = 0; v < p_; ++v) row[v] /= lengths_[j];
    }
}

ConeConflicts::Verdict ConeConflicts::find(const std::vector<char>& wanted) {
    constexpr double thinnest = 1.0 / (Settings::thinnest_cone * Settings::thinnest_cone);
    const int k = static_cast<int>(lengths_.size());
    active_.reset();
    const double* x = active_.point();
    for (int steps = 0; steps < 100 + 50 * p_; ++steps) {
        // what rounding alone can miss grows with |x|
        double worst = -1e-9 - 1e-13 * std::sqrt(active_.squared_norm());
        int next = -1;
        for (int j = 0; j < k; ++j) {
            if (!wanted[j]) continue;
            const double side = dot(&rows_[static_cast<std::size_t>(j) * p_], x, p_) - 1.0;
            if (side < worst) {
                worst = side;
                next = j;
            }
        }
        for (int v = 0; v < p_; ++v) {
            if (x[v] < worst) {
                worst = x[v];
                next = k + v;
            }
        }
        if (next < 0) {
            // half of the margin of 1 is spent on leaving the cone's own facets
            std::fill(point_.begin(), point_.end(), 0.0);
            for (int v = 0; v < p_; ++v) {
                const double share = std::max(x[v], 0.0) + 0.5 / std::sqrt(static_cast<double>(p_));
                for (int l = 0; l < p_; ++l) point_[l] += share * cone_->vertex(v)[l];
            }
            blame_active(k);
            return Verdict::open;
        }
        const double* row = next < k ? &rows_[static_cast<std::size_t>(next) * p_] : axis_.data();
        std::fill(axis_.begin(), axis_.end(), 0.0);
        if (next >= k) axis_[next - k] = 1.0;
        const auto outcome = active_.add(next, row, worst, thinnest);
        if (outcome == ActiveSet::Outcome::infeasible) return proved(next) ? Verdict::conflict : Verdict::unknown;
        if (outcome == ActiveSet::Outcome::too_far) {
            blame_active(next);
            return Verdict::unknown;
        }
    }
    blame_active(k);
    return Verdict::unknown;
}

void ConeConflicts::blame_active(int next) {
    const int k = static_cast<int>(lengths_.size());
    conflict_.clear();
    if (next < k) conflict_.push_back(next);
    for (int i = 0; i < active_.size(); ++i) {
        const int j = active_.label(i);
        if (j < k && j != next) conflict_.push_back(j);
    }
}

// The combination that the active set found, on the cone's coordinates: facets of the cone have no part in it, since
// taking them away can only leave a sum that is negative at their vertices.
bool ConeConflicts::proved(int next) {
    const int k = static_cast<int>(lengths_.size());
    conflict_.clear();
    std::fill(sum_.begin(), sum_.end(), 0.0);
    double weights = 0.0;
    for (int i = -1; i < active_.size(); ++i) {
        const int j = i < 0 ? next : active_.label(i);
        const double weight = i < 0 ? 1.0 : active_.certificate(i);
        if (j >= k || !(weight > 0.0)) continue;
        conflict_.push_back(j);
        weights += weight / lengths_[j];
        for (int v = 0; v < p_; ++v) sum_[v] += weight * rows_[static_cast<std::size_t>(j) * p_ + v];
    }
    return *std::max_element(sum_.begin(), sum_.end()) <= Settings::cone_rounding * weights;
}

}  // namespace cudbound
