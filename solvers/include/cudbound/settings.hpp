// Every numeric constant of the solver, with the side on which it errs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudbound {

struct Settings {
    // The largest absolute value of each argument is 0 or in this range, so that squares neither overflow nor
    // underflow; others are refused.
    static constexpr double least_size = 1e-100;
    static constexpr double most_size = 1e100;

    // Rows whose unit normals differ by less, apart from rounding, are compared exactly: they are one hyperplane if
    // they are collinear as the caller passed them. No answer depends on it.
    static constexpr double near = 1e-7;

    // Rounding error of an entry of a unit vector, and of a step of a factorization relative to its condition.
    static constexpr double unit_error = 4.5e-16;

    // A weight of a conflict has a sign only if it is this many times its rounding error. A conflict that is less
    // certain is treated as a cell whose value is left open, which can only enlarge the upper bound.
    static constexpr double certain = 16.0;

    // Pivots of the weighted Gram matrix below this share of the largest send the draw to a factorization of the
    // weighted rows themselves, whose rounding errors grow with the root of that share.
    static constexpr double gram = 1e-3;

    // In that factorization, directions whose length is below this share of the longest count as zero: the loss is flat
    // along them. Leaving out any small curvature that rounding may have hidden can only enlarge Q.
    static constexpr double rank = 1e-11;

    // Pivots of the penalty matrix below this share of the largest are rounding errors of a semidefinite matrix.
    static constexpr double penalty_rank = 1e-14;

    // A hyperplane this close to a minimizer (relative to the radius of the search) passes through it. Counting
    // it as reached understates the loss needed to cross it, which can only enlarge Q.
    static constexpr double tie = 1e-10;

    // A constraint that a node's point violates by no more than this share of a tie stays violated, which lowers the
    // loss and so can only enlarge Q.
    static constexpr double left_of_tie = 0.01;

    // A reach of the search is cut off here where infinity times 0 would be no number. A larger one settles nothing:
    // the cone is kept, which can only enlarge Q.
    static constexpr double boundless = 1e300;

    // Hyperplanes that the minimizer of a smooth loss clears by no more than this many ties take part when an open cell
    // is looked for: Newton's method may have put it on the wrong side of them. Since all hyperplanes pass through
    // beta = 0, more of them can only tell more cells that do not exist.
    static constexpr double near_ties = 1e3;

    // A normal whose component outside the span of the active normals is shorter than this depends on them. In a node,
    // leaving out a constraint for this reason lowers the loss, which can only enlarge Q; in the search for an open
    // cone it makes a conflict, which has to be certain.
    static constexpr double dependent = 1e-10;

    // A cone that contains no ball of this radius around a unit vector is not searched for a classifier: unless a
    // conflict is certain, the value it would have is left open, which can only enlarge the upper bound.
    static constexpr double thinnest_cone = 1e-10;

    // Work on conflicts, where it is charged: so many products take as long as a node of squared loss. A step of the
    // active set takes `products_per_pivot` times the squared dimension beside one per coordinate of each constraint,
    // and an exact rank `products_per_rank` times the cube of the number of its rows.
    static constexpr std::int64_t products_per_node = 20000;
    static constexpr std::int64_t products_per_pivot = 4;
    static constexpr std::int64_t products_per_rank = 80;

    // A margin of an interior point of a cone may miss 1 by this, and by the additional rounding error of long vectors.
    // Witnesses are checked separately.
    static constexpr double cone_margin = 1e-9;

    // That, relative to the length of the point. What is found within a cone of directions counts only if it is clear
    // of all hyperplanes, and its cell stays in the upper bound if it is not.
    static constexpr double conflict_rounding = 1e-13;

    // Proofs of dependence: the logarithm of the length of a row of integers is raised by this, which is more than its
    // rounding error, and a prime counts as this many bits, which is less than it has. Both can only demand more primes
    // than a proof needs.
    static constexpr double bits_rounded_up = 0.01;
    static constexpr double bits_of_prime = 60.9;

    // Excess losses are lowered by this share of their scale, and by the rounding error of the draw's factorization,
    // before g is applied: rounding enlarges Q.
    static constexpr double excess = 1e-13;

