// Every tolerance of the solver, with the side on which it errs.
#pragma once

namespace cudbound {

struct Settings {
    // Rows whose unit normals differ by less, rounding apart, are looked at exactly: they are one hyperplane if they
    // are collinear as the caller gave them. No answer depends on it.
    static constexpr double near = 1e-7;

    // Rounding error of an entry of a unit vector, and of a step of a factorization relative to its condition.
    static constexpr double unit_error = 4.5e-16;

    // How many times its rounding error a weight of a conflict must be to have a sign. A conflict that is less certain
    // is taken for a cell, whose value is left open, which can only enlarge the upper bound.
    static constexpr double certain = 16.0;

    // Pivots of the weighted Gram matrix below this share of the largest send the draw to a factorization of the
    // weighted rows themselves, whose rounding errors grow with the root of that share.
    static constexpr double gram = 1e-3;

    // There, directions whose length is below this share of the longest count as zero: the loss is flat along them.
    // Leaving out what little curvature rounding may have hidden can only enlarge Q.
    static constexpr double rank = 1e-11;

    // Pivots of the penalty matrix below this share of the largest are rounding errors of a semidefinite matrix.
    static constexpr double penalty_rank = 1e-14;

    // A hyperplane this close to a minimizer (relative to the radius of the search) passes through it. Counting
    // it as reached understates the loss needed to cross it, which can only enlarge Q.
    static constexpr double tie = 1e-10;

    // A normal whose part outside the span of the active normals is shorter than this depends on them. In a node a
    // constraint left out for that lowers the loss, which can only enlarge Q; in the search for an open cone it makes a
    // conflict, which has to be certain.
    static constexpr double dependent = 1e-10;

    // A cone that contains no ball of this radius around a unit vector is not searched for a classifier: unless a
    // conflict is certain, the value it would have is left open, which can only enlarge the upper bound.
    static constexpr double thinnest_cone = 1e-10;

    // A margin of an interior point of a cone may miss 1 by this, and by as much more as rounding makes of long
    // vectors. Witnesses are checked on their own.
    static constexpr double cone_margin = 1e-9;

    // Excess losses are lowered by this share of their scale, and by the rounding error of the draw's factorization,
    // before g is applied: rounding enlarges Q.
    static constexpr double excess = 1e-13;

    // Nodes within this share of the squared distance of beta = 0 count as lying there, with g taken there.
    static constexpr double apex = 1e-12;

    // Share of the total weight that sums of general weights may be off by; it is added to Q. Counts need none.
    static constexpr double score = 1e-13;

    // Values that differ from the floor of a search by this share of it are not above it.
    static constexpr double same = 1e-14;

    // Coefficients this close to a hyperplane, relative to their length, have no side in the first guesses of a draw.
    // No answer depends on it.
    static constexpr double clear = 1e-9;

    // The witness lies inside the cell, the infimum on its boundary: how much g may fall on the way.
    static constexpr double witness_loss = 3e-11;

    // What the witness is worth, computed from the caller's rows, may miss the lower bound by this share of the sum of
    // the absolute weights; else the draw is INACCURATE and its lower bound is what the witness is worth.
    static constexpr double witness_value = 2e-10;

    // A step off a hyperplane that does not count, relative to the length of the coefficients.
    static constexpr double witness_step = 1e-12;

    // A witness is farther from every row with a weight than this, relative to the product of their lengths.
    static constexpr double side_clear = 1.1e-14;

    // Rounding error of a row times coefficients, a term, relative to the sum of the absolute terms: closer to 0 the
    // row has no side, and the witness is worth nothing.
    static constexpr double side_rounding = 1e-15;

    // At alpha = infinity g falls at once: there the witness may have this much more loss than the anchor, relative to
    // the anchor's loss and that of beta = 0 (or 1 if that is less).
    static constexpr double witness_level = 1e-12;

    // And as much more as rounding may have added to what is computed, but no more than this share of the mean loss.
    static constexpr double witness_doubt = 5e-10;

    // Coefficients this close to a hyperplane, relative to their length, lie on it but for rounding.
    static constexpr double on_hyperplane = 1e-13;

