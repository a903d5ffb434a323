// What searches for the open cell with the largest gain have in common.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "control/prunes.hpp"

namespace cudbound {

class BestCell {
 public:
    explicit BestCell(int p) : direction_(p) {}

    // The largest gain found (or -1), and a point inside its cell.
    double best() const { return best_; }
    const std::vector<double>& direction() const { return direction_; }
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
    double upper_ = std::numeric_limits<double>::infinity();
    std::vector<double> direction_;
};

}  // namespace cudbound
