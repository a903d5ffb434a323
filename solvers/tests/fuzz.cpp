// Problems made of arbitrary bytes, for draws and for fits: whatever they say, the solver answers or refuses, within
// its memory, and what it answers does not contradict itself. Built with Clang and CUDBOUND_LIBFUZZER the bytes come
// from libFuzzer; otherwise the program makes them itself:
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

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Reads choices and numbers out of bytes; zeros when they have ended.
class Bytes {
 public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
    int integer(int least, int most) { return least + byte() % (most - least + 1); }
    bool flag() { return byte() % 2 == 1; }

    // Mostly numbers that tie, cancel or are of different orders of magnitude; sometimes any 64 bits at all.
    double number() {
        static constexpr std::array<double, 24> known = {
            0.0,    -0.0, 1.0,   -1.0,  0.5,       -0.5,       2.0,         -2.0,        3.0, 1e-8, -1e-8, 1e8,
            1e-300, 1e16, 1e150, -1e16, 1.0 / 3.0, -1.0 / 3.0, 1.0 + 1e-15, 1.0 - 1e-15, 7.0, -7.0, 0.1,   0.3};
        const std::uint8_t choice = byte();
        if (choice < 8 * known.size()) return known[choice % known.size()];
        if (choice < 250) return (static_cast<double>(byte()) - 128.0) / 32.0;
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
};

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "contradiction: %s\n", what);
    std::abort();
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

void solve_bytes(Bytes& bytes) {
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
    if (bytes.flag()) {
        fit_bytes(bytes);
    } else {
        solve_bytes(bytes);
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
