// Losses, their minima on the cells of a draw, and the largest value of all cells.
#include "oracles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace oracle {

using Matrix = std::vector<std::vector<long double>>;

bool solve_linear(Matrix a, std::vector<long double> b, std::vector<long double>* x) {
    const std::size_t size = b.size();
    std::vector<std::size_t> column(size);
    for (std::size_t k = 0; k < size; ++k) column[k] = k;
    long double largest = 0.0L;
    for (const auto& row : a) {
        for (const long double entry : row) largest = std::max(largest, std::abs(entry));
    }
    for (std::size_t k = 0; k < size; ++k) {
        std::size_t pivot_row = k;
        std::size_t pivot_column = k;
        long double pivot = -1.0L;
        for (std::size_t i = k; i < size; ++i) {
            const long double* row = a[i].data();
            for (std::size_t j = k; j < size; ++j) {
                if (std::abs(row[j]) > pivot) {
                    pivot = std::abs(row[j]);
                    pivot_row = i;
                    pivot_column = j;
                }
            }
        }
        if (!(pivot > 1e-11L * largest)) return false;
        std::swap(a[k], a[pivot_row]);
        std::swap(b[k], b[pivot_row]);
        for (auto& row : a) std::swap(row[k], row[pivot_column]);
        std::swap(column[k], column[pivot_column]);
        for (std::size_t i = k + 1; i < size; ++i) {
            long double* row = a[i].data();
            const long double* above = a[k].data();
            const long double factor = row[k] / above[k];
            if (factor == 0.0L) continue;
            for (std::size_t j = k; j < size; ++j) row[j] -= factor * above[j];
            b[i] -= factor * b[k];
        }
    }
    x->assign(size, 0.0L);
    for (std::size_t k = size; k-- > 0;) {
        long double rest = b[k];
        for (std::size_t j = k + 1; j < size; ++j) rest -= a[k][j] * (*x)[column[j]];
        (*x)[column[k]] = rest / a[k][k];
    }
    return true;
}

Surrogate surrogate(cudbound::Loss loss, long double margin) {
    using cudbound::Loss;
    const long double lack = std::max(0.0L, 1.0L - margin);
    switch (loss) {
        case Loss::SQUARED:
            return {(1.0L - margin) * (1.0L - margin), -2.0L * (1.0L - margin), 2.0L};
        case Loss::LOGISTIC: {
            const long double wrong = 1.0L / (1.0L + std::exp(margin));
            const long double right = 1.0L / (1.0L + std::exp(-margin));
            return {margin < 0.0L ? -margin + std::log1p(std::exp(margin)) : std::log1p(std::exp(-margin)), -wrong,
                    wrong * right};
        }
        case Loss::EXPONENTIAL:
            return {std::exp(-margin), -std::exp(-margin), std::exp(-margin)};
        case Loss::SQUARED_HINGE:
            return {lack * lack, -2.0L * lack, lack > 0.0L ? 2.0L : 0.0L};
        case Loss::HINGE:
            return {lack, lack > 0.0L ? -1.0L : 0.0L, 0.0L};
        default:
            if (margin < -1.0L) return {-4.0L * margin, -4.0L, 0.0L};
            return {lack * lack, -2.0L * lack, lack > 0.0L ? 2.0L : 0.0L};
    }
}

double score(const cudbound::Problem& problem, std::int64_t draw, const double* beta) {
    const std::int64_t n = problem.n;
    double sum = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        double side = 0.0;
        for (std::int64_t k = 0; k < problem.p; ++k) side += problem.design[i * problem.p + k] * beta[k];
        const double weight = problem.weights != nullptr
                                  ? problem.weights[draw * n + i]
                                  : (problem.counts[draw * n + i] - 1.0) / static_cast<double>(n);
        if ((side >= 0.0 ? 1.0 : -1.0) != problem.labels[i]) sum += weight;
    }
    return sum;
}

