// One hyperplane in the coordinates of a relaxation.
#pragma once

#include "losses/relaxation.hpp"

// Writes its unit normal and offset, and returns its curvature.
inline double place(cudbound::Relaxation& relaxation, int hyperplane, double* unit, double* offset) {
    double curvature = 0.0;
    relaxation.place({hyperplane}, unit, offset, &curvature);
    return curvature;
}
