// The only file that depends on Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "cudbound/draws.hpp"
#include "cudbound/fits.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

template <class T, int Dimensions>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>, nb::c_contig>;

template <class T>
T* allocate(std::size_t size, nb::capsule* owner) {
    auto data = std::make_unique<T[]>(size);
    *owner = nb::capsule(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return data.release();
}

void expect(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// The arrays keep their memory alive.
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
    Raw(Array<double, 2> design, Array<double, 1> anchor, std::optional<Array<double, 1>> penalty, Array<double, 2> map,
        Array<double, 2> exact, double error)
        : design_(design), anchor_(anchor), penalty_(penalty), map_(map), exact_(exact) {
        const auto p = design.shape(1);
        expect(anchor.shape(0) == p, "anchor must have one entry per column of design");
        expect(!penalty || penalty->shape(0) == p, "penalty must have one entry per column of design");
        expect(map.shape(0) == p, "map must have one row per column of design");
        view_.p = static_cast<std::int64_t>(p);
        view_.design = design.data();
        view_.anchor = anchor.data();
        if (penalty) view_.penalty = penalty->data();
        expect(exact.shape(0) == design.shape(0) && exact.shape(1) == map.shape(1),
               "exact must have one row per row of design and one column per column of map");
        view_.map = map.data();
        view_.exact = exact.data();
        view_.error = error;
    }

    const cudbound::Raw& view() const { return view_; }
    std::size_t rows() const { return design_.shape(0); }
    std::size_t mapped() const { return map_.shape(1); }

 private:
    Array<double, 2> design_;
    Array<double, 1> anchor_;
    std::optional<Array<double, 1>> penalty_;
    Array<double, 2> map_;
    Array<double, 2> exact_;
    cudbound::Raw view_;
};

// The arrays of a problem, kept alive.
class Problem {
 public:
    Problem(Array<double, 2> design, Array<double, 1> labels, Array<double, 1> anchor, Array<std::int32_t, 2> counts,
            std::optional<Array<double, 2>> weights, std::optional<Array<double, 1>> sample_weight,
            std::optional<Array<double, 1>> draw_scale, std::optional<Array<double, 1>> offset,
            std::optional<Array<double, 2>> penalty, double anchor_penalty, std::optional<Array<double, 1>> l1,
            const std::string& loss, double alpha, std::optional<Raw> raw)
        : design_(design),
          labels_(labels),
          anchor_(anchor),
          counts_(counts),
          weights_(weights),
          sample_weight_(sample_weight),
          draw_scale_(draw_scale),
          offset_(offset),
          penalty_(penalty),
          l1_(l1),
          raw_(raw) {
        const auto n = design.shape(0);
        const auto p = design.shape(1);
        expect(labels.shape(0) == n, "labels must have one entry per row of design");
        expect(anchor.shape(0) == p, "anchor must have one entry per column of design");
        expect(counts.shape(1) == n, "counts must have one column per row of design");
        expect(!weights || (weights->shape(0) == counts.shape(0) && weights->shape(1) == n),
               "weights must have the shape of counts");
        expect(!sample_weight || sample_weight->shape(0) == n, "sample_weight must have one entry per row of design");
        expect(!draw_scale || draw_scale->shape(0) == counts.shape(0), "draw_scale must have one entry per draw");
        expect(!offset || offset->shape(0) == n, "offset must have one entry per row of design");
        expect(!penalty || (penalty->shape(0) == p && penalty->shape(1) == p),
               "penalty must be square with one row per column of design");
        view_.n = static_cast<std::int64_t>(n);
        view_.p = static_cast<std::int64_t>(p);
        view_.draws = static_cast<std::int64_t>(counts.shape(0));
        view_.design = design.data();
        view_.labels = labels.data();
        view_.anchor = anchor.data();
        view_.counts = counts.data();
        if (weights) view_.weights = weights->data();
        if (sample_weight) view_.sample_weight = sample_weight->data();
        if (draw_scale) view_.draw_scale = draw_scale->data();
        if (offset) view_.offset = offset->data();
        if (penalty) view_.penalty = penalty->data();
        view_.anchor_penalty = anchor_penalty;
        if (l1) view_.l1 = l1->data();
        view_.loss = loss_of(loss);
        view_.alpha = alpha;
        if (raw_) {
            expect(raw_->rows() == n && raw_->mapped() == p, "raw must have the rows of design and map its columns");
            view_.raw = raw_->view();
        }
        expect(!l1 || static_cast<std::int64_t>(l1->shape(0)) == (raw_ ? view_.raw.p : view_.p),
               "l1 must have one entry per coefficient of the caller");
    }

    const cudbound::Problem& view() const { return view_; }

 private:
    Array<double, 2> design_;
    Array<double, 1> labels_;
    Array<double, 1> anchor_;
    Array<std::int32_t, 2> counts_;
    std::optional<Array<double, 2>> weights_;
    std::optional<Array<double, 1>> sample_weight_;
    std::optional<Array<double, 1>> draw_scale_;
    std::optional<Array<double, 1>> offset_;
    std::optional<Array<double, 2>> penalty_;
    std::optional<Array<double, 1>> l1_;
    std::optional<Raw> raw_;
    cudbound::Problem view_;
};

nb::typed<nb::tuple, double, double, double> loss_at(const std::string& loss, double margin) {
    const cudbound::LossAt here = cudbound::loss_at(loss_of(loss), margin);
    return nb::make_tuple(here.value, here.slope, here.bend);
}

nb::typed<nb::tuple, Result<double, 2>, Result<bool, 1>, Result<bool, 1>> minimize(const Problem& problem) {
    const auto draws = static_cast<std::size_t>(problem.view().draws);
    const auto p = static_cast<std::size_t>(problem.view().p);
    nb::capsule owners[3];
    cudbound::Minimizers minimizers;
    minimizers.coef = allocate<double>(draws * p, &owners[0]);
    minimizers.attained = allocate<bool>(draws, &owners[1]);
    minimizers.found = allocate<bool>(draws, &owners[2]);
    {
        const nb::gil_scoped_release release;
        cudbound::minimize(
            problem.view(),
            [](std::int64_t) {
                const nb::gil_scoped_acquire gil;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                return true;
            },
            minimizers);
    }
    return nb::make_tuple(Result<double, 2>(minimizers.coef, {draws, p}, owners[0]),
                          Result<bool, 1>(minimizers.attained, {draws}, owners[1]),
                          Result<bool, 1>(minimizers.found, {draws}, owners[2]));
}

using Known = nb::typed<nb::tuple, Array<double, 1>, Array<double, 1>, Array<std::int32_t, 1>, Array<std::int64_t, 1>,
                        Array<double, 2>>;

template <class T, int Dimensions>
void fill(T* target, nb::handle source, std::size_t size) {
    const auto array = nb::cast<Array<T, Dimensions>>(source);
    expect(array.size() == size, "known must have one row per draw");
    std::copy_n(array.data(), size, target);
}

Draws solve_draws(const Problem& owner, cudbound::Side side, std::int64_t node_limit, double time_limit,
                  std::int64_t total_node_limit, double total_time_limit, Array<std::int64_t, 1> ranks,
                  std::optional<Known> known, int threads,
                  std::optional<nb::typed<nb::callable, void(std::int64_t)>> progress) {
    const cudbound::Problem& problem = owner.view();
    const cudbound::Limits limits{node_limit, time_limit, total_node_limit, total_time_limit};

    const auto draws = static_cast<std::size_t>(problem.draws);
    const auto p = static_cast<std::size_t>(problem.raw.design == nullptr ? problem.p : problem.raw.p);
    nb::capsule owners[5];
    cudbound::Results results;
    results.lower = allocate<double>(draws, &owners[0]);
    results.upper = allocate<double>(draws, &owners[1]);
    results.status = allocate<std::int32_t>(draws, &owners[2]);
    results.nodes = allocate<std::int64_t>(draws, &owners[3]);
    results.witness = allocate<double>(draws * p, &owners[4]);
    if (known) {
        fill<double, 1>(results.lower, (*known)[0], draws);
        fill<double, 1>(results.upper, (*known)[1], draws);
        fill<std::int32_t, 1>(results.status, (*known)[2], draws);
        fill<std::int64_t, 1>(results.nodes, (*known)[3], draws);
        fill<double, 2>(results.witness, (*known)[4], draws * p);
    }
    const cudbound::Ranks asked{ranks.data(), static_cast<std::int64_t>(ranks.shape(0)), known.has_value()};

    // A pending signal, or an exception in the progress callback, stops the search; the error is raised by the
    // caller after it has taken the results.
    bool interrupted = false;
    const auto monitor = [&](std::int64_t done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            interrupted = true;
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
            PyErr_Clear();
            return false;
        }
        try {
            if (progress) (*progress)(done);
        } catch (nb::python_error& error) {
            // Ctrl-C may come while the callback runs, which is no reason to lose what was found
            if (!error.matches(PyExc_KeyboardInterrupt)) throw;
            interrupted = true;
            return false;
        }
        return true;
    };
    {
        const nb::gil_scoped_release release;
        cudbound::solve_draws(problem, limits, side, asked, threads, monitor, results);
    }
    return {Result<double, 1>(results.lower, {draws}, owners[0]),
            Result<double, 1>(results.upper, {draws}, owners[1]),
            Result<std::int32_t, 1>(results.status, {draws}, owners[2]),
            Result<std::int64_t, 1>(results.nodes, {draws}, owners[3]),
            Result<double, 2>(results.witness, {draws, p}, owners[4]),
            interrupted};
}

