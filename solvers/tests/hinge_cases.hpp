// Problems with hinge loss, cones of a tree on them, and the least loss on a cone by enumeration of the pieces.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "check.hpp"
#include "cudbound/settings.hpp"
#include "instances.hpp"
#include "losses/relaxation.hpp"
#include "oracles.hpp"
#include "placed.hpp"

namespace hinge_cases {

using cudbound::Loss;
using cudbound::Problem;
using cudbound::Relaxation;
using cudbound::Settings;
using oracle::Rows;
using oracle::Vector;
using Numbers = std::vector<long double>;
using Matrix = std::vector<Numbers>;
using Settled = Relaxation::Settled;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Vector row_of(const Problem& problem, int i) {
    return {problem.design + static_cast<std::ptrdiff_t>(i) * problem.p,
            problem.design + static_cast<std::ptrdiff_t>(i + 1) * problem.p};
}

// Some solution of a x = b, with zeros where the equations leave a choice;
// false if there is none.
inline bool solve_any(Matrix a, Numbers b, Numbers* x) {
    const std::size_t size = b.size();
    std::vector<std::size_t> pivot_row;
    std::vector<std::size_t> pivot_column;
    std::vector<bool> used_row(size, false);
    std::vector<bool> used_column(size, false);
    while (pivot_row.size() < size) {
        long double largest = 1e-9L;
        std::size_t row = size;
        std::size_t column = size;
        for (std::size_t i = 0; i < size; ++i) {
            if (used_row[i]) continue;
            const long double* entries = a[i].data();
            for (std::size_t j = 0; j < size; ++j) {
                if (std::abs(entries[j]) > largest && !used_column[j]) {
                    largest = std::abs(entries[j]);
                    row = i;
                    column = j;
                }
            }
        }
        if (row == size) break;
        used_row[row] = used_column[column] = true;
        pivot_row.push_back(row);
        pivot_column.push_back(column);
        for (std::size_t i = 0; i < size; ++i) {
            if (i == row || a[i][column] == 0.0L) continue;
            long double* entries = a[i].data();
            const long double* pivot = a[row].data();
            const long double factor = entries[column] / pivot[column];
            for (std::size_t j = 0; j < size; ++j) entries[j] -= factor * pivot[j];
            b[i] -= factor * b[row];
        }
    }
    for (std::size_t i = 0; i < size; ++i) {
        if (!used_row[i] && std::abs(b[i]) > 1e-9L) return false;
    }
    x->assign(size, 0.0L);
    for (std::size_t k = 0; k < pivot_row.size(); ++k) {
        (*x)[pivot_column[k]] = b[pivot_row[k]] / a[pivot_row[k]][pivot_column[k]];
    }
    return true;
}

double least_slack(const Rows& normals, const Vector& beta) {
    double least = infinity;
    for (const Vector& normal : normals) least = std::min(least, oracle::dot(normal, beta));
    return least;
}

// The least n L on the cone normal'beta >= 0. On a smallest face of the set of
// minimizers some rows have margin 1, some hyperplanes are met, and some rows
// have margins below 1: with all of these given it solves a linear system. Any
// solution that lies in the cone is a candidate, whatever its own pieces are.
inline double least_on_cone(const Problem& problem, const Rows& normals) {
    const int p = static_cast<int>(problem.p);
    std::vector<int> rows;
    for (int i = 0; i < problem.n; ++i) {
        if (problem.mass(0, i) > 0.0) rows.push_back(i);
    }
    const int count = static_cast<int>(rows.size());
    double least = infinity;
    oracle::for_each_subset(count + static_cast<int>(normals.size()), p, [&](const std::vector<int>& equal) {
        Rows held;
        Numbers levels;
        std::vector<bool> free(count, true);
        for (const int e : equal) {
            if (e >= count) {
                held.push_back(normals[e - count]);
                levels.push_back(0.0L);
                continue;
            }
            const int i = rows[e];
            free[e] = false;
            held.push_back(row_of(problem, i));
            levels.push_back(problem.labels[i] - (problem.offset == nullptr ? 0.0 : problem.offset[i]));
        }
        std::vector<int> others;
        for (int e = 0; e < count; ++e) {
            if (free[e]) others.push_back(rows[e]);
        }
        const std::size_t size = p + held.size();
        Matrix system(size, Numbers(size, 0.0L));
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) {
                if (problem.penalty != nullptr) system[a][b] = 2.0L * problem.n * problem.penalty[a * p + b];
            }
            for (std::size_t t = 0; t < held.size(); ++t) system[a][p + t] = system[p + t][a] = held[t][a];
        }
        for (int below = 0; below < 1 << others.size(); ++below) {
            Numbers right(size, 0.0L);
            for (std::size_t k = 0; k < others.size(); ++k) {
                if ((below >> k & 1) == 0) continue;
                const int i = others[k];
                for (int a = 0; a < p; ++a) {
                    right[a] += static_cast<long double>(problem.mass(0, i)) * problem.labels[i] *
                                problem.design[static_cast<std::size_t>(i) * p + a];
                }
            }
            std::copy(levels.begin(), levels.end(), right.begin() + p);
            Numbers solution;
            if (!solve_any(system, right, &solution)) continue;
            const Vector beta(solution.begin(), solution.begin() + p);
            const double size_of = 1.0 + std::sqrt(oracle::dot(beta, beta));
            if (least_slack(normals, beta) < -1e-14 * size_of) continue;
            least = std::min(least, static_cast<double>(problem.n) * oracle::loss(problem, 0, beta.data()));
        }
    });
    return least;
}