namespace {

long double margin(const cudbound::Problem& problem, std::int64_t i, const double* beta) {
    long double sum = problem.offset != nullptr ? problem.offset[i] : 0.0;
    for (std::int64_t k = 0; k < problem.p; ++k) {
        sum += static_cast<long double>(problem.design[i * problem.p + k]) * beta[k];
    }
    return problem.labels[i] * sum;
}

// The weight of a row in n times the loss.
long double mass(const cudbound::Problem& problem, std::int64_t draw, std::int64_t i) {
    const long double weight = problem.sample_weight != nullptr ? problem.sample_weight[i] : 1.0;
    const long double scale = problem.draw_scale != nullptr ? problem.draw_scale[draw] : 1.0;
    return problem.counts[draw * problem.n + i] * weight * scale;
}

long double fit_loss(const cudbound::Problem& problem, std::int64_t draw, const double* beta) {
    long double sum = 0.0L;
    for (std::int64_t i = 0; i < problem.n; ++i) {
        const long double weight = mass(problem, draw, i);
        if (weight > 0.0L) sum += weight * surrogate(problem.loss, margin(problem, i, beta)).value;
    }
    return sum / problem.n;
}

// The l1 penalty of coefficients that are the caller's own.
long double absolute(const cudbound::Problem& problem, const double* beta) {
    long double sum = 0.0L;
    for (std::int64_t k = 0; problem.l1 != nullptr && k < problem.p; ++k) {
        sum += static_cast<long double>(problem.l1[k]) * std::abs(beta[k]);
    }
    return sum;
}

// n times the gradient and the Hessian of the loss, with signs_k beta_k for |beta_k| in an l1 penalty.
void differentiate(const cudbound::Problem& problem, std::int64_t draw, const double* beta, const Vector& signs,
                   std::vector<long double>* slope, Matrix* bend) {
    const std::int64_t p = problem.p;
    slope->assign(p, 0.0L);
    bend->assign(p, std::vector<long double>(p, 0.0L));
    for (std::int64_t i = 0; i < problem.n; ++i) {
        const long double weight = mass(problem, draw, i);
        if (weight == 0.0L) continue;
        const double* row = problem.design + i * p;
        const Surrogate here = surrogate(problem.loss, margin(problem, i, beta));
        for (std::int64_t a = 0; a < p; ++a) {
            (*slope)[a] += weight * here.slope * problem.labels[i] * row[a];
            for (std::int64_t b = 0; b < p; ++b) (*bend)[a][b] += weight * here.bend * row[a] * row[b];
        }
    }
    for (std::int64_t a = 0; problem.l1 != nullptr && a < p; ++a) {
        (*slope)[a] += static_cast<long double>(problem.n) * problem.l1[a] * signs[a];
    }
    if (problem.penalty == nullptr) return;
    for (std::int64_t a = 0; a < p; ++a) {
        for (std::int64_t b = 0; b < p; ++b) {
            const long double twice = 2.0L * static_cast<long double>(problem.n) * problem.penalty[a * p + b];
            (*slope)[a] += twice * beta[b];
            (*bend)[a][b] += twice;
        }
    }
}

// Newton's method with halved steps. False if the minimizer is not a single one, or the rows are dependent.
bool minimize_on_flat(const cudbound::Problem& problem, std::int64_t draw, const Rows& rows,
                      const std::vector<int>& active, const Vector& signs, Vector* point) {
    const std::size_t p = problem.p;
    const std::size_t size = p + active.size();
    const auto value = [&](const std::vector<long double>& beta) {
        const Vector rounded(beta.begin(), beta.end());
        long double sum = loss(problem, draw, rounded.data());
        for (std::size_t a = 0; problem.l1 != nullptr && a < p; ++a) {
            sum += problem.l1[a] * (signs[a] * beta[a] - std::abs(beta[a]));
        }
        return static_cast<long double>(problem.n) * sum;
    };
    std::vector<long double> beta(p, 0.0L);
    std::vector<long double> slope;
    Matrix bend;
    for (int close = 0, steps = 0; close < 3; ++steps) {
        if (steps == 500) throw std::logic_error("the oracle's Newton steps do not end");
        differentiate(problem, draw, Vector(beta.begin(), beta.end()).data(), signs, &slope, &bend);
        Matrix system(size, std::vector<long double>(size, 0.0L));
        std::vector<long double> right(size, 0.0L);
        for (std::size_t a = 0; a < p; ++a) {
            right[a] = -slope[a];
            for (std::size_t b = 0; b < p; ++b) system[a][b] = bend[a][b];
            for (std::size_t t = 0; t < active.size(); ++t) {
                system[a][p + t] = system[p + t][a] = rows[active[t]][a];
            }
        }
        std::vector<long double> step;
        const bool solved = solve_linear(std::move(system), std::move(right), &step);
        if (!solved) return false;
        long double descent = 0.0L;
        for (std::size_t a = 0; a < p; ++a) descent -= slope[a] * step[a];
        const long double before = value(beta);
        const bool last = steps > 100 || descent <= 1e-12L * (1.0L + before);  // too short for a line search
        bool taken = false;
        for (long double share = 1.0L; share > 1e-12L; share *= 0.5L) {
            std::vector<long double> trial = beta;
            for (std::size_t a = 0; a < p; ++a) trial[a] += share * step[a];
            if (!last && value(trial) > before - 1e-4L * share * descent) continue;
            beta = trial;
            taken = true;
            break;
        }
        if (last || !taken) ++close;
        // a quadratic function needs a single step, and one more for the rounding of the first
        if (problem.loss == cudbound::Loss::SQUARED && steps > 0) break;
    }
    point->assign(beta.begin(), beta.end());
    return true;
}

}  // namespace

