#include "instances.hpp"

#include <utility>

#include "oracles.hpp"

cudbound::Problem Instance::view() const {
    cudbound::Problem problem;
    problem.n = n;
    problem.p = p;
    problem.draws = draws;
    problem.design = design.data();
    problem.labels = labels.data();
    problem.anchor = anchor.data();
    problem.counts = counts.data();
    problem.weights = weights.empty() ? nullptr : weights.data();
    problem.sample_weight = sample_weight.empty() ? nullptr : sample_weight.data();
    problem.draw_scale = draw_scale.empty() ? nullptr : draw_scale.data();
    problem.offset = offset.empty() ? nullptr : offset.data();
    problem.penalty = penalty.empty() ? nullptr : penalty.data();
    problem.anchor_penalty = anchor_penalty;
    problem.l1 = l1.empty() ? nullptr : l1.data();
    problem.loss = loss;
    problem.alpha = alpha;
    if (raw.p > 0) {
        problem.raw = {
            raw.p,          raw.design.data(), raw.anchor.data(), raw.penalty.empty() ? nullptr : raw.penalty.data(),
            raw.map.data(), raw.exact.data(),  raw.error};
    }
    return problem;
}

Answer solve(const Instance& instance, const cudbound::Limits& limits, cudbound::Side side, int threads,
             const cudbound::Monitor& monitor) {
    return solve_ranks(instance, {}, limits, side, threads, nullptr, monitor);
}

Answer solve_ranks(const Instance& instance, const std::vector<std::int64_t>& ranks, const cudbound::Limits& limits,
                   cudbound::Side side, int threads, const Answer* known, const cudbound::Monitor& monitor) {
    const std::size_t draws = instance.draws;
    // filled with what no draw may leave behind
    std::vector<std::int32_t> status(draws, -1);
    Answer answer{std::vector<double>(draws, -1.0), std::vector<double>(draws, -1.0),
                  std::vector<cudbound::Status>(draws), std::vector<std::int64_t>(draws, -1),
                  std::vector<double>(draws * instance.width(), -1e300)};
    if (known != nullptr) {
        answer = *known;
        for (std::size_t d = 0; d < draws; ++d) status[d] = static_cast<std::int32_t>(answer.status[d]);
    }
    cudbound::solve_draws(
        instance.view(), limits, side, {ranks.data(), static_cast<std::int64_t>(ranks.size()), known != nullptr},
        threads, monitor,
        {answer.lower.data(), answer.upper.data(), status.data(), answer.nodes.data(), answer.witness.data()});
    for (std::size_t d = 0; d < draws; ++d) answer.status[d] = static_cast<cudbound::Status>(status[d]);
    return answer;
}

double normal(Random& random) { return std::normal_distribution<double>()(random); }

int integer(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

namespace {

void fill_rows(Random& random, RowKind rows, Instance* instance) {
    const int n = instance->n;
    const int p = instance->p;
    std::vector<double>& x = instance->design;
    x.assign(static_cast<std::size_t>(n) * p, 0.0);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < p; ++k) {
            x[i * p + k] = rows == RowKind::integers ? integer(random, -1, 1) : normal(random);
            if (rows == RowKind::general && k == 0) x[i * p] = 1.0;
        }
        if (rows == RowKind::repeated && i >= p && integer(random, 0, 2) > 0) {
            const int other = integer(random, 0, i - 1);
            const double factors[] = {1.0, 1.0, -1.0, 4.0, -0.25};
            const double factor = factors[integer(random, 0, 4)];
            for (int k = 0; k < p; ++k) x[i * p + k] = factor * x[other * p + k];
        }
    }
}

// Least squares with all counts one; false if it is not unique.
bool fit(Instance* instance) {
    const int p = instance->p;
    std::vector<std::vector<long double>> gram(p, std::vector<long double>(p, 0.0L));
    std::vector<long double> moment(p, 0.0L);
    for (int i = 0; i < instance->n; ++i) {
        const double* row = &instance->design[static_cast<std::size_t>(i) * p];
        for (int a = 0; a < p; ++a) {
            moment[a] += row[a] * instance->labels[i];
            for (int b = 0; b < p; ++b) gram[a][b] += static_cast<long double>(row[a]) * row[b];
        }
    }
    std::vector<long double> beta;
    if (!oracle::solve_linear(gram, moment, &beta)) return false;
    instance->anchor.assign(beta.begin(), beta.end());
    return true;
}

}  // namespace

