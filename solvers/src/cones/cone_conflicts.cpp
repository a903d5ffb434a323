#include "cones/cone_conflicts.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

ConeConflicts::ConeConflicts(int p, ExactRank& exact) : p_(p), exact_(exact), active_(p), axis_(p), point_(p) {}

void ConeConflicts::set(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone) {
    hyperplanes_ = hyperplanes;
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
    for (int steps = 0; steps < Effort::conflict_moves + Effort::conflict_moves_per_dimension * p_; ++steps) {
        // what rounding alone can miss grows with |x|
        double worst = -Settings::cone_margin - Settings::conflict_rounding * std::sqrt(active_.squared_norm());
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
        if (outcome == ActiveSet::Outcome::infeasible) return is_certain(next) ? Verdict::conflict : Verdict::unknown;
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

// The combination that the active set found vanishes up to rounding. That of p + 1 vectors in p dimensions exists in
// any case, and weights well above rounding keep their signs; facets of the cone are in general position, so that fewer
// vectors are dependent only if they are all hyperplanes.
bool ConeConflicts::is_certain(int next) {
    const int k = static_cast<int>(lengths_.size());
    conflict_.clear();
    members_.clear();
    double smallest = 1.0;  // weight of `next` itself
    double moved = 0.0;     // by what the sides may be off
    double left_out = 0.0;
    int parts = 0;
    for (int i = -1; i < active_.size(); ++i) {
        const int j = i < 0 ? next : active_.label(i);
        const double weight = i < 0 ? 1.0 : active_.certificate(i);
        if (!(weight > Settings::dependent)) {
            left_out += std::abs(weight);
            continue;
        }
        ++parts;
        smallest = std::min(smallest, weight);
        moved += weight * Settings::unit_error;
        if (j >= k) continue;
        moved += weight * hyperplanes_.rounding / lengths_[j];
        conflict_.push_back(j);
        members_.push_back(hyperplanes_.rows[cone_->cut[j]]);
    }
    if (!(smallest * active_.smallest_pivot() > Settings::certain * (moved + left_out))) return false;
    if (parts > p_) return true;
    if (parts > static_cast<int>(conflict_.size())) return false;
    return exact_.dependent(members_.data(), parts);
}

}  // namespace cudbound