double loss(const cudbound::Problem& problem, std::int64_t draw, const double* beta) {
    long double sum = fit_loss(problem, draw, beta);
    if (problem.penalty != nullptr) {
        for (std::int64_t a = 0; a < problem.p; ++a) {
            for (std::int64_t b = 0; b < problem.p; ++b) {
                sum += static_cast<long double>(beta[a]) * problem.penalty[a * problem.p + b] * beta[b];
            }
        }
    }
    return static_cast<double>(sum + absolute(problem, beta));
}

double anchor_loss(const cudbound::Problem& problem, std::int64_t draw) {
    const double squares = problem.penalty != nullptr ? problem.anchor_penalty : 0.0;
    const double penalty = squares + static_cast<double>(absolute(problem, problem.anchor));
    return static_cast<double>(fit_loss(problem, draw, problem.anchor)) + penalty;
}

double g(double alpha, double excess) {
    if (std::isinf(alpha)) return excess <= 1e-12 ? 1.0 : 0.0;
    return std::clamp(1.0 - alpha * excess, 0.0, 1.0);
}

std::vector<Minimum> minima_on_flats(const cudbound::Problem& problem, std::int64_t draw, const Rows& rows) {
    std::vector<Minimum> minima;
    // the minimizer is one of those for the signs of its coefficients, on a flat of the hyperplanes and of those
    // coefficients that are 0
    Rows planes = rows;
    Vector signs(problem.p, 1.0);
    for (std::int64_t k = 0; problem.l1 != nullptr && k < problem.p; ++k) {
        planes.emplace_back(problem.p, 0.0);
        planes.back()[k] = 1.0;
    }
    for (int bits = 0; bits < (problem.l1 == nullptr ? 1 : 1 << problem.p); ++bits) {
        for (std::int64_t k = 0; k < problem.p; ++k) signs[k] = (bits >> k) % 2 == 0 ? 1.0 : -1.0;
        for_each_subset(static_cast<int>(planes.size()), static_cast<int>(problem.p),
                        [&](const std::vector<int>& active) {
                            Vector point;
                            if (!minimize_on_flat(problem, draw, planes, active, signs, &point)) return;
                            minima.push_back({point, loss(problem, draw, point.data())});
                        });
    }
    return minima;
}