void change_basis(Random& random, Instance* instance) {
    const int p = instance->p;
    const auto size = static_cast<std::size_t>(p);
    Instance::Raw& raw = instance->raw;
    raw.p = p;
    raw.design = raw.exact = instance->design;
    raw.anchor = instance->anchor;
    for (std::size_t k = 0; k < size && !instance->penalty.empty(); ++k) {
        raw.penalty.push_back(instance->penalty[k * size + k]);
    }
    std::vector<std::vector<long double>> map(size, std::vector<long double>(size));
    std::vector<long double> beta;
    do {
        raw.map.clear();
        for (auto& row : map) {
            for (long double& x : row) {
                raw.map.push_back(normal(random));
                x = raw.map.back();
            }
        }
    } while (!oracle::solve_linear(map, {raw.anchor.begin(), raw.anchor.end()}, &beta));
    instance->anchor.assign(beta.begin(), beta.end());
    // x'coef = (x'map) beta
    for (int i = 0; i < instance->n; ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            long double sum = 0.0L;
            for (std::size_t j = 0; j < size; ++j)
                sum += map[j][k] * raw.design[static_cast<std::size_t>(i) * size + j];
            instance->design[static_cast<std::size_t>(i) * size + k] = static_cast<double>(sum);
        }
    }
    if (!raw.penalty.empty()) {
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < size; ++b) {
                long double sum = 0.0L;
                for (std::size_t j = 0; j < size; ++j) sum += map[j][a] * raw.penalty[j] * map[j][b];
                instance->penalty[a * size + b] = static_cast<double>(sum);
            }
        }
    }
    raw.error = 1e-15 * p;
}

Instance by_hand(std::vector<double> design, std::vector<double> labels, std::vector<double> anchor,
                 std::vector<std::int32_t> counts, double alpha, cudbound::Loss loss) {
    Instance instance;
    instance.n = static_cast<int>(labels.size());
    instance.p = static_cast<int>(anchor.size());
    instance.design = std::move(design);
    instance.labels = std::move(labels);
    instance.anchor = std::move(anchor);
    instance.counts = std::move(counts);
    instance.alpha = alpha;
    instance.loss = loss;
    return instance;
}

Instance two_rows(cudbound::Loss loss) { return by_hand({1.0, 2.0}, {1.0, -1.0}, {1.0}, {1, 2}, 1.0, loss); }

Instance two_orthogonal_rows(double alpha, cudbound::Loss loss) {
    Instance instance = by_hand({1.0, 0.0, 0.0, 1.0}, {1.0, 1.0}, {1.0, 1.0}, {1, 1}, alpha, loss);
    instance.weights = {2.0, 3.0};
    return instance;
}

bool off_hyperplanes(const Instance& instance, int draw, const double* beta) {
    for (int i = 0; i < instance.n; ++i) {
        const double* row = &instance.design[static_cast<std::size_t>(i) * instance.p];
        const std::size_t at = static_cast<std::size_t>(draw) * instance.n + i;
        if ((instance.weights.empty() ? instance.counts[at] - 1.0 : instance.weights[at]) == 0.0) continue;
        double side = 0.0;
        bool zero = true;
        for (int k = 0; k < instance.p; ++k) {
            side += row[k] * beta[k];
            zero = zero && row[k] == 0.0;
        }
        if (!zero && side == 0.0) return false;
    }
    return true;
}

void penalize(const std::vector<double>& strengths, Instance* instance) {
    const int p = instance->p;
    instance->penalty.assign(static_cast<std::size_t>(p) * p, 0.0);
    instance->anchor_penalty = 0.0;
    for (int k = 0; k < p; ++k) {
        instance->penalty[static_cast<std::size_t>(k) * p + k] = strengths[k];
        instance->anchor_penalty += strengths[k] * instance->anchor[k] * instance->anchor[k];
    }
}

Instance random_instance(Random& random, int n, int p, RowKind rows, LabelKind labels, int draws) {
    Instance instance;
    instance.n = n;
    instance.p = p;
    instance.draws = draws;
    instance.alpha = n;
    do {
        fill_rows(random, rows, &instance);
        instance.labels.assign(n, 1.0);
        for (int i = 0; i < n; ++i) {
            double side = 0.5 * normal(random);
            for (int k = 0; k < p; ++k) side += instance.design[static_cast<std::size_t>(i) * p + k];
            const bool positive = labels == LabelKind::noise ? integer(random, 0, 1) == 1 : side > 0.0;
            instance.labels[i] = positive ? 1.0 : -1.0;
        }
    } while (!fit(&instance));
    instance.counts.assign(static_cast<std::size_t>(draws) * n, 0);
    for (int d = 0; d < draws; ++d) {
        for (int i = 0; i < n; ++i) ++instance.counts[static_cast<std::size_t>(d) * n + integer(random, 0, n - 1)];
    }
    return instance;
}
