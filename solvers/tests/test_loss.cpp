// The surrogate losses as functions of the margin.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "cudbound/draws.hpp"
#include "instances.hpp"
#include "oracles.hpp"
#include "problem/loss.hpp"

namespace {

using cudbound::Loss;
using cudbound::loss_at;
using cudbound::LossAt;

void check_at(Loss loss, double margin, double value, double slope, double bend) {
    check::set_context("loss", static_cast<int>(loss), "margin", margin);
    const LossAt here = loss_at(loss, margin);
    CHECK_NEAR(here.value, value, 1e-15 * (1.0 + std::abs(value)));
    CHECK_NEAR(here.slope, slope, 1e-15 * (1.0 + std::abs(slope)));
    CHECK_NEAR(here.bend, bend, 1e-15 * (1.0 + std::abs(bend)));
}

bool is_kink(Loss loss, double margin) {
    const bool at_one = loss == Loss::SQUARED_HINGE || loss == Loss::HINGE || loss == Loss::HUBER;
    return (at_one && std::abs(margin - 1.0) < 1e-3) || (loss == Loss::HUBER && std::abs(margin + 1.0) < 1e-3);
}

template <Loss loss>
void check_least_bend(std::uint64_t seed) {
    Random random(seed);
    for (int trial = 0; trial < check::trials(2000); ++trial) {
        const double low = 2.0 * normal(random);
        const double high = low + std::abs(normal(random)) * (trial % 2 == 0 ? 3.0 : 0.1);
        check::set_context("loss", static_cast<int>(loss), "low", low, "high", high);
        const double least = cudbound::least_bend<loss>(low, high);
        double seen = 1e300;
        for (int step = 0; step <= 50; ++step) {
            // the ends themselves, whatever rounding makes of them in between
            const double margin = step == 50 ? high : std::min(high, low + (high - low) * step / 50.0);
            seen = std::min(seen, loss_at<loss>(margin).bend);
        }
        CHECK_AT_MOST(0.0, least);
        CHECK_AT_MOST(least, seen * (1.0 + 1e-14));
        // not a vacuous bound: the least curvature of the logistic and exponential loss is at an end
        if (cudbound::vanishes<loss>) CHECK_NEAR(least, seen, 1e-12 * seen);
        if (low > -1.0 && high < 1.0) CHECK(least > 0.0);
    }
}

}  // namespace

// From the definitions in draws.hpp. At a kink the derivatives are those from the side of large margins.
TEST(values_by_hand) {
    const double e = std::exp(1.0);
    check_at(Loss::SQUARED, 0.0, 1.0, -2.0, 2.0);
    check_at(Loss::SQUARED, 3.0, 4.0, 4.0, 2.0);
    check_at(Loss::LOGISTIC, 0.0, std::log(2.0), -0.5, 0.25);
    check_at(Loss::LOGISTIC, -1.0, std::log(1.0 + e), -e / (1.0 + e), e / ((1.0 + e) * (1.0 + e)));
    check_at(Loss::EXPONENTIAL, 0.0, 1.0, -1.0, 1.0);
    check_at(Loss::EXPONENTIAL, -1.0, e, -e, e);
    check_at(Loss::EXPONENTIAL, 1.0, 1.0 / e, -1.0 / e, 1.0 / e);
    check_at(Loss::SQUARED_HINGE, 0.0, 1.0, -2.0, 2.0);
    check_at(Loss::SQUARED_HINGE, -2.0, 9.0, -6.0, 2.0);
    check_at(Loss::SQUARED_HINGE, 1.0, 0.0, 0.0, 0.0);
    check_at(Loss::SQUARED_HINGE, 5.0, 0.0, 0.0, 0.0);
    check_at(Loss::HINGE, -2.0, 3.0, -1.0, 0.0);
    check_at(Loss::HINGE, 0.5, 0.5, -1.0, 0.0);
    check_at(Loss::HINGE, 1.0, 0.0, 0.0, 0.0);
    check_at(Loss::HINGE, 5.0, 0.0, 0.0, 0.0);
    check_at(Loss::HUBER, 0.0, 1.0, -2.0, 2.0);
    check_at(Loss::HUBER, -1.0, 4.0, -4.0, 2.0);
    check_at(Loss::HUBER, -3.0, 12.0, -4.0, 0.0);
    check_at(Loss::HUBER, 1.0, 0.0, 0.0, 0.0);
    check_at(Loss::HUBER, 2.0, 0.0, 0.0, 0.0);
}

// log(1 + exp(-m)) is exp(-m) for large m and -m for large -m; neither overflows.
TEST(logistic_far_out) {
    check_at(Loss::LOGISTIC, 800.0, 0.0, 0.0, 0.0);
    check_at(Loss::LOGISTIC, -800.0, 800.0, -1.0, 0.0);
    const LossAt here = loss_at(Loss::LOGISTIC, 40.0);
    CHECK_NEAR(here.value, std::exp(-40.0), 1e-14 * std::exp(-40.0));
    CHECK_NEAR(here.slope, -std::exp(-40.0), 1e-14 * std::exp(-40.0));
    CHECK_NEAR(here.bend, std::exp(-40.0), 1e-14 * std::exp(-40.0));
}