    // A hyperplane whose unit normal has a smaller component along the flat directions of a loss has none if its row is
    // a combination of drawn rows, which is decided exactly. If it is not, all cells of the draw are left open, which
    // can only enlarge the upper bound.
    static constexpr double flat_part = 1e-9;

    // Length given to a unit step along a flat direction of the loss. The proximal iterations of rank-deficient
    // draws drive its influence on the minimum to zero.
    static constexpr double flat_step = 1e-4;

    // Those iterations stop when the flat coordinates move by less than this share of their length, or by less than the
    // rounding errors of normals that nearly cancel (`unit_error` times their multipliers).
    static constexpr double proximal = 1e-12;

    // After so many of them a node is left open, which can only enlarge the upper bound.
    static constexpr int proximal_steps = 60;

    // What rounding takes off the losses of such draws: by so much a witness may miss its value and still count, in
    // units of the loss, or of 1 / alpha of it if that is less.
    static constexpr double flat_level = 8e-10;

    // What is left of the slope there is taken to act over so many times that length. The lower end is used, which can
    // only enlarge Q.
    static constexpr double proximal_reach = 10.0;

    // Newton's method for smooth losses stops when the loss is known to this, relative to 1 + loss, and the lower end
    // is used, which can only enlarge Q. It gives a node up after so many steps.
    static constexpr double newton_gap = 1e-10;
    static constexpr int newton_steps = 300;

    // Where rounding stops it earlier than that, by then the loss must be known to this, relative to 1 + loss.
    static constexpr double newton_stall = 1e-6;

    // What a piecewise quadratic loss is then known to as a rule: a witness that misses its value by no more counts.
    static constexpr double pieces_gap = 1e-7;

    // Pivots of a Hessian below this share of its largest entry make it singular: this multiple of the largest entry is
    // added to its diagonal, and no lower bound is taken from a node before its minimizer is found. Curvature of a
    // piecewise quadratic loss is there or not; that of a vanishing one may be small and still count, and what is added
    // to it is below rounding.
    static constexpr double pieces_pivot = 1e-10;
    static constexpr double pieces_ridge = 1e-6;
    static constexpr double vanishing_pivot = 1e-14;
    static constexpr double vanishing_ridge = 1e-14;

    // Where that spoils a step, this many times more is added, up to this share of the largest entry.
    static constexpr double lend_more = 1e3;
    static constexpr double lend_most = 1e-3;

    // A singular Hessian costs digits: its node's minimizer may lie on the wrong side of a forced hyperplane by this,
    // relative to the length of the coefficients. It moves the loss by no more than that.
    static constexpr double singular_tie = 1e-8;

    // More is added as long as the free step is longer than this many times the coefficients: steps far out and back
    // again would lose the digits that put a point onto a hyperplane.
    static constexpr double longest_step = 10.0;

    // Without strong convexity, what is left of the gradient at the minimizer on a cone is taken to act over so many
    // times the size of the coefficients. The lower end is used, which can only enlarge Q.
    static constexpr double residual_reach = 10.0;

    // Under a loss that never reaches 0, rows whose loss falls below `vanished` count as having none until it is above
    // `returned` again, which can only enlarge Q. On separable draws it ends the search for a minimizer at infinity.
    static constexpr double vanished = 1e-10;
    static constexpr double returned = 1e-8;

    // Hinge loss, in units of the mean curvature that squared loss would have. Eigenvalues of the penalty below this
    // count as zero, which can only enlarge Q.
    static constexpr double hinge_flat = 1e-13;

    // Along eigenvectors where the penalty curves less than this, proximal iterations lend so much curvature to the
    // loss, which has no influence on the minimum when they end. A node that takes more steps is given up.
    static constexpr double hinge_curved = 1e-8;
    static constexpr double hinge_lent = 1e-5;
    static constexpr int hinge_proximal_steps = 1000;

    // Violations and proximal steps below this, relative to the point and (steps) to the multipliers, are rounding
    // errors. What they may cost is taken off the loss, which can only enlarge Q.
    static constexpr double hinge_rounding = 1e-14;

    // What is left of the slope at the minimizer on a cone is taken to act over so many times the size of the point.
    // The lower end is used, which can only enlarge Q.
    static constexpr double hinge_reach = 2.0;

