#include "problem/loss.hpp"

namespace cudbound {

LossAt loss_at(Loss loss, double margin) {
    return with_loss(loss, [margin]<Loss kind>() { return loss_at<kind>(margin); });
}

}  // namespace cudbound
