// The only file that depends on Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <any>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "cudbound/draws.hpp"
#include "cudbound/fits.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

using Vector = Array<double, 1>;
using Matrix = Array<double, 2>;
using Counts = Array<std::int32_t, 2>;
using OptionalVector = std::optional<Vector>;
using OptionalMatrix = std::optional<Matrix>;

template <class T, int Dimensions>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>, nb::c_contig>;

// An array that owns its memory.
template <class T, int Dimensions>
Result<T, Dimensions> make(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t length : shape) size *= length;
    auto data = std::make_unique<T[]>(size);
    const nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Result<T, Dimensions>(data.release(), shape, owner);
}

void expect(bool holds, const std::string& message) {
    if (!holds) throw std::invalid_argument(message);
}

// The numbers of an array of the caller, whose shape is checked here and whose contents by the solver.
template <class... Options>
auto* read(const char* name, const nb::ndarray<Options...>& array, std::initializer_list<std::int64_t> shape) {
    std::size_t axis = 0;
    for (const std::int64_t length : shape) {
        expect(static_cast<std::int64_t>(array.shape(axis++)) == length, std::string(name) + " has a wrong shape");
    }
    return array.data();
}

template <class... Options>
auto* read(const char* name, const std::optional<nb::ndarray<Options...>>& array,
           std::initializer_list<std::int64_t> shape) {
    return array ? read(name, *array, shape) : nullptr;
}

bool go_on(std::int64_t) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return true;
}

struct Draws {
    Result<double, 1> lower;
    Result<double, 1> upper;
    Result<std::int32_t, 1> status;
    Result<std::int64_t, 1> nodes;
    Result<double, 2> witness;
    bool interrupted;
};

cudbound::Loss loss_of(const std::string& name) {
    if (name == "squared") return cudbound::Loss::SQUARED;
    if (name == "logistic") return cudbound::Loss::LOGISTIC;
    if (name == "exponential") return cudbound::Loss::EXPONENTIAL;
    if (name == "squared_hinge") return cudbound::Loss::SQUARED_HINGE;
    if (name == "hinge") return cudbound::Loss::HINGE;
    if (name == "huber") return cudbound::Loss::HUBER;
    throw std::invalid_argument("there is no loss of that name");
}

// The arrays of a problem in the caller's coordinates, kept alive.
class Raw {
 public:
    Raw(Matrix design, Vector anchor, OptionalVector penalty, Matrix map, Matrix exact, double error)
        : kept_(std::make_tuple(design, anchor, penalty, map, exact)) {
        rows = static_cast<std::int64_t>(design.shape(0));
        mapped = static_cast<std::int64_t>(map.shape(1));
        const auto p = static_cast<std::int64_t>(design.shape(1));
        view = {p,
                design.data(),
                read("anchor", anchor, {p}),
                read("penalty", penalty, {p}),
                read("map", map, {p, mapped}),
                read("exact", exact, {rows, mapped}),
                error};
    }

    cudbound::Raw view;
    std::int64_t rows, mapped;

 private:
    std::any kept_;
};

// The arrays of a problem, kept alive.
class Problem {
 public:
    Problem(Matrix design, Vector labels, Vector anchor, Counts counts, OptionalMatrix weights,
            OptionalVector sample_weight, OptionalVector draw_scale, OptionalVector offset, OptionalMatrix penalty,
            double anchor_penalty, OptionalVector l1, const std::string& loss, double alpha, std::optional<Raw> raw)
        : kept_(std::make_tuple(design, labels, anchor, counts, weights, sample_weight, draw_scale, offset, penalty, l1,
                                raw)) {
        const auto n = view.n = static_cast<std::int64_t>(design.shape(0));
        const auto p = view.p = static_cast<std::int64_t>(design.shape(1));
        const auto draws = view.draws = static_cast<std::int64_t>(counts.shape(0));
        view.design = design.data();
        view.labels = read("labels", labels, {n});
        view.anchor = read("anchor", anchor, {p});
        view.counts = read("counts", counts, {draws, n});
        view.weights = read("weights", weights, {draws, n});
        view.sample_weight = read("sample_weight", sample_weight, {n});
        view.draw_scale = read("draw_scale", draw_scale, {draws});
        view.offset = read("offset", offset, {n});
        view.penalty = read("penalty", penalty, {p, p});
        view.anchor_penalty = anchor_penalty;
        view.l1 = read("l1", l1, {raw ? raw->view.p : p});
        view.loss = loss_of(loss);
        view.alpha = alpha;
        expect(!raw || (raw->rows == n && raw->mapped == p), "raw has a wrong shape");
        if (raw) view.raw = raw->view;
    }

