// Cholesky factors against Gaussian elimination in long double.
#include <cmath>

#include "check.hpp"
#include "instances.hpp"
#include "linear_algebra/cholesky.hpp"
#include "oracles.hpp"

namespace {

using cudbound::Cholesky;

// A vector takes any integer as an index, and no number that is none.
template <class Index>
concept indexes = requires(cudbound::Vector<double> vector, Index i) { vector[i]; };
static_assert(indexes<int> && indexes<std::int64_t> && indexes<std::size_t> && !indexes<double> && !indexes<float>);

struct System {
    std::vector<double> matrix;                      // (p, p), its lower triangle filled with what must not be read
    std::vector<std::vector<long double>> complete;  // the symmetric matrix
};

// sum of `rank` squares of random vectors, whose lengths spread over `decades`
System random_system(Random& random, int p, int rank, double decades) {
    System system;
    system.complete.assign(p, std::vector<long double>(p, 0.0L));
    for (int k = 0; k < rank; ++k) {
        const double scale = std::pow(10.0, -decades * k / std::max(rank - 1, 1));
        std::vector<double> w(p);
        for (double& x : w) x = scale * normal(random);
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) system.complete[a][b] += static_cast<long double>(w[a]) * w[b];
        }
    }
    system.matrix.assign(static_cast<std::size_t>(p) * p, std::nan(""));
    for (int a = 0; a < p; ++a) {
        for (int b = a; b < p; ++b) {
            system.matrix[static_cast<std::size_t>(a) * p + b] = static_cast<double>(system.complete[a][b]);
        }
    }
    return system;
}

std::vector<double> random_vector(Random& random, int p) {
    std::vector<double> x(p);
    for (double& entry : x) entry = normal(random);
    return x;
}

}  // namespace

// [4 2; 2 10] = R'R with R = [2 1; 0 3].
TEST(two_by_two_by_hand) {
    Cholesky cholesky(2);
    CHECK(cholesky.factorize({4.0, 2.0, std::nan(""), 10.0}, 1e-12));
    const double x[] = {1.0, 1.0};
    double y[2];
    cholesky.multiply(x, y);
    CHECK_EQUAL(y[0], 3.0);
    CHECK_EQUAL(y[1], 3.0);
    cholesky.multiply_transposed(x, y);
    CHECK_EQUAL(y[0], 2.0);
    CHECK_EQUAL(y[1], 4.0);
    cholesky.solve(x, y);
    CHECK_NEAR(y[1], 1.0 / 3.0, 1e-16);
    CHECK_NEAR(y[0], 1.0 / 3.0, 1e-16);
    cholesky.solve_transposed(x, y);
    CHECK_NEAR(y[0], 0.5, 1e-16);
    CHECK_NEAR(y[1], 1.0 / 6.0, 1e-16);
}

TEST(solutions_equal_elimination) {
    Random random(121);
    for (int trial = 0; trial < check::trials(400); ++trial) {
        const int p = integer(random, 1, 8);
        const double decades = trial % 4;
        check::set_context("trial", trial, "p", p, "decades", decades);
        const System system = random_system(random, p, p + 3, decades);
        Cholesky first(p);
        CHECK(first.factorize(system.matrix, 1e-14));
        const Cholesky cholesky = first;
        const std::vector<double> right = random_vector(random, p);
        // R'R x = right: the two triangular solves, in place
        std::vector<double> x = right;
        cholesky.solve_transposed(x.data(), x.data());
        cholesky.solve(x.data(), x.data());
        std::vector<long double> expected;
        CHECK(oracle::solve_linear(system.complete, {right.begin(), right.end()}, &expected));
        double size = 0.0;
        for (const long double entry : expected) size = std::max(size, std::abs(static_cast<double>(entry)));
        // eliminating loses as many digits as the squares spread over, twice
        const double tolerance = 1e-12 * std::pow(100.0, decades) * (1.0 + size);
        for (int k = 0; k < p; ++k) CHECK_NEAR(x[k], static_cast<double>(expected[k]), tolerance);

        // the factor multiplied: R'(R x) = A x, and each solve undoes a product
        std::vector<double> y(p), z(p), back(p);
        cholesky.multiply(right.data(), y.data());
        cholesky.multiply_transposed(y.data(), z.data());
        cholesky.solve(y.data(), back.data());
        for (int a = 0; a < p; ++a) {
            long double product = 0.0L;
            for (int b = 0; b < p; ++b) product += system.complete[a][b] * right[b];
            CHECK_NEAR(z[a], static_cast<double>(product), 1e-13 * (1.0 + std::abs(static_cast<double>(product))) * p);
            CHECK_NEAR(back[a], right[a], 1e-12 * std::pow(100.0, decades));
        }
        cholesky.multiply_transposed(right.data(), y.data());
        cholesky.solve_transposed(y.data(), back.data());
        for (int a = 0; a < p; ++a) CHECK_NEAR(back[a], right[a], 1e-12 * std::pow(100.0, decades));
    }
}