struct Setting {
    explicit Setting(const Instance& instance)
        : problem(instance.view()),
          arrangement(cudbound::merge_rows(problem)),
          relaxation(cudbound::make_relaxation(problem, arrangement, budget)),
          node(relaxation->make_node()) {
        relaxation->set(0);
        relaxation->copy(relaxation->root(), *node);
        arrangement.normals.resize(arrangement.normals.size() + static_cast<std::size_t>(problem.p));
    }
    // Of any hyperplane, not only those of the rows: it takes the place behind the last one of the arrangement.
    double transform(const Vector& normal, double* unit, double* offset) {
        std::copy(normal.begin(), normal.end(), arrangement.normals.end() - problem.p);
        return place(*relaxation, arrangement.count, unit, offset);
    }
    Vector beta() const {
        Vector beta(problem.p);
        relaxation->to_beta(node->point.data(), beta.data());
        return beta;
    }
    double tie() const { return Settings::tie * relaxation->extent; }

    const Problem problem;
    cudbound::Arrangement arrangement;
    std::atomic<bool> stop{false};
    cudbound::Budget budget{{}, stop};
    const std::unique_ptr<Relaxation> relaxation;
    const std::unique_ptr<cudbound::Node> node;
};

// Hyperplanes that a node is to lie on the positive side of, given in beta.
struct Cone {
    explicit Cone(Setting& setting) : setting_(&setting) {}

    void add(const Vector& normal) {
        const int p = static_cast<int>(normal.size());
        normals.push_back(normal);
        units_.resize(units_.size() + p);
        offsets_.push_back(0.0);
        setting_->transform(normal, units_.data() + units_.size() - p, &offsets_.back());
        forced.push_back(static_cast<int>(normals.size()) - 1);
    }
    void pop() {
        normals.pop_back();
        units_.resize(units_.size() - setting_->problem.p);
        offsets_.pop_back();
        forced.pop_back();
    }
    cudbound::Sides sides() const {
        return {static_cast<int>(setting_->problem.p), units_.data(), offsets_.data(), setting_->tie()};
    }
    double last_side(const Vector& v) const { return sides().side(forced.back(), v.data()); }

    Rows normals;
    std::vector<int> forced;

 private:
    Setting* setting_;
    std::vector<double> units_;
    std::vector<double> offsets_;
};

enum class Penalty { none, full, free_intercept, correlated, tiny, huge };
inline constexpr Penalty penalties[] = {Penalty::none,       Penalty::full, Penalty::free_intercept,
                                        Penalty::correlated, Penalty::tiny, Penalty::huge};