    // Where no row has more doubt about its loss at the anchor than this, all count with the doubt of the worst, which
    // can only enlarge Q.
    static constexpr double negligible_doubt = 1e-12;

    // Beyond a hyperplane, possible errors of the cosine between two normals are taken this many times, and those of
    // the minimizer of a draw with flat directions this many times `unit_error`: the loss is understated, which can
    // only enlarge Q.
    static constexpr double rise_doubt = 4.0;
    static constexpr double flat_doubt = 4.0;

    // By how many times `excess` losses may be understated in all, where a witness is compared with its value; they
    // count for this much per row at most, since a row that weighs more lends its rounding errors to all others. Larger
    // ones accept a witness that is worth less than `lower`; `upper` does not depend on them.
    static constexpr double taken_off = 4.0;
    static constexpr double usual_size = 8.0;

    // Nodes within this share of the squared distance of beta = 0 count as lying there, with g evaluated there.
    static constexpr double apex = 1e-12;

    // Possible error of sums of general weights, as a share of the total weight; it is added to Q. Counts need none.
    static constexpr double score = 1e-13;

    // Coefficients this close to a hyperplane, relative to their length, have no side in the first guesses of a draw.
    // No answer depends on it.
    static constexpr double clear = 1e-9;

    // The witness lies inside the cell, the infimum on its boundary: the most that g may fall between them.
    static constexpr double witness_loss = 3e-11;

    // The value of the witness, computed from the caller's rows, may miss the lower bound by this share of the sum of
    // the absolute weights; otherwise the draw is INACCURATE and its lower bound is the value of the witness.
    static constexpr double witness_value = 2e-10;

    // A step off a hyperplane that does not count, relative to the length of the coefficients.
    static constexpr double witness_step = 1e-12;

