// The value of every cell near beta = 0, where all hyperplanes meet.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "control/budget.hpp"
#include "control/prunes.hpp"
#include "search/direction_cones.hpp"
#include "search/draw_view.hpp"
#include "search/max_gain.hpp"

namespace cudbound {

// The largest total gain that an open cell gets from all hyperplanes of a draw. Changing the sign of beta swaps the two
// signs of the deviation, so what is known about the gain of one sign holds for the other.
class ApexGain {
 public:
    ApexGain(const Arrangement& arrangement)
        : p_(arrangement.p),
          max_gain_(arrangement),
          direction_cones_(arrangement, p_, std::make_shared<ExactRank>(arrangement.exact_rows())),
          direction_(arrangement.p) {}

    // The work of its conflicts too, as OpenCone does.
    void charge_to(Budget& budget) { max_gain_.charge_to(budget); }

    // Another draw.
    void forget() {
        best_ = -1.0;
        upper_ = std::numeric_limits<double>::infinity();
    }

    // Looks for a cell that gains more than `enough`, or for a proof that there is none.
    void search(const DrawView& view, double enough, Budget& budget);

    bool known(double enough) const { return at_most(upper_, std::max(best_, enough)); }
    double best() const { return best_; }    // gain of the cell that holds direction(), or -1
    double upper() const { return upper_; }  // no open cell gains more, unless best() or `enough` is more
    const std::vector<double>& direction() const { return direction_; }

 private:
    template <class Search>
    void take(const Search& search);

    int p_;
    MaxGain max_gain_;
    DirectionCones direction_cones_;
    double best_ = -1.0;
    double upper_ = std::numeric_limits<double>::infinity();
    std::vector<double> direction_;
    std::vector<double> normals_;
    std::vector<double> gains_;
};

}  // namespace cudbound
