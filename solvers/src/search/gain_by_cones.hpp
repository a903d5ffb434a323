// How much gain strict homogeneous inequalities can collect at once, by subdividing the directions.
#pragma once

#include "search/best_cell.hpp"

namespace cudbound {

// The largest total gain of hyperplanes a_j'w = 0 that an open cell has on their positive sides.
//
// Branch and bound on simplicial cones. A hyperplane cuts a cone or leaves it on one side, as its signs at the vertices
// show; those that cut it count as collected. Where few of them are left, conflicts between them decide it: at
// least one member of each conflict has to be given up. Where all that are left share a line or a larger flat, they
// form an arrangement in fewer dimensions around it, whose cells are searched in turn.
class GainByCones : public ConflictSearch {
 public:
    // For normals with p entries; `exact` has the rows of the arrangement.
    GainByCones(const Arrangement& arrangement, int p, std::shared_ptr<ExactRank> exact)
        : ConflictSearch(p),
          arrangement_(arrangement),
          exact_(std::move(exact)),
          cones_(p),
          open_(arrangement, p, exact_),
          basis_(p * p),
          trial_(p),
          flats_(p) {}

    // See `start`. A node pays for Settings::cones_per_node cones. No two normals may be collinear, and their rows span
    // no more than p dimensions. The direction is clear of every hyperplane.
    void search(const CentralHyperplanes& hyperplanes, double enough, double nodes, Budget& budget) {
        start(hyperplanes, enough, nodes, budget);
        paid_ = 0;
        rounding_ = Settings::score * total_;
        for (std::uint64_t which = 0; which < cones_.count() && !at_most(total_, cut()); ++which) {
            if (!spend(total_)) break;
            cones_.begin(which, hyperplanes_, total_, level(0));
            process(0);
        }
        end();
    }

 private:
    // What is left of an arrangement around a flat that all of its hyperplanes contain.
    struct Flat {
        Vector<double> normals;      // (k, rank)
        Vector<double> gains;        // (k)
        Vector<int> in_arrangement;  // (k)
        std::unique_ptr<GainByCones> cones;
    };

    void process(int depth) {
        SimplicialCone& cone = level(depth);
        if (at_most(cone.bound, cut()) || !spend(cone.bound)) return;
        const int few = Settings::cone_leaf * p_;
        if (static_cast<int>(cone.cut.size()) <= few || depth >= Settings::cone_depth) {
            search_leaf(cone);
            return;
        }
        if (cone.stale >= Effort::stale) {
            search_around_flat(cone);
            if (at_most(cone.bound, cut())) return;
        }
        cones_.bisect(hyperplanes_, cone);
        if (cone.width < Settings::cone_width) {
            search_leaf(cone);
            return;
        }
        double value = cone.bound;
        for (std::size_t j = 0; j < cone.cut.size(); ++j) {
            if (!(cone.middle[j] > 0.0)) value -= hyperplanes_.gains[cone.cut[j]];
        }
        if (value > cut()) offer_cell_of(cone.point.data());
        const int first = cone.bounds[0] >= cone.bounds[1] ? 0 : 1;
        for (const int which : {first, 1 - first}) {
            if (at_most(cone.bounds[which], cut())) continue;
            cones_.half(hyperplanes_, cone, which, level(depth + 1));
            process(depth + 1);
        }
    }

    // In a cone's own coordinates, w = sum of x_v times vertex v with x >= 0, the side of hyperplane j is s_j'x for the
    // vector s_j of its sides at the vertices: these and the facets x_v >= 0 form a cone that is open or empty.
    void search_leaf(const SimplicialCone& cone) {
        const std::size_t k = cone.cut.size();
        rows_.assign((k + cone.p) * cone.p, 0.0);
        errors_.resize(k);
        cut_.resize(k);
        for (std::size_t j = 0; j < k; ++j) {
            double* row = &rows_[j * cone.p];
            for (int v = 0; v < p_; ++v) row[v] = cone.sides_at(v)[j];
            const double length = length_of(row, p_);  // positive, since the hyperplane cuts the cone
            for (int v = 0; v < p_; ++v) row[v] /= length;
            errors_[j] = hyperplanes_.rounding / length;
            cut_[j] = hyperplanes_.in_arrangement[cone.cut[j]];
        }
        for (std::size_t v = 0; v < cone.p; ++v) rows_[(k + v) * cone.p + v] = 1.0;
        marks_.assign(k, undecided);
        leaf_nodes_ = Settings::cone_leaf_nodes;
        branch(cone, cone.bound);
    }

