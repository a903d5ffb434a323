// Whether strict homogeneous inequalities a_j'w > 0 have a solution.
#pragma once

#include <memory>

#include "cones/active_set.hpp"
#include "control/budget.hpp"
#include "problem/arrangement.hpp"

namespace cudbound {

// Unit normals, and which hyperplane of the arrangement each of them is: rounding cannot distinguish a thin cone from
// an empty one, but the rows of the design can.
struct Normals {
    const double* rows = nullptr;                  // (count, p)
    const int* hyperplanes = nullptr;              // (count), -1 where it is none of the arrangement; null if none is
    const double* errors = nullptr;                // (count) of the rows, or null for those of the arrangement
    int facets = std::numeric_limits<int>::max();  // from this one on: a_j'w >= 0, in general position
    const double* row(int j, int p) const { return rows + static_cast<std::ptrdiff_t>(j) * p; }
};

// Strict feasibility by min |w|^2 s.t. a_j'w >= 1. If it fails, Gordan's theorem gives a conflict: at most p + 1 of the
// normals with a non-negative combination that vanishes, so that no classifier is on all their positive sides.
class OpenCone {
 public:
    // `unclear`: the conflict may be a cone that is too thin for floating-point numbers.
    enum class Answer { open, empty, unclear };

    explicit OpenCone(const Arrangement& arrangement)
        : OpenCone(arrangement, arrangement.p, std::make_shared<ExactRank>(arrangement.exact_rows())) {}
    // For normals with p entries; `exact` has the rows of the arrangement.
    OpenCone(const Arrangement& arrangement, int p, std::shared_ptr<ExactRank> exact)
        : p_(p), arrangement_(arrangement), active_(p), exact_(std::move(exact)) {}

    // What it takes is charged to this budget from now on.
    void charge_to(Budget& budget) { budget_ = &budget; }

    // Only the normals listed in `members` are constraints.
    Answer find(const Normals& normals, const Vector<int>& members) {
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

    const double* interior() const { return active_.point(); }  // after `open`: a_j'w >= 1 for every member
    // Members that exclude each other; after the other answers, those that leave the least room. No facets.
    const Vector<int>& conflict() const { return conflict_; }

 private:
    Answer look(const Normals& normals, const Vector<int>& members) {
        constexpr double thinnest = 1.0 / (Settings::thinnest_cone * Settings::thinnest_cone);
        const Constraints all{nothing_, {p_, normals.rows, nullptr, 0.0}};
        const std::size_t count = members.size();
        products_.resize(std::ssize(members));
        columns_.resize(std::ssize(members) * p_);
        for (std::size_t k = 0; k < count; ++k) {
            const double* row = normals.row(members[k], p_);
            for (int l = 0; l < p_; ++l) columns_.row(l, count)[k] = row[l];
        }
        double length2 = 0.0;
        active_.reset();
        for (int patience = Effort::moves + Effort::moves_per_constraint * (p_ + static_cast<int>(members.size()));
             patience > 0; --patience) {
            ++steps_;
            // what rounding alone can miss grows with the length of the point
            double worst = -Settings::cone_margin - Settings::conflict_rounding * std::sqrt(length2);
            int next = -1;
            std::fill(products_.begin(), products_.end(), 0.0);
            add_columns(columns_.data(), active_.point(), p_, products_.data(), count);
            for (std::size_t k = 0; k < count; ++k) {
                const double margin = products_[k] - (members[k] < normals.facets ? 1.0 : 0.0);
                if (!(margin >= worst)) {
                    worst = margin;
                    next = members[k];
                }
            }
            if (next < 0) {
                blame_active(normals, next);
                return Answer::open;
            }
            const auto outcome = active_.move(all, next, -worst, &length2, thinnest);
            if (outcome == ActiveSet::Outcome::infeasible)
                return is_certain(normals, next) ? Answer::empty : Answer::unclear;
            if (outcome != ActiveSet::Outcome::moved) {  // too thin: every constraint in play takes part
                blame_active(normals, next);
                return Answer::unclear;
            }
            length2 = dot(active_.point(), active_.point(), p_);
        }
        blame_active(normals, -1);
        return Answer::unclear;
    }
    void blame_active(const Normals& normals, int next) {
        conflict_.clear();
        if (next >= 0 && next < normals.facets) conflict_.push_back(next);
        for (int k = 0; k < active_.size(); ++k) {
            const int j = active_.label(k);
            if (j < normals.facets && j != next) conflict_.push_back(j);
        }
        std::sort(conflict_.begin(), conflict_.end());
    }
    // The combination found vanishes up to rounding. That of p + 1 normals in p dimensions exists in any case, and
    // weights well above rounding keep their signs. Fewer normals must be dependent, which rounding cannot tell: the
    // rows of the design decide, if no facet takes part, as these are in general position.
    bool is_certain(const Normals& normals, int next) {
        conflict_.clear();
        rows_.clear();
        double smallest = 1.0;  // weight of `next` itself
        double moved = 0.0;     // by errors of the normals
        double left_out = 0.0;
        int parts = 0;
        for (int k = -1; k < active_.size(); ++k) {
            const int j = k < 0 ? next : active_.label(k);
            const double weight = k < 0 ? 1.0 : active_.certificate(k);
            if (!(weight > Settings::dependent)) {
                left_out += std::abs(weight);
                continue;
            }
            ++parts;
            smallest = std::min(smallest, weight);
            moved += weight * Settings::unit_error;
            if (j >= normals.facets) continue;
            conflict_.push_back(j);
            const int h = normals.hyperplanes == nullptr ? -1 : normals.hyperplanes[j];
            if (normals.errors != nullptr) moved += weight * normals.errors[j];
            if (h < 0) continue;
            if (normals.errors == nullptr) moved += weight * arrangement_.errors[h];
            rows_.push_back(arrangement_.representatives[h]);
        }
        if (!(smallest * active_.smallest_pivot() > Settings::certain * (moved + left_out))) return false;
        if (parts > p_) return true;
        if (std::ssize(rows_) < parts) return false;
        exact_rows_ = std::ssize(rows_);
        return exact_->dependent(rows_.data(), static_cast<int>(rows_.size()));
    }

    int p_;
    const Arrangement& arrangement_;
    ActiveSet active_;
    const SoftConstraints nothing_;
    std::shared_ptr<ExactRank> exact_;
    Budget* budget_ = nullptr;
    std::int64_t steps_ = 0;       // of the last look
    std::int64_t exact_rows_ = 0;  // of its exact rank
    Vector<int> conflict_;
    Vector<std::int64_t> rows_;  // scratch
    Vector<double> columns_;     // (p, members) scratch: the normals, transposed
    Vector<double> products_;    // (members) scratch
};

}  // namespace cudbound