nb::typed<nb::tuple, Result<double, 2>, Result<double, 2>, Result<bool, 1>> fit_all(
    Array<double, 2> rows, Array<double, 1> labels, Array<double, 2> weights, Array<double, 2> penalty,
    std::optional<Array<double, 2>> shift, std::optional<Array<double, 2>> scale, const std::string& loss,
    bool intercept, int threads) {
    const auto count = weights.shape(0);
    const auto n = labels.shape(0);
    const auto p = rows.shape(1);
    expect(weights.shape(1) == n, "weights must have one column per row");
    expect(rows.shape(0) == n || rows.shape(0) == count * n, "rows must be those of all fits, or of each");
    expect(penalty.shape(0) == count && penalty.shape(1) == p + (intercept ? 1 : 0),
           "penalty must have one row per fit and one column per coefficient");
    for (const auto* map : {&shift, &scale}) {
        expect(!*map || ((*map)->shape(0) == count && (*map)->shape(1) == p),
               "shift and scale must have one row per fit and one column per column of rows");
    }
    cudbound::Fits fits;
    fits.n = static_cast<std::int64_t>(n);
    fits.p = static_cast<std::int64_t>(p);
    fits.fits = static_cast<std::int64_t>(count);
    fits.rows = rows.data();
    fits.own_rows = rows.shape(0) != n;
    if (shift) fits.shift = shift->data();
    if (scale) fits.scale = scale->data();
    fits.labels = labels.data();
    fits.weights = weights.data();
    fits.penalty = penalty.data();
    fits.intercept = intercept;
    fits.loss = loss_of(loss);

    nb::capsule owners[3];
    cudbound::Scores scores;
    scores.scores = allocate<double>(count * n, &owners[0]);
    scores.doubt = allocate<double>(count * n, &owners[1]);
    scores.found = allocate<bool>(count, &owners[2]);
    const auto monitor = [](std::int64_t) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return true;
    };
    {
        const nb::gil_scoped_release release;
        cudbound::fit_all(fits, threads, monitor, scores);
    }
    return nb::make_tuple(Result<double, 2>(scores.scores, {count, n}, owners[0]),
                          Result<double, 2>(scores.doubt, {count, n}, owners[1]),
                          Result<bool, 1>(scores.found, {count}, owners[2]));
}

}  // namespace

NB_MODULE(_solvers, m) {
    m.doc() = "Exact branch-and-bound solver of the CUD bound; use it through cudbound.solve_draws.";

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
        .def(nb::init<Array<double, 2>, Array<double, 1>, std::optional<Array<double, 1>>, Array<double, 2>,
                      Array<double, 2>, double>(),
             "design"_a.noconvert(), "anchor"_a.noconvert(), "penalty"_a.noconvert().none(), "map"_a.noconvert(),
             "exact"_a.noconvert(), "error"_a);

    nb::class_<Problem>(m, "Problem", "The arrays of all draws' problems; see draws.hpp.")
        .def(nb::init<Array<double, 2>, Array<double, 1>, Array<double, 1>, Array<std::int32_t, 2>,
                      std::optional<Array<double, 2>>, std::optional<Array<double, 1>>, std::optional<Array<double, 1>>,
                      std::optional<Array<double, 1>>, std::optional<Array<double, 2>>, double,
                      std::optional<Array<double, 1>>, const std::string&, double, std::optional<Raw>>(),
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
