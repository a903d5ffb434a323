#include "loss.hpp"

namespace cudbound {

LossAt loss_at(Loss loss, double margin) {
    switch (loss) {
        case Loss::SQUARED:
            return loss_at<Loss::SQUARED>(margin);
        case Loss::LOGISTIC:
            return loss_at<Loss::LOGISTIC>(margin);
        case Loss::EXPONENTIAL:
            return loss_at<Loss::EXPONENTIAL>(margin);
        case Loss::SQUARED_HINGE:
            return loss_at<Loss::SQUARED_HINGE>(margin);
        case Loss::HINGE:
            return loss_at<Loss::HINGE>(margin);
        default:
            return loss_at<Loss::HUBER>(margin);
    }
}

}  // namespace cudbound
