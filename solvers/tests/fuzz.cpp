// Problems made of arbitrary bytes, for draws and for fits: whatever they say, the solver answers or refuses, within
// its memory, and what it answers contradicts neither itself nor the value of any classifier that is tried. Built with
// Clang and CUDBOUND_LIBFUZZER the bytes come from libFuzzer; otherwise the program makes them itself:
//   fuzz SECONDS SEED [FILE...]
// runs the files of a corpus, and then bytes from a generator until the time is up. A failure ends the program; it
// leaves its bytes in the file `crash`.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "cudbound/draws.hpp"
#include "cudbound/fits.hpp"
#include "cudbound/settings.hpp"
#include "enclosed_value.hpp"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Reads choices and numbers out of bytes; zeros when they have ended.
class Bytes {
 public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
    int integer(int least, int most) { return least + byte() % (most - least + 1); }
    bool flag() { return byte() % 2 == 1; }

    // From here on numbers are at most 1e4, or `large` ones at most 1e16. What is larger is not compared with values.
    void tame(bool large) {
        tame_ = !large;
        large_ = large;
    }

    // Mostly numbers that tie, cancel or are of different orders of magnitude; sometimes any 64 bits at all.
    double number() {
        static constexpr std::array<double, 24> large = {
            0.0, -0.0,  1.0,       -1.0,       0.5,         -0.5, 2.0,  -2.0, 3.0, 1e-8, -1e-8, 1e8,
            1e6, -1e10, 1.0 / 3.0, -1.0 / 3.0, 1.0 + 1e-15, 1e12, 1e16, -1e8, 7.0, -7.0, 0.1,   -1e16};
        static constexpr std::array<double, 24> tame = {
            0.0, -0.0,      1.0,        -1.0,        0.5,         -0.5, 2.0,  -2.0, 3.0, 1e-8,  -1e-8, 1e-4,
            1e4, 1.0 / 3.0, -1.0 / 3.0, 1.0 + 1e-15, 1.0 - 1e-15, 7.0,  -7.0, 0.1,  0.3, 100.0, -0.3,  -1e4};
        static constexpr std::array<double, 24> known = {
            0.0,    -0.0, 1.0,  -1.0,  0.5,       -0.5,       2.0,         -2.0,        3.0, 1e-8, -1e-8, 1e8,
            1e-300, 1e16, 1e90, -1e16, 1.0 / 3.0, -1.0 / 3.0, 1.0 + 1e-15, 1.0 - 1e-15, 7.0, -7.0, 0.1,   0.3};
        const std::uint8_t choice = byte();
        if (choice < 8 * known.size()) return (tame_ ? tame : large_ ? large : known)[choice % known.size()];
        if (choice < 250 || tame_ || large_) return (static_cast<double>(byte()) - 128.0) / 32.0;
        std::uint64_t bits = 0;
        for (int k = 0; k < 8; ++k) bits = bits << 8 | byte();
        double value = 0.0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    std::vector<double> numbers(std::int64_t size) {
        std::vector<double> values(static_cast<std::size_t>(size));
        for (double& value : values) value = number();
        return values;
    }

    std::vector<double> magnitudes(std::int64_t size) {
        std::vector<double> values = numbers(size);
        for (double& value : values) value = std::abs(value);
        return values;
    }

    std::vector<double> labels(std::int64_t size) {
        std::vector<double> values(static_cast<std::size_t>(size));
        for (double& value : values) value = flag() ? 1.0 : -1.0;
        return values;
    }

 private:
    const std::uint8_t* data_;
    std::size_t size_;
    std::size_t at_ = 0;
    bool tame_ = false;
    bool large_ = false;
};

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "contradiction: %s\n", what);
    std::abort();
}

// Everything that a failure has to tell.
void require_values(bool holds, const char* what, const cudbound::Problem& problem, std::int64_t draw,
                    const double* coef, double claimed, long double actual) {
    if (holds) return;
    std::fprintf(stderr, "draw %lld of a problem with n %lld, p %lld, loss %d, alpha %g: claimed %.17g, but\n",
                 static_cast<long long>(draw), static_cast<long long>(problem.n), static_cast<long long>(problem.p),
                 static_cast<int>(problem.loss), problem.alpha, claimed);
    for (std::int64_t k = 0; k < problem.p; ++k) std::fprintf(stderr, "%.17g ", coef[k]);
    std::fprintf(stderr, "is worth %.20Lg\n", actual);
    const auto show = [](const char* name, const double* values, std::int64_t size) {
        std::fprintf(stderr, "%s:", name);
        for (std::int64_t k = 0; values != nullptr && k < size; ++k) std::fprintf(stderr, " %.17g", values[k]);
        std::fprintf(stderr, "\n");
    };
    show("design", problem.design, problem.n * problem.p);
    show("labels", problem.labels, problem.n);
    show("anchor", problem.anchor, problem.p);
    show("weights", problem.weights ? problem.weights + draw * problem.n : nullptr, problem.n);
    show("sample_weight", problem.sample_weight, problem.n);
    show("offset", problem.offset, problem.n);
    show("penalty", problem.penalty, problem.p * problem.p);
    show("l1", problem.l1, problem.p);
    std::fprintf(stderr, "counts:");
    for (std::int64_t k = 0; k < problem.n; ++k) std::fprintf(stderr, " %d", problem.counts[draw * problem.n + k]);
    std::fprintf(stderr, "\n");
    require(false, what);
}