    cudbound::Problem view;

 private:
    std::any kept_;
};

nb::typed<nb::tuple, double, double, double> loss_at(const std::string& loss, double margin) {
    const cudbound::LossAt here = cudbound::loss_at(loss_of(loss), margin);
    return nb::make_tuple(here.value, here.slope, here.bend);
}

nb::typed<nb::tuple, Result<double, 2>, Result<bool, 1>, Result<bool, 1>> minimize(const Problem& problem) {
    const auto draws = static_cast<std::size_t>(problem.view.draws);
    const auto coef = make<double, 2>({draws, static_cast<std::size_t>(problem.view.p)});
    const auto attained = make<bool, 1>({draws});
    const auto found = make<bool, 1>({draws});
    const cudbound::Minimizers minimizers{coef.data(), attained.data(), found.data()};
    {
        const nb::gil_scoped_release release;
        cudbound::minimize(problem.view, go_on, minimizers);
    }
    return nb::make_tuple(coef, attained, found);
}

using Known = nb::typed<nb::tuple, Vector, Vector, Array<std::int32_t, 1>, Array<std::int64_t, 1>, Matrix>;

template <class T, int Dimensions>
void fill(const Result<T, Dimensions>& target, nb::handle source) {
    const auto array = nb::cast<Array<T, Dimensions>>(source);
    expect(array.size() == target.size(), "known must have one row per draw");
    std::copy_n(array.data(), array.size(), target.data());
}

Draws solve_draws(const Problem& owner, cudbound::Side side, std::int64_t node_limit, double time_limit,
                  std::int64_t total_node_limit, double total_time_limit, Array<std::int64_t, 1> ranks,
                  std::optional<Known> known, int threads,
                  std::optional<nb::typed<nb::callable, void(std::int64_t)>> progress) {
    const cudbound::Problem& problem = owner.view;
    const cudbound::Limits limits{node_limit, time_limit, total_node_limit, total_time_limit};
    const auto draws = static_cast<std::size_t>(problem.draws);
    const auto p = static_cast<std::size_t>(problem.callers_p());
    Draws solved{make<double, 1>({draws}),       make<double, 1>({draws}),    make<std::int32_t, 1>({draws}),
                 make<std::int64_t, 1>({draws}), make<double, 2>({draws, p}), false};
    if (known) {
        fill<double, 1>(solved.lower, (*known)[0]);
        fill<double, 1>(solved.upper, (*known)[1]);
        fill<std::int32_t, 1>(solved.status, (*known)[2]);
        fill<std::int64_t, 1>(solved.nodes, (*known)[3]);
        fill<double, 2>(solved.witness, (*known)[4]);
    }
    const cudbound::Results results{solved.lower.data(), solved.upper.data(), solved.status.data(), solved.nodes.data(),
                                    solved.witness.data()};
    const cudbound::Ranks requested{ranks.data(), static_cast<std::int64_t>(ranks.shape(0)), known.has_value()};

    // A pending signal, or an exception in the progress callback, stops the search; the error is raised by the
    // caller after it has taken the results.
    const auto monitor = [&](std::int64_t done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            solved.interrupted = true;
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
            PyErr_Clear();
            return false;
        }
        try {
            if (progress) (*progress)(done);
        } catch (nb::python_error& error) {
            // Ctrl-C may come while the callback runs, which is no reason to lose what was found
            if (!error.matches(PyExc_KeyboardInterrupt)) throw;
            solved.interrupted = true;
            return false;
        }
        return true;
    };
    {
        const nb::gil_scoped_release release;
        cudbound::solve_draws(problem, limits, side, requested, threads, monitor, results);
    }
    return solved;
}

nb::typed<nb::tuple, Result<double, 2>, Result<double, 2>, Result<bool, 1>> fit_all(
    Matrix rows, Vector labels, Matrix weights, Matrix penalty, OptionalMatrix shift, OptionalMatrix scale,
    const std::string& loss, bool intercept, int threads) {
    cudbound::Fits fits;
    const auto n = fits.n = static_cast<std::int64_t>(labels.shape(0));
    const auto p = fits.p = static_cast<std::int64_t>(rows.shape(1));
    const auto count = fits.fits = static_cast<std::int64_t>(weights.shape(0));
    fits.own_rows = static_cast<std::int64_t>(rows.shape(0)) != n;
    fits.intercept = intercept;
    fits.loss = loss_of(loss);
    fits.rows = read("rows", rows, {fits.own_rows ? count * n : n, p});
    fits.shift = read("shift", shift, {count, p});
    fits.scale = read("scale", scale, {count, p});
    fits.labels = labels.data();
    fits.weights = read("weights", weights, {count, n});
    fits.penalty = read("penalty", penalty, {count, fits.coefficients()});

    const auto scores = make<double, 2>({weights.shape(0), labels.shape(0)});
    const auto doubt = make<double, 2>({weights.shape(0), labels.shape(0)});
    const auto found = make<bool, 1>({weights.shape(0)});
    {
        const nb::gil_scoped_release release;
        cudbound::fit_all(fits, threads, go_on, {scores.data(), doubt.data(), found.data()});
    }
    return nb::make_tuple(scores, doubt, found);
}

}  // namespace

