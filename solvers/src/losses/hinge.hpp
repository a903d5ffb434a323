// Hinge loss: every row is a constraint margin >= 1 that may be violated at a price.
#pragma once

#include "cones/active_set.hpp"
#include "linear_algebra/cholesky.hpp"
#include "linear_algebra/vector.hpp"
#include "losses/penalty_coordinates.hpp"
#include "losses/relaxation.hpp"

namespace cudbound {

struct HingeNode final : Node {
    explicit HingeNode(int p) : Node(p), active(p), center(p) {}

    ActiveSet active;
    Vector<double> center;  // of the proximal term, 0 in coordinates without one
};

// The coordinates are those of the penalty. Along directions in which it is flat, proximal-point iterations supply the
// curvature: they minimize the loss plus the squared distance to a center, and take the point found as the next center.
// For a loss of linear and quadratic pieces finitely many of them reach a minimizer (Rockafellar 1976; Ferris 1991).
class HingeRelaxation final : public RelaxationWith<HingeNode> {
 public:
    HingeRelaxation(const Problem& problem, const Arrangement& arrangement, Budget& budget);

    void set(std::int64_t draw) override;
    void place(const Vector<int>& hyperplanes, double* units, double* offsets, double* curvatures) override;
    void to_beta(const double* v, double* beta) const override { coordinates_.to_beta(v, beta); }
    Settled settle(Node& node, const Sides& sides, const Vector<int>& forced, double limit) override;

 private:
    void place_rows();
    double loss(const double* v) const;
    void gather(std::int64_t draw);
    void minimize_freely();
    bool restore(HingeNode& here, const Constraints& all);
    Settled satisfy(HingeNode& here, const Sides& sides, const Vector<int>& forced, double limit, double allowed,
                    double most_allowed, int next);
    Settled minimize(HingeNode& here, const Sides& sides, const Vector<int>& forced, double limit, double allowed,
                     double most_allowed);
    double linearized(const HingeNode& here, const Constraints& all) const;
    double doubt(const HingeNode& here, const Constraints& all) const;
    double size_of(const HingeNode& here) const;
    double proved_loss(HingeNode& here, const Constraints& all, double limit);
    double slope_along(const HingeNode& here, int k) const;
    bool bends(double slope, int k, double far) const;
    bool still(const HingeNode& here, bool only_flat) const;
    double undercut(const HingeNode& here) const;
    void advance(HingeNode& here, const Sides& sides, const Vector<int>& forced);

    const PenaltyCoordinates coordinates_;
    SoftConstraints rows_;  // all rows, turned by their labels; the cap is that of
                            // mass 1, 0 for a zero row

    SoftConstraints terms_;              // of the draw
    double constant_ = 0.0;              // loss of its zero rows
    double load_ = 0.0;                  // length of the vector of its caps
    mutable Vector<double> violations_;  // (n) scratch
    Vector<double> scratch_;             // (p)
    Vector<double> step_;                // (p)
    Vector<double> path_;                // (p)
    Vector<double> gram_;                // (p, p)
    Cholesky factor_;
};

}  // namespace cudbound