    // The witness is sought at these multiples of the longest step into the cell, and then, where rows nearly cancel,
    // at these larger ones, this many times farther from hyperplanes. A step uses this share of the room that there is.
    // Whatever is found is evaluated: none can overstate `lower`.
    static constexpr double witness_near[] = {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e1, 1e2, 1e3};
    static constexpr double witness_far[] = {1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    static constexpr double witness_clear[] = {1.0, 1e2, 1e4};
    static constexpr double step_share = 0.25;

    // A witness is farther from every row with a weight than this, relative to the product of their lengths.
    static constexpr double side_clear = 1.1e-14;

    // Rounding error of a row times coefficients, per term, relative to the sum of the absolute terms: closer to 0 the
    // row has no side, and the witness has no value.
    static constexpr double side_rounding = 1e-15;

    // At alpha = infinity g is a step: there the witness may have this much more loss than the anchor, relative to the
    // anchor's loss and that of beta = 0 (or 1 if that is less).
    static constexpr double witness_level = 1e-12;

    // And the rounding error of the computed loss in addition, but no more than this share of the mean loss.
    static constexpr double witness_doubt = 5e-10;

    // Coefficients this close to a hyperplane, relative to their length, lie on it up to rounding.
    static constexpr double on_hyperplane = 1e-13;

    // A hyperplane whose unit normal has a smaller component along the flat directions of a loss has none if its row is
    // a combination of drawn rows, which is decided exactly. If it is not, all cells of the draw are left open, which
    // can only enlarge the upper bound.
    static constexpr double flat_part = 1e-9;

    // Length given to a unit step along a flat direction of the loss. The proximal iterations of rank-deficient
    // draws drive its influence on the minimum to zero.
    static constexpr double flat_step = 1e-4;

    // Those iterations end when the flat coordinates move by no more than their rounding errors, which are this share
    // of their length, or those of normals that nearly cancel (`unit_error` times their multipliers). Slopes above
    // rounding are not bridged: the node is left open.
    static constexpr double proximal = 4e-15;

    // After this many of these iterations a node is left open, which can only enlarge the upper bound.
    static constexpr int proximal_steps = 60;

    // Effect of rounding on the losses of such draws: a witness may miss its value by this much and still count, in
    // units of the loss, or of 1 / alpha of it if that is less.
    static constexpr double flat_level = 8e-10;

    // What is left then is a rounding error of a slope, which may act over this many times that length. The lower end
    // is used, which can only enlarge Q.
    static constexpr double proximal_reach = 10.0;

    // Newton's method for smooth losses stops when the loss is known to this, relative to 1 + loss, and the lower end
    // is used, which can only enlarge Q. It gives up a node after this many steps.
    static constexpr double newton_gap = 1e-10;
    static constexpr int newton_steps = 300;

    // Losses of nodes are taken lower by this many times that, before g is applied, which can only enlarge Q.
    static constexpr double newton_slack = 10.0;

    // Where rounding stops it earlier, the loss must by then be known to this, relative to 1 + loss.
    static constexpr double newton_stall = 1e-6;

    // Rounding has stopped it if the model promises a decrease of no more than this, relative to 1 + loss, and the gap
    // is more than this share of the last one. The lower end is used in any case.
    static constexpr double vanishing_still = 1e-13;
    static constexpr double pieces_still = 1e-11;
    static constexpr double still_gap = 0.5;

    // A step is shortened until the loss falls by this share of what the model promises (in refits too), or until that
    // is less than `newton_level`, relative to 1 + loss. Without curvature it is doubled as long as the loss falls by
    // the share `stretch_fall`. A base outside of the level set of beta = 0 is moved there by this factor, and to it if
    // it is shorter than `least_base`. No answer that is proved depends on them.
    static constexpr double armijo = 1e-4;
    static constexpr double newton_level = 1e-13;
    static constexpr double stretch_fall = 0.01;
    static constexpr double base_shrunk = 0.25;
    static constexpr double least_base = 1e-150;

    // Self-concordance: below this argument a series is used instead of differences without digits, rounded to the side
    // that understates the loss. The distance at which the loss has risen by a given amount is found to this share, the
    // upper end, and nothing is divided by less than `least_divisor`. All can only enlarge Q.
    static constexpr double series = 1e-3;
    // So many factors 1 + e, at most 2 each, are multiplied before their logarithm is taken: the product is finite.
    static constexpr std::size_t most_factors = 1000;
    static constexpr double bisected = 1e-6;
    static constexpr double least_divisor = 1e-300;

    // By how much the lengths of rows can grow from one metric to another is rounded up by this factor, and not known
    // where its eighth power is so small that it may have vanished.
    static constexpr double grown_rounding = 1.001;
    static constexpr double least_growth = 1e-140;

    // The region where g > 0 is narrowed this many times, starting from the curvature at the minimizer. Each round
    // proves its own.
    static constexpr int curvature_rounds = 4;

    // The accuracy to which a piecewise quadratic loss is then usually known: a witness that misses its value by no
    // more than this counts.
    static constexpr double pieces_gap = 1e-7;

    // Pivots of a Hessian below this share of its largest entry make it singular: this multiple of the largest entry is
    // added to its diagonal, and no lower bound is taken from a node before its minimizer is found. A piecewise
    // quadratic loss either has curvature or has none; that of a vanishing loss may be small and still count, and what
    // is added to it is below rounding.
    static constexpr double pieces_pivot = 1e-10;
    static constexpr double pieces_ridge = 1e-6;
    static constexpr double vanishing_pivot = 1e-14;
    static constexpr double vanishing_ridge = 1e-14;

    // Where that spoils a step, this many times more is added, up to this share of the largest entry.
    static constexpr double lend_more = 1e3;
    static constexpr double lend_most = 1e-3;

    // Where a factor still fails, or its step is too long, the next round adds this many times more. No answer that is
    // proved depends on it.
    static constexpr double lend_step = 10.0;

    // A singular Hessian costs digits: the node's minimizer may lie on the wrong side of a forced hyperplane by this,
    // relative to the length of the coefficients. That changes the loss by no more than this.
    static constexpr double singular_tie = 1e-8;

    // More is added as long as the free step is longer than this many times the coefficients: steps far out and back
    // again would lose the digits that place a point on a hyperplane. At a minimum, what was added leaves a slope: if
    // that is no rounding error, free steps may be longer, up to `longest_last_step`.
    static constexpr double longest_step = 10.0;
    static constexpr double longest_last_step = 1e6;

    // Coefficients that change no margin by more than this are no measure of how long steps may be: next to them the
    // slope that is left would seem to cost nothing.
    static constexpr double least_extent = 1e-6;

    // Without strong convexity, the remaining gradient at the minimizer on a cone may act over this many times the size
    // of the coefficients. The lower end is used, which can only enlarge Q. If that is worth more than the slack of
    // losses, the minimum does not count as found, and the node is left open unless further steps find it.
    static constexpr double residual_reach = 10.0;

    // Nor does it count as found if that gradient could undo more than the slack within 1 / `tie` times the size of the
    // coefficients: no cone that is wider than a tie reaches farther. Up to this many times the rounding errors of its
    // terms it counts as none, if no row pulls as little as this many times that: its loss far out would be missed.
    static constexpr double slope_doubt = 16.0;
    static constexpr double slope_of_row = 1e3;

    // Under a loss that never reaches 0, rows whose loss falls below `vanished` count as having none until it is above
    // `returned` again, which can only enlarge Q. On separable draws it ends the search for a minimizer at infinity.
    static constexpr double vanished = 1e-10;
    static constexpr double returned = 1e-8;

    // Hinge loss, in units of the mean curvature that squared loss would have. Eigenvalues of the penalty below this
    // count as zero, which can only enlarge Q.
    static constexpr double hinge_flat = 1e-13;

    // Rows shorter than this count as zero in the loss, since 1 / length may be no number. Only coefficients of about
    // 1 / length change what they lose; classifiers that long are not looked for.
    static constexpr double hinge_shortest = 1e-150;

    // Entries of the penalty off its diagonal below this share of its largest count as zero when its eigenvectors are
    // computed. They are below its rounding errors.
    static constexpr double eigen_diagonal = 1e-17;

    // Along eigenvectors where the penalty has less curvature than this, proximal iterations add this much to the loss,
    // which has no influence on the minimum when they end. A node that takes more steps is given up.
    static constexpr double hinge_curved = 1e-8;
    static constexpr double hinge_lent = 1e-5;
    static constexpr int hinge_proximal_steps = 1000;

    // Violations and proximal steps below this, relative to the point and (steps) to the multipliers, are rounding
    // errors. Their possible effect is subtracted from the loss, which can only enlarge Q.
    static constexpr double hinge_rounding = 1e-14;

    // After every so many moves (`Effort::moves`) violations may be this many times larger, up to a tie: the loss is
    // understated, which can only enlarge Q.
    static constexpr double hinge_wider = 10.0;

    // The rounding error of the slope at the minimizer on a cone may act over this many times the size of the point.
    // The lower end is used, which can only enlarge Q. A slope that is more than a rounding error is not bridged: the
    // loss is then what multipliers prove that balance it, or the node is left open.
    static constexpr double hinge_reach = 2.0;

    // Ties are relative to at least this share of the multipliers' size, where the anchor and the minimizer are
    // shorter.
    static constexpr double hinge_load = 1e-6;

    // Rows this close to margin 1 at the anchor, relative to its length, count as having margin 1 in the first guess;
    // steps that move a point by less than this share of the center's are not extended. No answer depends on either.
    static constexpr double hinge_start = 1e-6;
    static constexpr double hinge_still = 1e-6;

    // A kink of an l1 penalty that a point misses by less than this, relative to the radius of the search, is where it
    // should be; after every so many moves (`Effort::kink_moves`) `lasso_wider` times more. What the bound loses by it
    // is not in it, which can only enlarge Q.
    static constexpr double lasso_kink = 1e-14;
    static constexpr double lasso_wider = 10.0;

    // Cones of directions: sides of unit normals, at points of length 1 / sqrt(p) to 1, up to this are rounding errors.
    // A hyperplane is lost to a cone only if it is farther than that on its negative side, which can only enlarge Q.
    static constexpr double cone_rounding = 4e-15;

    // Vectors of the basis from which cones start are drawn again if less than this is left of them outside the span of
    // those before, so that few digits are lost. No answer depends on it.
    static constexpr double generic_length = 1e-3;

    // Cones are used only if there are at least this many hyperplanes; conflicts settle fewer just as fast. No answer
    // depends on it.
    static constexpr int cone_least = 25;

    // A cone with at most this many cutting hyperplanes per dimension is settled by conflicts (`cone_leaf`), or, where
    // the loss counts (`cone_leaf_forced`), by forcing each onto its preferred side or giving it up; conflicts may take
    // `cone_leaf_nodes` nodes. The same is done with a cone that the cutting hyperplanes cannot distinguish from a
    // point (`cone_width`), or that was bisected `cone_depth` times. What is not settled then stays in the upper bound.
    static constexpr int cone_leaf = 2;
    static constexpr int cone_leaf_forced = 4;
    static constexpr int cone_leaf_nodes = 100000;
    static constexpr double cone_width = 1e-11;
    static constexpr int cone_depth = 400;

    // Normals that are closer than this to a span lie in it if the rows of the design do. No answer depends on it.
    static constexpr double cone_flat = 1e-6;

    // Cost model of the search for the best open cell: the number of cones that take as long as one node of the tree;
    // how many nodes the search by conflicts may take in four dimensions before cones take over, and the factor for
    // every further dimension; and the dimension beyond which cones are not tried. No answer depends on them.
    static constexpr int cones_per_node = 8;
    static constexpr double conflict_nodes = 50.0;
    static constexpr double conflict_growth = 14.0;
    static constexpr int most_cone_dimensions = 8;

    // When cones of directions take over from the tree under squared loss: in up to `cone_search_dimensions`
    // dimensions, after `cone_search_nodes` nodes in three dimensions and `cone_search_growth` times more in every
    // further one; in up to three dimensions immediately if `cone_search_many` hyperplanes are within reach. Never in a
    // draw that is nearly singular: rounding errors up to `cone_error` are within the allowances of the loss. No answer
    // depends on them.
    static constexpr int cone_search_dimensions = 5;
    static constexpr double cone_search_nodes = 300.0;
    static constexpr double cone_search_growth = 10.0;
    static constexpr int cone_search_many = 100;
    static constexpr double cone_error = 1e-12;

    // Values of one cell found in two cones may differ by the rounding errors of losses: what exceeds the best value by
    // no more than `cone_fall` times the fall of g over the rounding allowance of the loss, or the share `cone_level`
    // of the absolute weights if that is less, counts as found. Both can lower the upper bound by that much, and no
    // more.
    static constexpr double cone_fall = 20.0;
    static constexpr double cone_level = 1e-11;

    // The quadratic below a logistic loss. Each row's touches it at its margin at the minimizer, moved towards 0 by the
    // share `minorant_shift`, which costs a little of its least value and gains much curvature; it is refitted this
    // many times to where g > 0. Its second derivatives are lowered by `minorant_margin`, radii enlarged by
    // `minorant_wider`; within `minorant_step` the least second derivative is used. All can only enlarge the upper
    // bound.
    static constexpr double minorant_shift = 0.3;
    static constexpr int minorant_rounds = 4;
    static constexpr double minorant_margin = 1e-9;
    static constexpr double minorant_wider = 1.000001;
    static constexpr double minorant_step = 1e-2;

    // The difference of the losses at two margins is lowered by this many times `unit_error`, relative to its terms:
    // the second derivatives get smaller, which can only enlarge the upper bound.
    static constexpr double minorant_rounding = 8.0;

    // They are used if all draws together need no more numbers than this.
    static constexpr double minorant_size = 1e7;

    // A draw whose quadratic has pivots below this share of its largest is not bounded by it.
    static constexpr double minorant_pivot = 1e-8;

    // Batched refits: Newton's method ends with the first step that moves no margin by more than `fit_settled`,
    // relative to 1 + the largest margin; steps shrink quadratically there. After `fit_steps` steps, or where a step
    // has to be shortened to less than `fit_least_share` of itself, the fit counts as not found, and its caller makes
    // it in another way.
    static constexpr double fit_settled = 1e-9;
    static constexpr int fit_steps = 100;
    static constexpr double fit_least_share = 1e-12;

    // A predicted decrease of the loss below this, relative to 1 + loss, is accepted unseen: it is lost in rounding.
    static constexpr double fit_level = 1e-13;

    // Rows within this of the edge of a curved piece of the loss are ignored in judging whether a refit has a unique
    // minimizer. If it is unique only with them, the fit counts as not found.
    static constexpr double fit_edge = 1e-6;

    // Pivots of the Hessian of a refit, with its diagonal scaled to 1, below this make it singular: the fit counts as
    // not found.
    static constexpr double fit_pivot = 1e-13;

    // Where columns outnumber drawn rows, a row that adds less than this share of its length to the span of those
    // before it adds only a rounding error. A score may be off by that share of its terms, which is below its doubt.
    static constexpr double fit_span = 1e-13;

    // Doubt of a refit's score: `fit_reach` times the last step, plus `fit_rounding` times the sum of its absolute
    // terms. A score within its doubt of 0 is not used, so that too large a doubt costs only time.
    static constexpr double fit_reach = 10.0;
    static constexpr double fit_rounding = 1e-13;
};

// What is tried how often, and what is believed to take how long. No answer that is proved depends on any of these:
// they decide how soon it is, and what is left open.
struct Effort {
    // Moves of an active set, and as many per dimension: for one constraint, or for approaching beta = 0 in a cone.
    // Rounding may bring the same constraints back.
    static constexpr int active_moves = 20;
    static constexpr int active_moves_per_dimension = 4;
    static constexpr int apex_moves = 20;
    static constexpr int apex_moves_per_dimension = 10;