const double* or_null(const std::vector<double>& values) { return values.empty() ? nullptr : values.data(); }

struct Found {
    std::vector<double> lower, upper, witness;
    std::vector<std::int32_t> status;
    std::vector<std::int64_t> nodes;

    explicit Found(const cudbound::Problem& problem)
        : lower(static_cast<std::size_t>(problem.draws)),
          upper(lower.size()),
          witness(lower.size() * static_cast<std::size_t>(problem.p)),
          status(lower.size()),
          nodes(lower.size()) {}

    cudbound::Results view() { return {lower.data(), upper.data(), status.data(), nodes.data(), witness.data()}; }
};

// What a witness may lack, as docs/developers/solver.md says: a share of the weights, and what the loss of
// its node was lowered by on purpose. The latter is a gap of Newton's method, or for squared loss the allowance for
// flat directions.
long double witness_allowance(const cudbound::Problem& problem, const EnclosedValue& value) {
    using cudbound::Loss;
    using cudbound::Settings;
    // the second share is what sums of general weights add to `lower`
    const long double weights = (Settings::witness_value + Settings::score) * value.total();
    if (std::isinf(problem.alpha) || problem.alpha == 0.0) return weights;
    const long double fall = static_cast<long double>(problem.n) / problem.alpha;
    long double gap = 0.0L;
    switch (problem.loss) {
        case Loss::SQUARED:
            // and for sums of the normals of an l1 penalty, which cancel
            gap = (problem.l1 == nullptr ? 1.0L : 2.0L) * Settings::flat_level * std::min(1.0L, fall) +
                  4.0L * Settings::excess * fall + 5.0L * Settings::apex * 8.0L * problem.n;
            break;
        case Loss::LOGISTIC:
        case Loss::EXPONENTIAL:
            gap = 20.0L * Settings::newton_gap * (1.0L + value.loss_at_zero());
            break;
        case Loss::SQUARED_HINGE:
        case Loss::HUBER:
            gap = (20.0L * Settings::newton_gap + Settings::pieces_gap) * (1.0L + value.loss_at_zero());
            break;
        case Loss::HINGE:
            break;
    }
    return weights + value.total() * gap / fall;
}

// At alpha = infinity any excess of the loss counts, and its rounding error must not.
long double witness_excess(const cudbound::Problem& problem, const EnclosedValue& value) {
    using cudbound::Settings;
    if (!std::isinf(problem.alpha)) return 0.0L;
    return Settings::witness_level * (value.anchor_loss() + std::min(value.loss_at_zero(), 1.0L)) +
           static_cast<long double>(Settings::witness_doubt) * problem.n;
}

// Classifiers that may be worth more than was found: near the anchor, the minimizer, the witness and beta = 0, across
// one hyperplane from each of these, along the rows, and anywhere.
class Candidates {
 public:
    Candidates(const cudbound::Problem& problem, std::uint64_t seed) : problem_(problem), random_(seed) {}

    template <class Visit>
    void around(const double* center, const Visit& visit) {
        visit(center);
        const double length = length_of(center);
        for (const double share : {1e-12, 1e-6, 1e-3, 0.1, 1.0}) {
            for (std::int64_t k = 0; k < problem_.p; ++k) coef_[k] = center[k] + share * length * uniform();
            visit(coef_.data());
            for (std::int64_t k = 0; k < problem_.p; ++k) coef_[k] = share * (center[k] + 1e-3 * length * uniform());
            visit(coef_.data());
        }
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            const double* row = problem_.design + i * problem_.p;
            double side = 0.0;
            double squares = 0.0;
            for (std::int64_t k = 0; k < problem_.p; ++k) {
                side += row[k] * center[k];
                squares += row[k] * row[k];
            }
            for (const double beyond : {1e-9, 1e-3}) {
                for (std::int64_t k = 0; k < problem_.p; ++k)
                    coef_[k] = center[k] - (1.0 + beyond) * side / squares * row[k];
                visit(coef_.data());
            }
        }
    }

    template <class Visit>
    void anywhere(const Visit& visit) {
        for (std::int64_t i = 0; i < problem_.n; ++i) {
            for (const double sign : {1.0, -1.0}) {
                for (std::int64_t k = 0; k < problem_.p; ++k) coef_[k] = sign * problem_.design[i * problem_.p + k];
                visit(coef_.data());
            }
        }
        for (int trial = 0; trial < 10; ++trial) {
            const double size = std::pow(10.0, 4.0 * uniform());
            for (std::int64_t k = 0; k < problem_.p; ++k) coef_[k] = size * uniform();
            visit(coef_.data());
        }
    }

 private:
    double uniform() { return 2.0 * static_cast<double>(random_() >> 11) * 0x1p-53 - 1.0; }

    double length_of(const double* coef) const {
        double squares = 0.0;
        for (std::int64_t k = 0; k < problem_.p; ++k) squares += coef[k] * coef[k];
        return squares > 0.0 ? std::sqrt(squares) : 1.0;
    }

    const cudbound::Problem& problem_;
    std::mt19937_64 random_;
    std::array<double, 4> coef_{};
};