    // Whether the hyperplanes that were not given up can all be positive inside the cone; leaves a point there in
    // `trial_`.
    OpenCone::Answer find_conflict(const SimplicialCone& cone) {
        const int k = static_cast<int>(marks_.size());
        wanted_.clear();
        for (int j = 0; j < k + p_; ++j) {
            if (j >= k || marks_[j] != given_up) wanted_.push_back(j);
        }
        const auto answer = open_.find({rows_.data(), cut_.data(), errors_.data(), k}, wanted_);
        if (answer != OpenCone::Answer::open) return answer;
        // half of the margin of 1 is spent on leaving the cone's own facets
        std::fill(trial_.begin(), trial_.end(), 0.0);
        for (int v = 0; v < p_; ++v) {
            const double share = std::max(open_.interior()[v], 0.0) + 0.5 / std::sqrt(static_cast<double>(p_));
            for (int l = 0; l < p_; ++l) trial_[l] += share * cone.vertex(v)[l];
        }
        return answer;
    }

    // `bound` is the gain without those given up.
    void branch(const SimplicialCone& cone, double bound) {
        if (at_most(bound, cut()) || !spend(bound)) return;
        if (--leaf_nodes_ < 0) {
            leave_open(bound);
            return;
        }
        const auto answer = find_conflict(cone);
        if (answer == OpenCone::Answer::open) {
            offer_cell_of(trial_.data());
            if (at_most(bound, cut())) return;
        }
        // What cannot be decided, or is too thin a cell to be certain, stays in the upper bound; thicker cells are
        // sought.
        if (answer != OpenCone::Answer::empty) leave_open(bound);
        const std::size_t begin = branches_.size();
        for (const int j : open_.conflict()) {
            if (marks_[j] == undecided) branches_.push_back(j);
        }
        const auto gain = [&](int j) { return hyperplanes_.gains[cone.cut[j]]; };
        give_up_one(begin, gain, [&](int j) { branch(cone, bound - gain(j)); });
    }

    // Takes cells of hyperplanes that share a flat from fewer dimensions: at most what the best of them collects is
    // collected in the cone. It is collected next to the flat, if that passes through the cone.
    void search_around_flat(SimplicialCone& cone) {
        cone.stale = -p_;  // until the next try, if this one does not decide the cone
        const std::size_t k = cone.cut.size();
        const std::size_t sample = 2 * static_cast<std::size_t>(p_);
        if (k > sample && span(cone, sample) == p_) return;
        const int rank = span(cone, k);
        if (rank == p_) return;

        Flat& flat = flats_[rank];
        if (!flat.cones) flat.cones = std::make_unique<GainByCones>(arrangement_, rank, exact_);
        flat.normals.resize(std::ssize(cone.cut) * rank);
        flat.gains.resize(k);
        flat.in_arrangement.resize(k);
        double elsewhere = cone.bound;
        for (std::size_t j = 0; j < k; ++j) {
            for (int r = 0; r < rank; ++r) {
                flat.normals.row(j, rank)[r] = dot(basis_.row(r, p_), hyperplanes_.normal(cone.cut[j]), p_);
            }
            flat.gains[j] = hyperplanes_.gains[cone.cut[j]];
            flat.in_arrangement[j] = hyperplanes_.in_arrangement[cone.cut[j]];
            elsewhere -= flat.gains[j];
        }
        const double enough = cut() - elsewhere;
        const auto before = budget_->nodes();
        const double rounding = std::max(hyperplanes_.rounding, outside_);
        flat.cones->search(
            {rank, static_cast<int>(k), flat.normals.data(), flat.gains.data(), rounding, flat.in_arrangement.data()},
            enough, nodes_, *budget_);
        nodes_ -= static_cast<double>(budget_->nodes() - before);

        if (elsewhere + flat.cones->best() > cut()) {
            // from the point of the flat that is nearest to the middle of the cone
            std::fill(trial_.begin(), trial_.end(), 0.0);
            for (int v = 0; v < p_; ++v) {
                for (int l = 0; l < p_; ++l) trial_[l] += cone.vertex(v)[l];
            }
            subtract_span(basis_.data(), rank, trial_.data(), p_);
            double room = length_of(trial_.data(), p_);
            std::size_t next = 0;
            for (int j = 0; j < hyperplanes_.count; ++j) {
                if (next < k && cone.cut[next] == j) {
                    ++next;
                } else {
                    room = std::min(room, std::abs(dot(hyperplanes_.normal(j), trial_.data(), p_)));
                }
            }
            const Vector<double>& step = flat.cones->direction();
            const double scale = 0.5 * room / length_of(step.data(), rank);
            for (int r = 0; r < rank; ++r) {
                for (int l = 0; l < p_; ++l) trial_[l] += scale * step[r] * basis_.row(r, p_)[l];
            }
            offer_cell_of(trial_.data());
        }
        const double most = at_most(flat.cones->upper(), enough) ? cut() : elsewhere + flat.cones->upper();
        cone.bound = std::min(cone.bound, most);
    }