    // The same for an open cone, a Newton step or hinge loss, and for a node of squared loss, per dimension and
    // constraint.
    static constexpr int moves = 100;
    static constexpr int moves_per_constraint = 20;
    static constexpr int node_moves = 200;
    static constexpr int node_moves_per_constraint = 100;

    static constexpr int kink_moves = 100;

    // Halvings or doublings of a step or an interval; of the step of a witness; rounds of adding curvature; sweeps of
    // Jacobi's method, which converges quadratically and needs about ten.
    static constexpr int halvings = 60;
    static constexpr int witness_halvings = 200;
    static constexpr int lendings = 40;
    static constexpr int eigen_sweeps = 60;

    // With so many rows per dimension, comparing two metrics is faster than measuring the lengths of all rows.
    static constexpr std::size_t rows_to_compare = 16;

    // After one part in so many of the steps of Newton's method, rows count as having no loss up to `returned`.
    static constexpr int coarsen_part = 4;

    // Distances from a cone's point at which its value is bounded: more of them bound it more closely.
    static constexpr int rings = 16;

    // Bisections of a cone that leave it as many cutting hyperplanes, before a flat that they share is looked for.
    static constexpr int stale = 2;

    // Proofs of dependence that are kept, a power of two, and rows that one of them may have.
    static constexpr std::size_t remembered_ranks = 1024;
    static constexpr int remembered_members = 12;