inline void add_penalty(Random& random, Penalty kind, Instance* instance) {
    const int p = instance->p;
    if (kind == Penalty::none) return;
    std::vector<double> strengths(p, 1.0 / (2.0 * instance->n));
    if (kind == Penalty::free_intercept) strengths[0] = 0.0;
    if (kind == Penalty::tiny) strengths.assign(p, 1e-9);
    if (kind == Penalty::huge) strengths.assign(p, 1e3);
    penalize(strengths, instance);
    if (kind != Penalty::correlated) return;
    // of rank one
    Vector w(p);
    for (double& x : w) x = normal(random);
    const double along = oracle::dot(w, instance->anchor);
    for (int a = 0; a < p; ++a) {
        for (int b = 0; b < p; ++b) instance->penalty[static_cast<std::size_t>(a) * p + b] = 0.1 * w[a] * w[b];
    }
    instance->anchor_penalty = 0.1 * along * along;
}

// Draws of few rows, of one class, with rows of opposite labels, with zero
// rows, with weights that are not whole.
inline Instance random_problem(Random& random, int trial, int n, int p) {
    const RowKind kinds[] = {RowKind::general, RowKind::integers, RowKind::repeated, RowKind::homogeneous};
    Instance instance =
        random_instance(random, n, p, kinds[trial % 4], trial % 3 == 0 ? LabelKind::clear : LabelKind::noise);
    instance.loss = Loss::HINGE;
    instance.anchor_penalty = 0.0;
    if (trial % 5 == 0) {
        for (int i = 0; i < n; ++i) instance.sample_weight.push_back(0.25 + 0.5 * std::abs(normal(random)));
    }
    if (trial % 7 < 2) {
        for (int i = 0; i < n; ++i) instance.offset.push_back(trial % 7 == 0 ? 0.4 : normal(random));
    }
    if (trial % 11 == 0) instance.labels.assign(n, 1.0);
    if (trial % 13 == 0) {  // the same rows with either label
        for (int i = 0; i + 1 < n; i += 2) {
            std::copy_n(&instance.design[static_cast<std::size_t>(i) * p], p,
                        &instance.design[static_cast<std::size_t>(i + 1) * p]);
            instance.labels[i + 1] = -instance.labels[i];
        }
    }
    if (trial % 9 == 0) std::fill_n(&instance.design[static_cast<std::size_t>(n - 1) * p], p, 0.0);
    if (trial % 6 == 0) {
        for (int i = p; i < n; ++i) instance.counts[i] = 0;
    }
    if (trial % 8 == 0) instance.anchor.assign(p, 0.0);
    add_penalty(random, penalties[(trial / 4) % 6], &instance);
    return instance;
}

// A normal of a hyperplane that a tree would force: of a row, or any.
inline Vector some_normal(Random& random, const Setting& setting) {
    const int p = static_cast<int>(setting.problem.p);
    if (setting.arrangement.count > 0 && integer(random, 0, 4) > 0) {
        const double* normal =
            &setting.arrangement
                 .normals[static_cast<std::size_t>(integer(random, 0, setting.arrangement.count - 1)) * p];
        return {normal, normal + p};
    }
    Vector any(p);
    for (double& x : any) x = normal(random);
    const double length = std::sqrt(oracle::dot(any, any));
    for (double& x : any) x /= length;
    return any;
}

// Forces random hyperplanes against the side of the node's point, one after the
// other, and calls `visit` with the cone after each of them. Stops when a node
// does not settle.
template <class Visit>
void force_in_turn(Random& random, Setting& setting, int most, const Visit& visit) {
    Cone cone(setting);
    const auto again = setting.relaxation->make_node();
    for (int tries = 0; tries < 3 * most && static_cast<int>(cone.forced.size()) < most; ++tries) {
        Vector normal = some_normal(random, setting);
        cone.add(normal);
        double side = cone.last_side(setting.node->point);
        if (side > 0.0) {
            cone.pop();
            for (double& x : normal) x = -x;
            cone.add(normal);
            side = -side;
        }
        if (side > -setting.tie()) {
            cone.pop();
            continue;
        }
        setting.relaxation->copy(*setting.node, *again);
        const Settled settled = setting.relaxation->settle(*setting.node, cone.sides(), cone.forced, infinity);
        CHECK(settled == Settled::yes);
        if (settled != Settled::yes) return;
        // a limit above the loss changes nothing
        const double limit = setting.node->loss + 1e-9 * (1.0 + setting.node->loss);
        CHECK(setting.relaxation->settle(*again, cone.sides(), cone.forced, limit) == Settled::yes);
        CHECK_NEAR(again->loss, setting.node->loss, 1e-11 * (1.0 + again->loss));
        visit(cone);
    }
}

}  // namespace hinge_cases
