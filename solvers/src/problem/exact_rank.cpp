#include "problem/exact_rank.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace cudbound {

namespace {

constexpr int mantissa = 53;

struct Wide {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
};

// a * b, and a * b modulo prime for a and b smaller than it
#if defined(_MSC_VER)  // which has no integers of 128 bits
Wide product(std::uint64_t a, std::uint64_t b) {
    Wide result;
    result.low = _umul128(a, b, &result.high);
    return result;
}
std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
    const Wide exactly = product(a, b);
    std::uint64_t remainder = 0;
    _udiv128(exactly.high, exactly.low, prime, &remainder);
    return remainder;
}
#else
__extension__ using Bits128 = unsigned __int128;
Wide product(std::uint64_t a, std::uint64_t b) {
    const Bits128 result = static_cast<Bits128>(a) * b;
    return {static_cast<std::uint64_t>(result >> 64), static_cast<std::uint64_t>(result)};
}
std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
    return static_cast<std::uint64_t>(static_cast<Bits128>(a) * b % prime);
}
#endif

// a * b / 2^64 modulo an odd prime without a division (Montgomery 1985, Modular multiplication without trial division);
// `inverse` is that of the prime modulo 2^64.
std::uint64_t reduced_product(std::uint64_t a, std::uint64_t b, std::uint64_t prime, std::uint64_t inverse) {
    const Wide exactly = product(a, b);
    const std::uint64_t taken = product(exactly.low * inverse, prime).high;
    return exactly.high >= taken ? exactly.high - taken : exactly.high + prime - taken;
}

// Newton's method doubles the bits that are right, three at first.
std::uint64_t inverse_of_odd(std::uint64_t odd) {
    std::uint64_t inverse = odd;
    for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
    return inverse;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t prime) {
    std::uint64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base, prime);
        base = multiply(base, base, prime);
    }
    return result;
}

// Miller and Rabin; these bases decide every number of 64 bits (Sinclair 2011).
bool is_prime(std::uint64_t candidate) {
    std::uint64_t odd = candidate - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2) ++twos;
    for (const std::uint64_t base : {2u, 325u, 9375u, 28178u, 450775u, 9780504u, 1795265022u}) {
        std::uint64_t x = power(base % candidate, odd, candidate);
        if (x <= 1 || x == candidate - 1) continue;
        int squarings = 1;
        for (; squarings < twos && x != candidate - 1; ++squarings) x = multiply(x, x, candidate);
        if (x != candidate - 1) return false;
    }
    return true;
}

// value = digits * 2^exponent with odd digits; value is not zero
std::uint64_t split(double value, int* exponent) {
    const double fraction = std::frexp(std::abs(value), exponent);
    const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, mantissa));
    const int zeros = std::countr_zero(digits);
    *exponent += zeros - mantissa;
    return digits >> zeros;
}

}  // namespace

ExactRank::ExactRank(std::int64_t n, std::int64_t p, const double* rows)
    : p_(p), rows_(rows), prepared_(n), remembered_(Effort::remembered_ranks) {}

void ExactRank::prepare(std::int64_t row) {
    Row& here = prepared_[row];
    if (here.bits >= 0.0) return;
    const double* values = rows_ + row * p_;
    double largest = 0.0;
    for (std::int64_t k = 0; k < p_; ++k) largest = std::max(largest, std::abs(values[k]));
    double squares = 0.0;  // in units of the largest
    int lowest = std::numeric_limits<int>::max();
    for (std::int64_t k = 0; k < p_; ++k) {
        if (values[k] == 0.0) continue;
        int exponent = 0;
        split(values[k], &exponent);
        lowest = std::min(lowest, exponent);
        squares += (values[k] / largest) * (values[k] / largest);
    }
    here.lowest = lowest;
    here.bits =
        squares == 0.0 ? 0.0 : std::log2(largest) - lowest + 0.5 * std::log2(squares) + Settings::bits_rounded_up;
}