    // How many times a search may go on for each look at the clock; the limit, in seconds, from which on there is none,
    // since a clock may overflow beyond it; the milliseconds after which the monitor is asked again.
    static constexpr unsigned looks_per_clock = 8;
    static constexpr double longest_wait = 1e9;
    static constexpr int monitor_milliseconds = 50;

    // Searches between two looks at t.
    static constexpr std::int64_t batch_size = 32;

    // Nodes of a quadratic below the loss before the first search of a draw.
    static constexpr std::int64_t quick_nodes = 400;

    // Nodes of the first search of a draw; times as many in the next one.
    static constexpr std::int64_t first_cap = 500;
    static constexpr std::int64_t next_cap = 8;

    // Nodes that take as long as setting up the search of a draw, and as setting up its quadratic, once.
    static constexpr std::int64_t set_up_nodes = 12;
    static constexpr std::int64_t minorant_set_up_nodes = 2;

    // The same for a dive down the tree of the loss's model, with the minimizer of its draw.
    static constexpr std::int64_t model_dive_nodes = 1;

    // If setting up all searches would take more than one part in so many of the nodes, a few draws are tried first.
    static constexpr std::int64_t set_up_share = 4;

    // The model has the mean second derivative of each row at margins that differ from those where it is taken by these
    // shares of `model_reach` times the standard deviation that the row's margin has on the border of where g = 1. In
    // four calls on real data, 0.4, 0.8 and 0 found smaller values more often than larger ones.
    static constexpr double model_reach = 0.6;
    static constexpr double model_shares[] = {-1.5, -0.75, 0.0, 0.75, 1.5};