// A pivot not above `least` times the largest diagonal entry means failure: always so for rank < p, and never for the
// identity.
TEST(singular_matrices_fail) {
    Random random(122);
    for (int trial = 0; trial < check::trials(300); ++trial) {
        const int p = integer(random, 2, 8);
        const int rank = integer(random, 0, p - 1);
        check::set_context("trial", trial, "p", p, "rank", rank);
        Cholesky cholesky(p);
        CHECK(!cholesky.factorize(random_system(random, p, rank, 0.0).matrix, 1e-12));
        // the same object is good for the next matrix
        std::vector<double> identity(static_cast<std::size_t>(p) * p, 0.0);
        for (int k = 0; k < p; ++k) identity[static_cast<std::size_t>(k) * p + k] = 1.0;
        CHECK(cholesky.factorize(identity, 0.99));
        CHECK(!cholesky.factorize(identity, 1.0));
        const std::vector<double> x = random_vector(random, p);
        std::vector<double> y(p);
        CHECK(cholesky.factorize(identity, 0.0));
        cholesky.solve(x.data(), y.data());
        for (int k = 0; k < p; ++k) CHECK_EQUAL(y[k], x[k]);
    }
    Cholesky one(1);
    CHECK(!one.factorize({0.0}, 0.0));
    CHECK(!one.factorize({-1.0}, 0.0));
    CHECK(!one.factorize({std::nan("")}, 0.0));
    CHECK(one.factorize({1e-300}, 0.5));
}

// |R^{-T} x|^2 = x' A^{-1} x, for any number of vectors in columns.
TEST(squared_lengths_of_many_vectors) {
    Random random(123);
    for (int trial = 0; trial < check::trials(200); ++trial) {
        const int p = integer(random, 1, 6);
        const int count = integer(random, 0, 12);
        check::set_context("trial", trial, "p", p, "count", count);
        const System system = random_system(random, p, p + 3, 1.0);
        Cholesky cholesky(p);
        CHECK(cholesky.factorize(system.matrix, 1e-14));
        std::vector<double> columns(static_cast<std::size_t>(p) * count);
        for (double& x : columns) x = normal(random);
        std::vector<double> lengths(count + 1, -7.0);
        std::vector<double> turned = columns;
        cholesky.solve_transposed(turned.data(), count, lengths.data());
        CHECK_EQUAL(lengths[count], -7.0);
        for (int i = 0; i < count; ++i) {
            std::vector<long double> x(p);
            for (int l = 0; l < p; ++l) x[l] = columns[static_cast<std::size_t>(l) * count + i];
            std::vector<long double> solution;
            CHECK(oracle::solve_linear(system.complete, x, &solution));
            long double expected = 0.0L;
            for (int l = 0; l < p; ++l) expected += x[l] * solution[l];
            CHECK_NEAR(lengths[i], static_cast<double>(expected), 1e-10 * static_cast<double>(expected));
        }
    }
}
