// Branch and bound for one draw: which side of every hyperplane is worth its loss.
#pragma once

#include <memory>
#include <vector>

#include "arrangement.hpp"
#include "budget.hpp"
#include "facet_search.hpp"
#include "max_gain.hpp"
#include "open_cone.hpp"
#include "relaxation.hpp"

namespace cudbound {

// What is proved about one draw, in the units of the scores.
struct Outcome {
    double lower = 0.0;
    double upper = 0.0;
    Status status = Status::OPTIMAL;
    std::int64_t nodes = 0;
};

// For one sign of the deviation every hyperplane has a preferred side, which adds its gain to the score. A
// node holds the hyperplanes forced onto their preferred sides, and the minimiser of the loss on their closed cone.
// Giving a hyperplane up costs its gain and adds no constraint, so the path to a leaf holds few constraints.
class Tree {
 public:
    explicit Tree(const Problem& problem, const Arrangement& arrangement, const std::atomic<bool>& stop,
                  const Limits& limits);

    // Solves draw `draw`; `witness` (p) receives coefficients strictly inside the attaining cell.
    Outcome solve(std::int64_t draw, Side side, double* witness);

 private:
    struct Hyperplane {  // an undecided hyperplane on its wrong side at the point of a node
        int index;
        double rise;      // the loss beyond it exceeds the node's by at least this
        double distance;  // to it from that point
    };
    struct Level {
        std::unique_ptr<Node> node;
        std::vector<Hyperplane> crossed;
    };
    enum Mark : char { undecided, forced, given_up };
    enum class Found { point, apex };

    void prepare(std::int64_t draw);
    void offer_start(const std::vector<double>& point, bool positive_counts, bool negative_counts);
    void orient(double sign);
    void settle_far_hyperplanes();
    void probe();
    void explore();
    void process(int depth, double score);
    double classify(Level& here, double score);
    void expand(int depth, double attained);
    void apex_node(double score);
    void search_apex(double enough);
    double apex_start() const;
    double apex_g() const;
    double bound(double score, double loss) const;
    Sides sides() const;
    void offer(double score, double value, const std::vector<double>& point);
    Level& level(int depth);
    void write_witness(double* witness, Outcome& outcome);
    void clear_ties(const std::vector<double>& base, std::vector<double>& w);
    double longest_step(const std::vector<double>& base, const std::vector<double>& w);
    double score_at(const double* beta) const;
    void leave_hyperplanes(double* witness) const;

    const Problem& problem_;
    const Arrangement& arrangement_;
    const int p_;
    const std::unique_ptr<Relaxation> relaxation_;
    Budget budget_;
    SideScores scores_;
    OpenCone cone_;
    MaxGain max_gain_;
    FacetSearch facet_search_;
    std::vector<double> own_weights_;
    const std::unique_ptr<Node> minimiser_;

    // the hyperplanes that matter to this draw, as the arrangement turns them
    std::vector<int> id_;               // (m)
    std::vector<double> unit_;          // (m, p) unit normals in coordinates of the relaxation
    std::vector<double> offset_;        // (m)
    std::vector<double> curvature_;     // (m) see Relaxation::transform
    std::vector<double> at_minimiser_;  // (m) side of the minimiser
    std::vector<double> crossing_;      // (m) the loss is at least this on the other side
    std::vector<char> probed_;          // (m) whether that is exact
    std::vector<double> probe_normal_;  // (p) scratch
    std::vector<double> difference_;    // (m) score on the positive side minus score on the negative side
    double constant_score_ = 0.0;       // score of everything else
    double divisor_ = 1.0;              // scores are in units of 1 / divisor
    double rounding_ = 0.0;             // error that sums of weights may carry

    // those within reach, for one sign, turned so that the preferred side is positive
    double sign_ = 1.0;
    std::vector<int> member_;       // (k) position in the list above
    std::vector<double> normal_;    // (k, p)
    std::vector<double> column_;    // (p, k) the same, transposed
    std::vector<double> distance_;  // (k)
    std::vector<double> gain_;      // (k)
    std::vector<double> curved_;    // (k) curvature
    double settled_score_ = 0.0;    // score with all of the k on the wrong side
    double score_cap_ = 0.0;        // no open cell scores more

    // search state
    std::vector<char> mark_;       // (k)
    std::vector<int> forced_;      // stack
    std::vector<int> dropped_;     // stack: given up because of a conflict
    std::vector<double> margins_;  // (k) scratch
    std::vector<int> tight_;       // scratch: forced or undecided, through the point of the node
    std::vector<double> apex_normals_;
    std::vector<double> apex_gains_;
    std::vector<std::unique_ptr<Level>> levels_;
    double tie_ = 0.0;
    double incumbent_ = 0.0;
    double open_bound_ = 0.0;     // largest bound of a node that was not processed to the end
    bool apex_searched_ = false;  // for this sign
    bool apex_proved_ = false;    // no cell is worth more than the incumbent at beta = 0

    // the open cell with the largest gain over all hyperplanes, as far as it was looked for
    double gain_best_ = -1.0;  // attained along gain_direction_ for the positive sign, against it for the other
    double gain_upper_ = 0.0;  // no open cell gains more, unless one with gain_best_ or less
    std::vector<double> gain_direction_;

    // where the incumbent is approached
    Found found_ = Found::point;
    double found_sign_ = 1.0;
    double found_score_ = 0.0;
    std::vector<double> found_point_;  // (p) coordinates of the relaxation, or a direction in beta for the apex
    std::vector<int> found_sides_;     // +-(position + 1): tight hyperplanes and the side that counts

    // scratch of write_witness
    std::vector<double> witness_rows_;
    std::vector<int> witness_members_;
    std::vector<double> base_;
    std::vector<double> step_;
    std::vector<double> trial_;
};

}  // namespace cudbound