    // Nodes of a dive under squared loss, about. All dives follow where a part of the nodes (`dive_share`) pays them,
    // but take a smaller one: what they raise t by, the searches and the narrowing that they pay for lower the upper
    // end by.
    static constexpr std::int64_t dive_nodes = 60;
    static constexpr std::int64_t further_dive_share = 16;

    // One part in so many of the nodes may go to the first batch, and one of what is left to the next ones. Draws that
    // were not placed by a first search are searched again in batches of this size, which may take half of it.
    static constexpr std::size_t first_share = 8;
    static constexpr std::size_t next_share = 4;
    static constexpr std::size_t second_batch_size = 8;

    // What a batch took counts by this share when the next one is planned. Where one takes more nodes than that, dives
    // into all draws follow.
    static constexpr double fade = 0.75;
    static constexpr double dear_batch = 1600.0;

    // Steps of a dive, of each sign, at least and at most. Limited nodes are divided by `dive_share` for all dives.
    // They go into `dives_per_draw_above` draws for each one above the quantile, and `more_dives` others.
    static constexpr std::int64_t dive_steps = 8;
    static constexpr std::int64_t most_dive_steps = 96;
    static constexpr std::int64_t dive_share = 4;
    static constexpr std::int64_t dives_per_draw_above = 2;
    static constexpr std::int64_t more_dives = 16;