// At every power of two and next to halves of log(2), where it rounds to another integer.
TEST(exponentials_in_loops) {
    const auto check_at = [](double x) {
        check::set_context("x", x);
        const auto exact = static_cast<double>(std::exp(static_cast<long double>(x)));
        CHECK_NEAR(cudbound::exponential_of_negative(x), exact, 2.3e-16 * exact);
    };
    Random random(151);
    for (int trial = 0; trial < check::trials(200000); ++trial) {
        check_at(-std::min(708.0, std::abs(normal(random)) * std::exp2(trial % 16 - 7)));
    }
    for (int k = 0; k <= 2040; ++k) {
        const double half = -0.5 * k * std::log(2.0);
        for (const double x : {half, std::nextafter(half, 0.0), std::nextafter(half, -1000.0)}) check_at(x);
    }
    for (int k = -1074; k < 9; ++k) check_at(-std::exp2(k));
    check_at(-708.0);
    CHECK_EQUAL(cudbound::exponential_of_negative(0.0), 1.0);
    CHECK_EQUAL(cudbound::exponential_of_negative(-709.0), 0.0);
    CHECK(std::isnan(cudbound::exponential_of_negative(std::nan(""))));
}

TEST(equal_to_the_definitions_in_long_double) {
    for (const Loss loss : all_losses) {
        for (double margin = -30.0; margin <= 30.0; margin += 0.0625) {
            check::set_context("loss", static_cast<int>(loss), "margin", margin);
            const LossAt here = loss_at(loss, margin);
            const oracle::Surrogate exact = oracle::surrogate(loss, margin);
            const auto value = static_cast<double>(exact.value);
            CHECK_NEAR(here.value, value, 1e-14 * std::abs(value));
            CHECK_NEAR(here.slope, static_cast<double>(exact.slope), 1e-14 * std::abs(here.slope));
            CHECK_NEAR(here.bend, static_cast<double>(exact.bend), 1e-14 * std::abs(here.bend));
        }
    }
}

TEST(derivatives_by_finite_differences) {
    const long double h = 1e-5L;
    for (const Loss loss : all_losses) {
        for (double margin = -6.03; margin <= 6.0; margin += 0.05) {
            if (is_kink(loss, margin)) continue;
            check::set_context("loss", static_cast<int>(loss), "margin", margin);
            const LossAt here = loss_at(loss, margin);
            const long double above = oracle::surrogate(loss, margin + h).value;
            const long double below = oracle::surrogate(loss, margin - h).value;
            const long double at = oracle::surrogate(loss, margin).value;
            const double scale = 1.0 + std::abs(here.value);
            CHECK_NEAR(here.slope, static_cast<double>((above - below) / (2.0L * h)), 1e-8 * scale);
            CHECK_NEAR(here.bend, static_cast<double>((above - 2.0L * at + below) / (h * h)), 1e-6 * scale);
        }
    }
}

// The tangent at any margin lies below the loss everywhere: convexity, and slopes that are subgradients at kinks too.
TEST(tangents_support_the_loss) {
    for (const Loss loss : all_losses) {
        for (double at = -4.0; at <= 4.0; at += 0.25) {
            const LossAt here = loss_at(loss, at);
            for (double margin = -5.0; margin <= 5.0; margin += 0.125) {
                check::set_context("loss", static_cast<int>(loss), "tangent at", at, "margin", margin);
                const double tangent = here.value + here.slope * (margin - at);
                CHECK_AT_MOST(tangent, loss_at(loss, margin).value + 1e-13);
            }
        }
    }
}

// What the Newton steps rely on: |third derivative| <= second (Bach 2010, equation 4), by finite differences of the
// second.
TEST(self_concordance) {
    CHECK((cudbound::vanishes<Loss::LOGISTIC>));
    CHECK((cudbound::vanishes<Loss::EXPONENTIAL>));
    CHECK(!(cudbound::vanishes<Loss::SQUARED_HINGE>));
    CHECK(!(cudbound::vanishes<Loss::HUBER>));
    const long double h = 1e-4L;
    for (const Loss loss : {Loss::LOGISTIC, Loss::EXPONENTIAL}) {
        for (double margin = -20.0; margin <= 20.0; margin += 0.01) {
            check::set_context("loss", static_cast<int>(loss), "margin", margin);
            const long double third =
                (oracle::surrogate(loss, margin + h).bend - oracle::surrogate(loss, margin - h).bend) / (2.0L * h);
            CHECK_AT_MOST(static_cast<double>(std::abs(third)), loss_at(loss, margin).bend * (1.0 + 1e-7));
        }
    }
}

TEST(least_bend_is_a_lower_bound) {
    check_least_bend<Loss::LOGISTIC>(101);
    check_least_bend<Loss::EXPONENTIAL>(102);
    check_least_bend<Loss::SQUARED_HINGE>(103);
    check_least_bend<Loss::HUBER>(104);
}
