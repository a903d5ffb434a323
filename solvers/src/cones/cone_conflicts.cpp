#include "cones/cone_conflicts.hpp"

#include <algorithm>
#include <cmath>

#include "linear_algebra/vector_math.hpp"

namespace cudbound {

void ConeConflicts::set(const CentralHyperplanes& hyperplanes, const SimplicialCone& cone) {
    within_ = &cone;
    const std::size_t k = cone.cut.size();
    rows_.assign((k + cone.p) * cone.p, 0.0);
    errors_.resize(k);
    hyperplanes_.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
        double* row = &rows_[j * cone.p];
        for (int v = 0; v < p_; ++v) row[v] = cone.sides[static_cast<std::size_t>(v) * k + j];
        const double length = std::sqrt(dot(row, row, p_));  // positive, since the hyperplane cuts the cone
        for (int v = 0; v < p_; ++v) row[v] /= length;
        errors_[j] = hyperplanes.rounding / length;
        hyperplanes_[j] = hyperplanes.in_arrangement[cone.cut[j]];
    }
    for (std::size_t v = 0; v < cone.p; ++v) rows_[(k + v) * cone.p + v] = 1.0;
}

OpenCone::Answer ConeConflicts::find(const std::vector<char>& wanted) {
    const int k = static_cast<int>(wanted.size());
    members_.clear();
    for (int j = 0; j < k + p_; ++j) {
        if (j >= k || wanted[j]) members_.push_back(j);
    }
    const auto answer = cone_.find({rows_.data(), hyperplanes_.data(), errors_.data(), k}, members_);
    if (answer != OpenCone::Answer::open) return answer;
    // half of the margin of 1 is spent on leaving the cone's own facets
    std::fill(point_.begin(), point_.end(), 0.0);
    for (int v = 0; v < p_; ++v) {
        const double share = std::max(cone_.interior()[v], 0.0) + 0.5 / std::sqrt(static_cast<double>(p_));
        for (int l = 0; l < p_; ++l) point_[l] += share * within_->vertex(v)[l];
    }
    return answer;
}

}  // namespace cudbound
