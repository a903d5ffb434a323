#include "open_cone.hpp"

#include <algorithm>

#include "cudbound/settings.hpp"
#include "vector_math.hpp"

namespace cudbound {

bool OpenCone::find(const double* normals, const std::vector<int>& members) {
    constexpr double thinnest = 1.0 / (Settings::thinnest_cone * Settings::thinnest_cone);
    active_.reset();
    conflict_.clear();
    for (;;) {
        double worst = 1.0 - 1e-9;  // a margin that rounding alone can miss
        int next = -1;
        for (const int j : members) {
            const double margin = dot(normals + static_cast<std::ptrdiff_t>(j) * p_, active_.point(), p_);
            if (margin < worst) {
                worst = margin;
                next = j;
            }
        }
        if (next < 0) return true;
        const auto outcome = active_.add(next, normals + static_cast<std::ptrdiff_t>(next) * p_, worst - 1.0, thinnest);
        if (outcome == ActiveSet::Outcome::added) continue;
        if (outcome == ActiveSet::Outcome::infeasible) {
            conflict_.push_back(next);
            for (int k = 0; k < active_.size(); ++k) {
                if (active_.certificate(k) > Settings::dependent) conflict_.push_back(active_.label(k));
            }
        } else {
            // too thin: every constraint in play takes part
            for (int k = 0; k < active_.size(); ++k) conflict_.push_back(active_.label(k));
            if (std::find(conflict_.begin(), conflict_.end(), next) == conflict_.end()) conflict_.push_back(next);
        }
        return false;
    }
}

}  // namespace cudbound