    // The rank of the normals of the first `rows` hyperplanes that cut the cone, by Gram-Schmidt with pivoting. A rank
    // less than p that they seem to have is confirmed by the rows of the design; else it is p.
    int span(const SimplicialCone& cone, std::size_t rows) {
        const std::size_t k = std::min(rows, cone.cut.size());
        rest_.resize(k * cone.p);
        for (std::size_t j = 0; j < k; ++j) std::copy_n(hyperplanes_.normal(cone.cut[j]), p_, &rest_[j * cone.p]);
        for (int rank = 0; rank < p_; ++rank) {
            double largest = 0.0;
            std::size_t pivot = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const double length = dot(&rest_[j * cone.p], &rest_[j * cone.p], p_);
                if (length > largest) {
                    largest = length;
                    pivot = j;
                }
            }
            largest = std::sqrt(largest);
            if (largest < Settings::cone_flat) {
                outside_ = largest;
                members_.clear();
                for (std::size_t j = 0; j < k; ++j) {
                    members_.push_back(arrangement_.representatives[hyperplanes_.in_arrangement[cone.cut[j]]]);
                }
                return exact_->rank_at_most(members_.data(), static_cast<int>(k), rank) ? rank : p_;
            }
            double* row = basis_.row(rank, p_);
            std::copy_n(&rest_[pivot * cone.p], p_, row);
            subtract_span(basis_.data(), rank, row, p_);
            const double length = length_of(row, p_);
            for (int l = 0; l < p_; ++l) row[l] /= length;
            for (std::size_t j = 0; j < k; ++j) subtract_span(row, 1, &rest_[j * cone.p], p_);
        }
        return p_;
    }

    // Keeps the cell of w if it is the best, and returns whether w is clear of all hyperplanes.
    bool offer_cell_of(const double* w) {
        const double clear = Settings::thinnest_cone * length_of(w, p_);
        double gain = 0.0;
        for (int j = 0; j < hyperplanes_.count; ++j) {
            const double side = dot(hyperplanes_.normal(j), w, p_);
            if (!(std::abs(side) > clear)) return false;
            if (side > 0.0) gain += hyperplanes_.gains[j];
        }
        offer(gain, w);
        return true;
    }

    double cut() const { return known() + rounding_; }

    bool spend(double bound) {
        if (paid_ == 0 && nodes_ >= 1.0 && budget_->spend()) {
            paid_ = Settings::cones_per_node;
            --nodes_;
        }
        if (paid_ == 0) {
            leave_open(bound);
            return false;
        }
        --paid_;
        return true;
    }

    SimplicialCone& level(int depth) { return at_depth(levels_, depth); }

    const Arrangement& arrangement_;
    std::shared_ptr<ExactRank> exact_;
    SimplicialCones cones_;
    int paid_ = 0;           // cones that the last node pays for
    int leaf_nodes_ = 0;     // still allowed in the leaf
    double rounding_ = 0.0;  // error that sums of gains may carry
    std::deque<SimplicialCone> levels_;

    // the leaf, in its own coordinates
    OpenCone open_;
    Vector<double> rows_;    // (k + p, p) unit sides at the vertices of the hyperplanes that cut it, and its facets
    Vector<double> errors_;  // (k)
    Vector<int> cut_;        // (k) in the arrangement
    Vector<int> wanted_;     // scratch: those not given up, and the facets

    Vector<double> rest_;           // (k, p) scratch: the parts of normals outside of the span found so far
    Vector<double> basis_;          // (p, p) orthonormal rows, of that span
    double outside_ = 0.0;          // what rounding left of the normals outside of it
    Vector<double> trial_;          // (p) scratch
    Vector<std::int64_t> members_;  // scratch
    Vector<Flat> flats_;            // (p) by rank
};

}  // namespace cudbound