NB_MODULE(_solvers, m) {
    m.doc() = "Exact branch-and-bound solver of the CUD bound; use it through cudbound.solve.solve_draws.";

    nb::enum_<cudbound::Status>(m, "Status", nb::is_arithmetic(), "How the search of one draw ended.")
        .value("OPTIMAL", cudbound::Status::OPTIMAL)
        .value("NODE_LIMIT", cudbound::Status::NODE_LIMIT)
        .value("TIME_LIMIT", cudbound::Status::TIME_LIMIT)
        .value("INTERRUPTED", cudbound::Status::INTERRUPTED)
        .value("INACCURATE", cudbound::Status::INACCURATE)
        .value("DECIDED", cudbound::Status::DECIDED);

    nb::enum_<cudbound::Side>(m, "Side", "Which sign of the deviation counts.")
        .value("BOTH", cudbound::Side::BOTH)
        .value("POSITIVE", cudbound::Side::POSITIVE)
        .value("NEGATIVE", cudbound::Side::NEGATIVE);

    constexpr auto own = nb::rv_policy::automatic;  // each array owns its memory
    nb::class_<Draws>(m, "Draws", "Results of all draws; row d belongs to draw d.")
        .def_ro("lower", &Draws::lower, own)
        .def_ro("upper", &Draws::upper, own)
        .def_ro("status", &Draws::status, own, "Members of Status.")
        .def_ro("nodes", &Draws::nodes, own)
        .def_ro("witness", &Draws::witness, own, "Shape (n_draws, n_features).")
        .def_ro("interrupted", &Draws::interrupted, "Whether Ctrl-C ended the search.");

    nb::class_<Raw>(m, "Raw", "The arrays of a problem in the caller's coordinates; see draws.hpp.")
        .def(nb::init<Matrix, Vector, OptionalVector, Matrix, Matrix, double>(), "design"_a.noconvert(),
             "anchor"_a.noconvert(), "penalty"_a.noconvert().none(), "map"_a.noconvert(), "exact"_a.noconvert(),
             "error"_a);

    nb::class_<Problem>(m, "Problem", "The arrays of all draws' problems; see draws.hpp.")
        .def(nb::init<Matrix, Vector, Vector, Counts, OptionalMatrix, OptionalVector, OptionalVector, OptionalVector,
                      OptionalMatrix, double, OptionalVector, const std::string&, double, std::optional<Raw>>(),
             "design"_a.noconvert(), "labels"_a.noconvert(), "anchor"_a.noconvert(), "counts"_a.noconvert(),
             "weights"_a.noconvert().none(), "sample_weight"_a.noconvert().none(), "draw_scale"_a.noconvert().none(),
             "offset"_a.noconvert().none(), "penalty"_a.noconvert().none(), "anchor_penalty"_a,
             "l1"_a.noconvert().none(), "loss"_a, "alpha"_a, "raw"_a.none());

    m.def("solve_draws", &solve_draws, "problem"_a, "side"_a, "node_limit"_a, "time_limit"_a, "total_node_limit"_a,
          "total_time_limit"_a, "ranks"_a.noconvert(), "known"_a.none(), "threads"_a, "progress"_a.none(),
          "Solve all draws, or as much of them as the quantiles at these ranks need.");

    m.def("loss_at", &loss_at, "loss"_a, "margin"_a, "A loss and its first two derivatives in the margin.");

    m.def("minimize", &minimize, "problem"_a,
          "Minimizers of the loss of each draw, whether it has one, and whether it was found.");

    m.def("fit_all", &fit_all, "rows"_a.noconvert(), "labels"_a.noconvert(), "weights"_a.noconvert(),
          "penalty"_a.noconvert(), "shift"_a.noconvert().none(), "scale"_a.noconvert().none(), "loss"_a, "intercept"_a,
          "threads"_a, "Scores of all rows by each fit, their doubts, and which fits were found; see fits.hpp.");
}