void check_values(const cudbound::Problem& problem, cudbound::Side side, const Found& found, const double* minimizers,
                  std::uint64_t seed) {
    Candidates candidates(problem, seed);
    for (std::int64_t d = 0; d < problem.draws; ++d) {
        const auto at = static_cast<std::size_t>(d);
        require(std::isfinite(found.lower[at]) && std::isfinite(found.upper[at]), "a bound that is no number");
        const EnclosedValue value(problem, d, side);
        // where losses overflow, nothing is known of g
        if (!std::isfinite(value.loss_at_zero()) || !std::isfinite(value.anchor_loss())) continue;
        const double* witness = found.witness.data() + d * problem.p;
        const long double most = value.at(witness, witness_excess(problem, value)).high;
        require_values(found.lower[at] <= most + witness_allowance(problem, value),
                       "a witness that is worth less than lower", problem, d, witness, found.lower[at], most);
        // the last bit of `upper`, which is rounded to the nearest number when it is divided by n
        const long double bound = found.upper[at] * (1.0L + std::numeric_limits<double>::epsilon());
        const auto compare = [&](const double* coef) {
            const bool finite = std::all_of(coef, coef + problem.p, [](double x) { return std::isfinite(x); });
            if (!finite) return;
            const long double least = value.at(coef).low;
            require_values(least <= bound, "a classifier that is worth more than upper", problem, d, coef,
                           found.upper[at], least);
        };
        candidates.anywhere(compare);
        for (const double* center : {problem.anchor, minimizers + d * problem.p, witness})
            candidates.around(center, compare);
    }
}

void solve_bytes(Bytes& bytes, bool tame) {
    cudbound::Problem problem;
    problem.p = bytes.integer(1, 4);
    problem.n = bytes.integer(1, 12);
    problem.draws = bytes.integer(1, 3);
    problem.loss = static_cast<cudbound::Loss>(bytes.integer(0, 5));
    const double alphas[] = {0.0, 1.0, static_cast<double>(problem.n), 1e6, infinity};
    problem.alpha = alphas[bytes.integer(0, 4)];
    const auto side = static_cast<cudbound::Side>(bytes.integer(0, 2));
    const bool weighted = bytes.flag(), sampled = bytes.flag(), shifted = bytes.flag(), penalized = bytes.flag();
    std::vector<double> design = bytes.numbers(problem.n * problem.p);
    const std::vector<double> labels = bytes.labels(problem.n);
    const std::vector<double> anchor = bytes.numbers(problem.p);
    std::vector<std::int32_t> counts(static_cast<std::size_t>(problem.draws * problem.n));
    for (std::int32_t& count : counts) count = bytes.integer(0, 3);
    const std::vector<double> weights = bytes.numbers(weighted ? problem.draws * problem.n : 0);
    const std::vector<double> sample_weight = bytes.magnitudes(sampled ? problem.n : 0);
    const std::vector<double> offset = bytes.numbers(shifted ? problem.n : 0);
    std::vector<double> penalty(penalized ? static_cast<std::size_t>(problem.p * problem.p) : 0);
    for (std::int64_t k = 0; penalized && k < problem.p; ++k) {
        const double strength = std::abs(bytes.number());
        penalty[static_cast<std::size_t>(k * problem.p + k)] = strength;
        problem.anchor_penalty += strength * anchor[static_cast<std::size_t>(k)] * anchor[static_cast<std::size_t>(k)];
    }
    problem.design = design.data();
    problem.labels = labels.data();
    problem.anchor = anchor.data();
    problem.counts = counts.data();
    problem.weights = or_null(weights);
    problem.sample_weight = or_null(sample_weight);
    problem.offset = or_null(offset);
    problem.penalty = or_null(penalty);
    cudbound::Limits limits;
    limits.nodes = bytes.integer(0, 1) == 0 ? 2000 : bytes.integer(0, 40);
    std::uint64_t seed = 0;
    for (int k = 0; k < 8; ++k) seed = seed << 8 | bytes.byte();
    const bool kinked = bytes.flag();
    const std::vector<double> l1 = bytes.magnitudes(kinked ? problem.p : 0);
    problem.l1 = or_null(l1);

    Found found(problem), again(problem);
    try {
        cudbound::solve_draws(problem, limits, side, {}, 1, {}, found.view());
    } catch (const std::invalid_argument&) {
        return;
    }
    cudbound::solve_draws(problem, limits, side, {}, 2, {}, again.view());
    for (std::size_t d = 0; d < found.lower.size(); ++d) {
        require(!(found.lower[d] > found.upper[d]), "lower above upper");
        require(found.status[d] >= 0 && found.status[d] <= 5, "unknown status");
        require(found.nodes[d] >= 0, "negative number of nodes");
        if (found.status[d] == static_cast<std::int32_t>(cudbound::Status::OPTIMAL)) {
            require(found.lower[d] == found.upper[d], "an optimum that is not one number");
        }
        const bool equal = found.lower[d] == again.lower[d] && found.upper[d] == again.upper[d];
        require(equal || std::isnan(found.lower[d]), "an answer that depends on the number of threads");
    }
    std::vector<double> coef(static_cast<std::size_t>(problem.draws * problem.p));
    const auto marks = std::make_unique<bool[]>(2 * static_cast<std::size_t>(problem.draws));
    cudbound::minimize(problem, {}, {coef.data(), marks.get(), marks.get() + problem.draws});
    if (tame) check_values(problem, side, found, coef.data(), seed);
}

