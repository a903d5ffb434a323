// Whether rows of the design are linearly dependent, decided exactly.
#pragma once

#include <array>

#include "cudbound/settings.hpp"
#include "linear_algebra/vector.hpp"

namespace cudbound {

// Doubles are integers times powers of two, and a common factor of a row does not change rank. A minor of the integer
// rows vanishes if it vanishes modulo primes whose product exceeds the bound of Hadamard. So elimination modulo a few
// 61-bit primes decides, without rounding and without large numbers.
class ExactRank {
 public:
    // Rows (n, p), row-major, finite; they must outlive this object.
    ExactRank(std::int64_t n, std::int64_t p, const double* rows);

    // Whether the rows with these numbers are linearly dependent.
    bool dependent(const std::int64_t* members, int count);

    // Whether they span no more than `rank` dimensions.
    bool rank_at_most(const std::int64_t* members, int count, int rank);

 private:
    struct Row {
        int lowest = 0;      // exponent of its smallest bit
        double bits = -1.0;  // of the length of the integer row; negative until it is prepared
    };
    struct Remembered {
        std::array<std::int64_t, Effort::remembered_members> members{};
        int count = 0;
        bool dependent = false;
    };

    void prepare(std::int64_t row);
    std::uint64_t residue(std::int64_t row, std::int64_t column, std::uint64_t prime) const;
    int rank_modulo(std::uint64_t prime, const std::int64_t* members, int count);
    std::uint64_t prime(std::size_t number);

    std::int64_t p_;
    const double* rows_;
    Vector<Row> prepared_;
    Vector<std::uint64_t> primes_;
    Vector<std::uint64_t> matrix_;   // scratch
    Vector<std::int64_t> sorted_;    // scratch
    Vector<double> bits_;            // scratch
    Vector<Remembered> remembered_;  // by a hash of the members: the same ties are asked about repeatedly
};

}  // namespace cudbound