    // Random dives at the end: rounds, paths into each draw, and after how many the model is taken where they came
    // nearest to a better value. A weight is between `path_evenness` over 1 more than it and the inverse of that, times
    // `path_loyalty` for favored hyperplanes. All paths into a draw take about as long as `random_dive_nodes` of the
    // loss.
    static constexpr std::int64_t random_rounds = 4;
    static constexpr int random_paths = 16;
    static constexpr int paths_to_turn = 4;
    static constexpr double path_evenness = 0.3;
    static constexpr double path_loyalty = 4.5;
    static constexpr std::int64_t random_dive_nodes = 5;

    // A node of the loss that takes as long as so many of the quadratic is dear: nodes of the quadratic are multiplied
    // by this in every further round.
    static constexpr std::int64_t dear_node = 20;
    static constexpr std::int64_t more_nodes = 4;

    // Floors that nodes are kept for when t is given up, and how little narrowing may still gain when it ends: a part
    // of the bracket, between these on the scale of Q.
    static constexpr std::int64_t narrowing_steps = 5;
    static constexpr double narrow_part = 1.0 / 32.0;
    static constexpr double narrow_enough = 0.002;
    static constexpr double narrow_most = 0.005;

    // By which share of the bracket the floor lies below its upper end; with more nodes than before, which lower that
    // end little if at all. A floor is given up if this many times as many draws are expected to fail as may.
    static constexpr double narrow_step = 0.5;
    static constexpr double narrow_next_step = 0.125;
    static constexpr std::int64_t clearly_more = 3;

    // Time of a node of the loss, with terms for n p^2 and p^3, and of a node of the quadratic, with one for n p.
    // Confirming a node of the quadratic by the loss takes so many of its nodes per dimension.
    static constexpr double newton_time = 15.0;
    static constexpr double newton_time_of_rows = 3e-3;
    static constexpr double newton_time_of_factor = 12e-3;
    static constexpr double quadratic_time = 1.5;
    static constexpr double quadratic_time_of_rows = 5e-4;
    static constexpr int confirm_nodes = 2;
};

}  // namespace cudbound