void fit_bytes(Bytes& bytes) {
    cudbound::Fits fits;
    fits.p = bytes.integer(0, 4);
    fits.n = bytes.integer(1, 12);
    fits.fits = bytes.integer(1, 3);
    fits.loss = static_cast<cudbound::Loss>(bytes.integer(0, 5));
    fits.intercept = bytes.flag();
    fits.own_rows = bytes.flag();
    const bool shifted = bytes.flag(), scaled = bytes.flag();
    const std::vector<double> rows = bytes.numbers((fits.own_rows ? fits.fits : 1) * fits.n * fits.p);
    const std::vector<double> shift = bytes.numbers(shifted ? fits.fits * fits.p : 0);
    const std::vector<double> scale = bytes.numbers(scaled ? fits.fits * fits.p : 0);
    const std::vector<double> labels = bytes.labels(fits.n);
    const std::vector<double> weights = bytes.magnitudes(fits.fits * fits.n);
    const std::vector<double> penalty = bytes.magnitudes(fits.fits * fits.coefficients());
    fits.rows = rows.data();
    fits.shift = or_null(shift);
    fits.scale = or_null(scale);
    fits.labels = labels.data();
    fits.weights = weights.data();
    fits.penalty = penalty.data();
    std::vector<double> scores(static_cast<std::size_t>(fits.fits * fits.n)), doubt(scores.size());
    const auto found = std::make_unique<bool[]>(static_cast<std::size_t>(fits.fits));
    try {
        cudbound::fit_all(fits, 1, {}, {scores.data(), doubt.data(), found.get()});
    } catch (const std::invalid_argument&) {
        return;
    }
    for (std::size_t k = 0; k < doubt.size(); ++k) require(!(doubt[k] < 0.0), "negative doubt");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const std::uint8_t choice = bytes.byte();
    const bool tame = choice >= 32;
    if (tame) bytes.tame(choice < 64);
    if (choice % 2 == 1) {
        fit_bytes(bytes);
    } else {
        solve_bytes(bytes, tame);
    }
    return 0;
}

#ifndef CUDBOUND_LIBFUZZER
int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: fuzz SECONDS SEED [FILE...]\n");
        return 2;
    }
    const auto run = [](const std::vector<char>& content) {
        // before it is tried: a sanitizer ends the program
        std::ofstream("crash", std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
    };
    for (int k = 3; k < count; ++k) {
        std::ifstream file(arguments[k], std::ios::binary);
        run(std::vector<char>(std::istreambuf_iterator<char>(file), {}));
    }
    std::mt19937_64 random(std::strtoull(arguments[2], nullptr, 10));
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(std::strtod(arguments[1], nullptr));
    long long tried = 0;
    for (; std::chrono::steady_clock::now() < end; ++tried) {
        std::vector<char> content(random() % 400);
        for (char& one : content) one = static_cast<char>(random() >> 56);
        run(content);
    }
    std::remove("crash");
    std::printf("%lld inputs\n", tried);
    return 0;
}
#endif