std::uint64_t ExactRank::residue(std::int64_t row, std::int64_t column, std::uint64_t prime) const {
    const double value = rows_[row * p_ + column];
    if (value == 0.0) return 0;
    int exponent = 0;
    const std::uint64_t digits = split(value, &exponent);  // smaller than any of the primes
    const auto shift = static_cast<std::uint64_t>(exponent - prepared_[row].lowest);
    const std::uint64_t size = shift == 0 ? digits : multiply(digits, power(2, shift, prime), prime);
    return value > 0.0 ? size : prime - size;
}

std::uint64_t ExactRank::prime(std::size_t number) {
    while (primes_.size() <= number) {
        std::uint64_t candidate = primes_.empty() ? (std::uint64_t{1} << 61) - 1 : primes_.back() - 2;
        while (!is_prime(candidate)) candidate -= 2;
        primes_.push_back(candidate);
    }
    return primes_[number];
}

bool ExactRank::dependent(const std::int64_t* members, int count) {
    if (count > p_) return true;
    sorted_.assign(members, members + count);
    std::sort(sorted_.begin(), sorted_.end());
    std::uint64_t hash = 0x9E3779B97F4A7C15u;
    for (const std::int64_t row : sorted_) {
        hash = (hash ^ static_cast<std::uint64_t>(row)) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    Remembered& entry = remembered_[hash % Effort::remembered_ranks];
    const bool fits = count <= Effort::remembered_members;
    if (fits && entry.count == count && std::equal(sorted_.begin(), sorted_.end(), entry.members.begin())) {
        return entry.dependent;
    }
    const bool dependent = rank_at_most(members, count, count - 1);
    if (fits) {
        entry.count = count;
        entry.dependent = dependent;
        std::copy(sorted_.begin(), sorted_.end(), entry.members.begin());
    }
    return dependent;
}

bool ExactRank::rank_at_most(const std::int64_t* members, int count, int rank) {
    if (count <= rank || p_ <= rank) return true;
    bits_.clear();
    for (int i = 0; i < count; ++i) {
        prepare(members[i]);
        bits_.push_back(prepared_[members[i]].bits);
    }
    std::sort(bits_.begin(), bits_.end(), std::greater<>());
    double bits = 0.0;  // of a minor
    for (int i = 0; i <= rank; ++i) bits += bits_[i];
    const auto needed = static_cast<std::size_t>(bits / Settings::bits_of_prime) + 1;
    for (std::size_t k = 0; k < needed; ++k) {
        if (rank_modulo(prime(k), members, count) > rank) return false;
    }
    return true;
}

int ExactRank::rank_modulo(std::uint64_t prime, const std::int64_t* members, int count) {
    matrix_.resize(count * p_);
    for (int i = 0; i < count; ++i) {
        for (std::int64_t k = 0; k < p_; ++k) matrix_.row(i, p_)[k] = residue(members[i], k, prime);
    }
    const std::uint64_t inverse = inverse_of_odd(prime);
    int rank = 0;
    for (std::int64_t column = 0; column < p_ && rank < count; ++column) {
        int pivot = rank;
        while (pivot < count && matrix_.row(pivot, p_)[column] == 0) ++pivot;
        if (pivot == count) continue;
        std::uint64_t* top = matrix_.row(rank, p_);
        if (pivot != rank) std::swap_ranges(top + column, top + p_, matrix_.row(pivot, p_) + column);
        for (int i = rank + 1; i < count; ++i) {
            std::uint64_t* row = matrix_.row(i, p_);
            const std::uint64_t factor = row[column];
            if (factor == 0) continue;
            // both rows times a number that is not 0, which leaves the rank as it is
            for (std::int64_t k = column; k < p_; ++k) {
                const std::uint64_t kept = reduced_product(row[k], top[column], prime, inverse);
                const std::uint64_t taken = reduced_product(top[k], factor, prime, inverse);
                row[k] = kept >= taken ? kept - taken : kept + prime - taken;
            }
        }
        ++rank;
    }
    return rank;
}

}  // namespace cudbound