Minimum least_on_cone(const cudbound::Problem& problem, std::int64_t draw, const Rows& normals) {
    Minimum least{{}, std::numeric_limits<double>::infinity()};
    for (const Minimum& minimum : minima_on_flats(problem, draw, normals)) {
        const double allowed = 1e-10 * std::sqrt(1.0 + dot(minimum.point, minimum.point));
        const bool inside = std::all_of(normals.begin(), normals.end(),
                                        [&](const Vector& a) { return dot(a, minimum.point) >= -allowed; });
        if (inside && minimum.loss < least.loss) least = minimum;
    }
    if (least.point.empty()) throw std::logic_error("the loss is not strictly convex");
    return least;
}

Vector gradient(const cudbound::Problem& problem, std::int64_t draw, const Vector& beta) {
    std::vector<long double> slope;
    Matrix bend;
    differentiate(problem, draw, beta.data(), Vector(beta.size(), 0.0), &slope, &bend);
    return {slope.begin(), slope.end()};
}

double distance_from_optimality(const Vector& slope, const Vector& point, const Rows& normals, double close) {
    Rows tight;
    for (const Vector& a : normals) {
        if (std::abs(dot(a, point)) <= close) tight.push_back(a);
    }
    // a point of a cone is a combination of independent generators
    double best = std::sqrt(dot(slope, slope));
    for_each_subset(static_cast<int>(tight.size()), static_cast<int>(slope.size()), [&](const std::vector<int>& some) {
        const std::size_t size = some.size();
        Matrix gram(size, std::vector<long double>(size));
        std::vector<long double> right(size);
        for (std::size_t i = 0; i < size; ++i) {
            right[i] = dot(tight[some[i]], slope);
            for (std::size_t j = 0; j < size; ++j) gram[i][j] = dot(tight[some[i]], tight[some[j]]);
        }
        std::vector<long double> multipliers;
        if (size == 0 || !solve_linear(gram, right, &multipliers)) return;
        Vector rest = slope;
        for (std::size_t i = 0; i < size; ++i) {
            const double multiplier = std::max(0.0, static_cast<double>(multipliers[i]));
            for (std::size_t l = 0; l < rest.size(); ++l) rest[l] -= multiplier * tight[some[i]][l];
        }
        best = std::min(best, std::sqrt(dot(rest, rest)));
    });
    return best;
}

Values enumerate_cells(const cudbound::Problem& problem, std::int64_t draw) {
    const int n = static_cast<int>(problem.n);
    const int p = static_cast<int>(problem.p);
    Rows rows;
    for (int i = 0; i < n; ++i) {
        Vector row(problem.design + i * p, problem.design + (i + 1) * p);
        if (dot(row, row) > 0.0) rows.push_back(unit(row));
    }

    // The minimizers over a closed cell form a polyhedron without lines, and each of its vertices is one of these.
    const std::vector<Minimum> candidates = minima_on_flats(problem, draw, rows);

    Values values;
    const double start = anchor_loss(problem, draw);
    for (const Vector& w : cells(rows, p)) {
        double least = std::numeric_limits<double>::infinity();
        for (const Minimum& candidate : candidates) {
            if (candidate.loss >= least) continue;
            const double allowed = 1e-10 * std::sqrt(1.0 + dot(candidate.point, candidate.point));
            const bool inside = std::all_of(rows.begin(), rows.end(), [&](const Vector& row) {
                return dot(row, candidate.point) * (dot(row, w) > 0.0 ? 1.0 : -1.0) >= -allowed;
            });
            if (inside) least = candidate.loss;
        }
        if (std::isinf(least)) throw std::logic_error("the rows do not span the space");
        const double value = score(problem, draw, w.data()) * g(problem.alpha, least - start);
        values.positive = std::max(values.positive, value);
        values.negative = std::max(values.negative, -value);
    }
    values.both = std::max(values.positive, values.negative);
    return values;
}

}  // namespace oracle
