// What searches for the open cell with the largest gain have in common.
#pragma once

#include "cones/open_cone.hpp"
#include "cones/simplicial_cones.hpp"
#include "control/prunes.hpp"

namespace cudbound {

class BestCell {
 public:
    explicit BestCell(int p) : direction_(p) {}

    // The largest gain found (or -1), and a point inside its cell.
    double best() const { return best_; }
    const Vector<double>& direction() const { return direction_; }
    // No open cell gains more, unless best() or what was said to be enough is more.
    double upper() const { return upper_; }

 protected:
    void begin(double enough) {
        enough_ = enough;
        best_ = -1.0;
        upper_ = enough;
    }
    void offer(double gain, const double* w) {
        if (!(gain > best_)) return;
        best_ = gain;
        direction_.assign(w, w + direction_.size());
    }
    double known() const { return std::max(best_, enough_); }
    void leave_open(double bound) { upper_ = with_open(upper_, bound); }
    void end() { upper_ = std::max(upper_, best_); }

    double best_ = -1.0;
    double enough_ = 0.0;
    double upper_ = infinity;
    Vector<double> direction_;
};

// Of each conflict between hyperplanes at least one member has to be given up: those before it are kept.
class ConflictSearch : public BestCell {
 protected:
    enum Mark : char { given_up, undecided, kept };

    explicit ConflictSearch(int p) : BestCell(p), p_(p) {}

    // A search for a cell with gain above `enough` in at most `nodes` nodes. Afterwards best() is the largest gain
    // found (or -1), direction() a point inside its cell, and upper() an upper bound on max(gain of any cell, enough):
    // equal to max(best, enough) unless nodes or budget ran out, or rounding hides whether cells exist.
    void start(const CentralHyperplanes& hyperplanes, double enough, double nodes, Budget& budget) {
        begin(enough);
        hyperplanes_ = hyperplanes;
        total_ = hyperplanes.total();
        nodes_ = nodes;
        budget_ = &budget;
        branches_.clear();
    }

    // Gives up the members on the stack from `begin` on, each in turn, the cheapest first; `branch` searches what is
    // left.
    template <class Gain, class Branch>
    void give_up_one(std::size_t begin, const Gain& gain, const Branch& branch) {
        const std::size_t end = branches_.size();
        std::sort(branches_.begin() + static_cast<std::ptrdiff_t>(begin), branches_.end(),
                  [&](int a, int b) { return gain(a) != gain(b) ? gain(a) < gain(b) : a < b; });
        for (std::size_t i = begin; i < end; ++i) {
            const int j = branches_[i];
            marks_[j] = given_up;
            branch(j);
            marks_[j] = kept;
        }
        for (std::size_t i = begin; i < end; ++i) marks_[branches_[i]] = undecided;
        branches_.resize(begin);
    }

    const int p_;
    CentralHyperplanes hyperplanes_;
    double total_ = 0.0;  // gain of all of them
    double nodes_ = 0.0;  // still allowed
    Budget* budget_ = nullptr;
    Vector<char> marks_;    // (k) of the hyperplanes
    Vector<int> branches_;  // stack: the conflict that each node of the path branches on
};

}  // namespace cudbound
