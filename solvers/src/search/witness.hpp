// Coefficients that prove the lower bound of a draw: strictly inside the cell that attains it.
#pragma once

#include "cones/open_cone.hpp"
#include "linear_algebra/normal_basis.hpp"
#include "linear_algebra/vector.hpp"
#include "problem/evaluation.hpp"
#include "search/placed_draw.hpp"

namespace cudbound {

class WitnessWriter {
 public:
    WitnessWriter(const PlacedDraw& draw);

    // Writes coefficients (in the caller's coordinates) and returns their value, computed from the caller's own rows: a
    // lower bound of the draw, in the units of the scores. At best that is the value of the incumbent; a point that
    // rounding leaves on a hyperplane that counts has no value.
    double write(const Incumbent& incumbent, double* witness);

    // The same for an incumbent that is the anchor or the draw's minimizer: no search for anything better nearby.
    double write_start(const Incumbent& incumbent, double* witness);

    // How far the value may miss that of the incumbent, which then still counts as attained.
    double allowed(const Incumbent& incumbent) const;

 private:
    double write_as_it_is(const Incumbent& incumbent, bool is_start, double* witness);
    void find_direction(const Incumbent& incumbent);
    void put_onto_hyperplanes();
    void clear_ties();
    double longest_step();
    void leave_hyperplanes(Vector<double>& beta, double clear_by) const;
    double worth(const double* coef, double sign, const Vector<char>* strict = nullptr);
    double loss_at(const Vector<double>& beta);
    bool minimizer_is_better(const double* coef);

    const PlacedDraw& draw_;
    const int p_;
    Evaluation evaluation_;
    OpenCone cone_;
    NormalBasis basis_;
    Vector<double> projected_;
    Vector<double> sides_;
    Vector<double> base_;  // the point of the incumbent
    Vector<double> normals_;
    Vector<int> hyperplanes_;
    Vector<int> members_;
    Vector<double> step_;
    Vector<double> trial_;
    Vector<double> best_;
    Vector<char> strict_;       // (n) scratch
    Vector<double> raw_;        // the caller's coefficients for trial_
    double anchor_loss_ = 0.0;  // of the draw, from the caller's rows
};

}  // namespace cudbound
