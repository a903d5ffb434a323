#include "cones/open_cone.hpp"

#include <algorithm>
#include <cmath>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector_math.hpp"

namespace cudbound {

OpenCone::Answer OpenCone::find(const Normals& normals, const std::vector<int>& members) {
    steps_ = 0;
    exact_rows_ = 0;
    const Answer answer = look(normals, members);
    if (budget_ != nullptr) {
        const auto p = static_cast<std::int64_t>(p_);
        budget_->charge(steps_ * p * (std::ssize(members) + Settings::products_per_pivot * p) +
                        exact_rows_ * exact_rows_ * exact_rows_ * Settings::products_per_rank);
    }
    return answer;
}

OpenCone::Answer OpenCone::look(const Normals& normals, const std::vector<int>& members) {
    constexpr double thinnest = 1.0 / (Settings::thinnest_cone * Settings::thinnest_cone);
    active_.reset();
    conflict_.clear();
    for (int patience = Effort::moves + Effort::moves_per_constraint * (p_ + static_cast<int>(members.size()));
         patience > 0; --patience) {
        // a margin that can be missed by rounding alone
        const double length = std::sqrt(active_.squared_norm());
        ++steps_;
        double worst = 1.0 - Settings::cone_margin * std::max(1.0, Settings::thinnest_cone * length);
        int next = -1;
        for (const int j : members) {
            const double margin = dot(normals.row(j, p_), active_.point(), p_);
            if (!(margin >= worst)) {
                worst = margin;
                next = j;
            }
        }
        if (next < 0) return Answer::open;
        const auto outcome = active_.add(next, normals.row(next, p_), worst - 1.0, thinnest);
        if (outcome == ActiveSet::Outcome::added) continue;
        conflict_.push_back(next);
        if (outcome == ActiveSet::Outcome::infeasible) {
            double smallest = 1.0;  // that of `next` itself
            double largest = 1.0;
            double left_out = 0.0;
            for (int k = 0; k < active_.size(); ++k) {
                if (!(active_.certificate(k) > Settings::dependent)) {
                    left_out += std::abs(active_.certificate(k));
                    continue;
                }
                conflict_.push_back(active_.label(k));
                smallest = std::min(smallest, active_.certificate(k));
                largest = std::max(largest, active_.certificate(k));
            }
            return is_certain(normals, smallest, largest, left_out) ? Answer::empty : Answer::unclear;
        }
        // too thin: every constraint in play takes part
        for (int k = 0; k < active_.size(); ++k) conflict_.push_back(active_.label(k));
        break;
    }
    if (conflict_.empty()) conflict_ = members;
    std::sort(conflict_.begin(), conflict_.end());
    conflict_.erase(std::unique(conflict_.begin(), conflict_.end()), conflict_.end());
    return Answer::unclear;
}

// The combination found vanishes up to rounding. That of p + 1 normals in p dimensions exists in any case, and weights
// well above rounding keep their signs. Fewer normals must be dependent, which rounding cannot tell: the rows of the
// design decide.
bool OpenCone::is_certain(const Normals& normals, double smallest, double largest, double left_out) {
    double error = Settings::unit_error;  // of the normals
    rows_.clear();
    if (normals.hyperplanes != nullptr) {
        for (const int j : conflict_) {
            const int h = normals.hyperplanes[j];
            if (h < 0) continue;
            error = std::max(error, arrangement_.errors[static_cast<std::size_t>(h)]);
            rows_.push_back(arrangement_.representatives[static_cast<std::size_t>(h)]);
        }
    }
    const double doubt = Settings::certain * (error * (1.0 + largest) + left_out);
    if (!(smallest * active_.smallest_pivot() > doubt)) return false;
    if (static_cast<int>(conflict_.size()) > p_) return true;
    if (rows_.size() < conflict_.size()) return false;
    exact_rows_ = std::ssize(rows_);
    return exact_.dependent(rows_.data(), static_cast<int>(rows_.size()));
}

}  // namespace cudbound