    // Least share of the multipliers' size that ties are relative to, where the anchor and the minimizer are shorter.
    static constexpr double hinge_load = 1e-6;

    // Rows this close to margin 1 at the anchor, relative to its length, are there in the first guess; steps that move
    // a point by less than this share of the center's are not extended. No answer depends on either.
    static constexpr double hinge_start = 1e-6;
    static constexpr double hinge_still = 1e-6;

    // Cones of directions: sides of unit normals, at points of length 1 / sqrt(p) to 1, up to this are rounding errors.
    // A hyperplane is lost to a cone only if it is farther than that on its negative side, which can only enlarge Q.
    static constexpr double cone_rounding = 4e-15;

    // Cones are used only if there are so many hyperplanes; conflicts settle fewer as fast. No answer depends on it.
    static constexpr int cone_least = 25;

    // A cone with so many cutting hyperplanes a dimension is settled by conflicts, or, where the loss counts
    // (cone_leaf_forced), by forcing each onto its preferred side or giving it up; conflicts may take so many nodes. So
    // is one that the cutting hyperplanes cannot tell from a point, or that was bisected so often. What is not settled
    // then stays in the upper bound.
    static constexpr int cone_leaf = 2;
    static constexpr int cone_leaf_forced = 4;
    static constexpr int cone_leaf_nodes = 100000;
    static constexpr double cone_width = 1e-11;
    static constexpr int cone_depth = 400;

    // Normals that are less than this away from a span lie in it if the rows of the design do. No answer depends on it.
    static constexpr double cone_flat = 1e-6;

    // Cost model of the search for the best open cell: cones that take as long as a node of the tree; how many nodes
    // the search by conflicts may take in four dimensions before cones do it, and how many times more in every further
    // one; and the dimension beyond which cones are not tried. No answer depends on them.
    static constexpr int cones_per_node = 8;
    static constexpr double conflict_nodes = 50.0;
    static constexpr double conflict_growth = 14.0;
    static constexpr int most_cone_dimensions = 8;

    // When cones of directions take over from the tree under squared loss: in up to so many dimensions, after so many
    // nodes in three dimensions and so many times more in every further one; in up to three dimensions at once if so
    // many hyperplanes are within reach. Never in a draw that is nearly singular: rounding errors up to `cone_error`
    // are within the allowances of the loss. No answer depends on them.
    static constexpr int cone_search_dimensions = 5;
    static constexpr double cone_search_nodes = 300.0;
    static constexpr double cone_search_growth = 10.0;
    static constexpr int cone_search_many = 100;
    static constexpr double cone_error = 1e-12;

    // Values of one cell found in two cones may differ by the rounding errors of losses, up to this share of the
    // absolute weights: what exceeds the best value by no more counts as found.
    static constexpr double cone_level = 1e-11;

    // Batched refits: Newton's method ends with the first step that moves no margin by more than this, relative to 1 +
    // the largest margin; steps shrink quadratically there. After so many steps, or where a step has to be shortened to
    // less than the share below, the fit counts as not found, and its caller makes it in another way.
    static constexpr double fit_settled = 1e-9;
    static constexpr int fit_steps = 100;
    static constexpr double fit_least_share = 1e-12;

    // A promised fall of the loss below this, relative to 1 + loss, is taken without being seen: it is lost in
    // rounding.
    static constexpr double fit_level = 1e-13;

    // Rows within this of the edge of a curved piece of the loss do not count when it is judged whether a refit has a
    // single minimizer. If they have to, the fit is not found.
    static constexpr double fit_edge = 1e-6;

    // Pivots of the Hessian of a refit, its diagonal scaled to 1, below this make it singular: the fit is not found.
    static constexpr double fit_pivot = 1e-13;

    // Where columns outnumber drawn rows, a row that adds less than this share of its length to the span of those
    // before it adds a rounding error. A score may be off by that share of its terms, which is below its doubt.
    static constexpr double fit_span = 1e-13;

    // Doubt of a refit's score: this many times the last step, and this share of the absolute sum of its terms. A score
    // within the doubt of 0 is not used, so that too large a doubt costs time and nothing else.
    static constexpr double fit_reach = 10.0;
    static constexpr double fit_rounding = 1e-13;
};

}  // namespace cudbound
