# `make demo` and `make test` are complete on their own: each builds first what it needs.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml $(shell find solvers -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt)
CMAKE = $(BIN)/cmake -S solvers -G Ninja "-DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja" -DCUDBOUND_TESTS=ON
CTEST = $(BIN)/ctest --parallel 2 --output-on-failure
PYTEST = $(BIN)/pytest --numprocesses 2 --dist loadfile
PROPERTIES = tests/solve/test_properties.py tests/solve/test_losses_of_both_solvers.py tests/bound/test_boundary.py
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo build docs paper test test-slow test-long fuzz mutation test-lowest golden pages lint format benchmark stub wheel sbom clean

demo: .venv/installed
	$(BIN)/cudbound demo

# everything that is compiled: the package, and the C++ tests as released and under the sanitizers
build: .venv/installed-for-development
	$(CMAKE) -B build/solvers
	$(BIN)/cmake --build build/solvers
	$(CMAKE) -B build/sanitized -DCUDBOUND_SANITIZE=ON
	$(BIN)/cmake --build build/sanitized

# Three tiers, which have no test in common but the C++ ones, of whose random problems this one tries two in five. It is
# for every change: five minutes at most, once it is built.
test: build
	CUDBOUND_TRIALS=40 $(CTEST) --test-dir build/solvers
	$(PYTEST)

# the same properties on other seeds, all random problems, sanitizers, kills, clusters, full disks, most pages: twelve minutes at most
test-slow: build
	$(CTEST) --test-dir build/solvers
	$(CTEST) --test-dir build/sanitized
	$(PYTEST) -m 'slow and not long'
	CUDBOUND_EXAMPLES=200 $(PYTEST) $(PROPERTIES)

# what takes longer, a million draws in exact arithmetic for example; hours
test-long: build fuzz
	$(PYTEST) -m long

# problems of arbitrary bytes under the sanitizers, for so many seconds
FUZZ_SECONDS ?= 600
FUZZ_SEED ?= 2
fuzz: build
	cd build/sanitized && tests/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED) "$(CURDIR)"/solvers/tests/corpus/*

# the pages that people read, written anew; PAGES="intervals metrics" chooses some; then read what changed
pages: .venv/installed-for-development
	PYTHONPATH=tests:tests/golden:tests/helpers $(BIN)/python tests/pages/golden_pages.py $(PAGES)

# changes one line of the package at a time, at random, and lists the changes that no quick test notices
MUTATION_SEED ?= 1
MUTATIONS ?= 120
mutation: build
	$(BIN)/python tests/mutate.py --seed $(MUTATION_SEED) --draws $(MUTATIONS)

# the numbers of the golden calls, to the last bit, on the machine that made the file
golden: .venv/installed-for-development
	$(BIN)/python tests/golden/compare.py

lint: .venv/installed-for-development
	$(BIN)/ruff check . .ci
	$(BIN)/ruff format --check . .ci
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/house_rules.py
	$(BIN)/python .ci/prose.py
	$(BIN)/mypy
	$(BIN)/mypy tests/typed_program.py
	$(BIN)/zizmor --offline --quiet .github
	find solvers -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format --dry-run --Werror
	$(CMAKE) -B build/tidy --log-level=ERROR -DCUDBOUND_TESTS=OFF -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	$(BIN)/run-clang-tidy.py -quiet -clang-tidy-binary $(BIN)/clang-tidy -p build/tidy '$(CURDIR)/solvers/src/'

# the site, in build/docs: no network is used, and warnings are errors
docs: paper
	$(BIN)/sphinx-build -E -W --keep-going -q -b html docs build/docs

# the paper on the intervals and the solver, in a folder of the site, with the same rules
paper: .venv/installed-for-development
	$(BIN)/sphinx-build -E -W --keep-going -q -b html docs/paper build/docs/paper

format: .venv/installed-for-development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find solvers -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format -i

benchmark: .venv/installed-for-development
	$(BIN)/python docs/benchmarks/run.py --picture docs/pictures/cost.svg

stub: .venv/installed-for-development
	$(BIN)/python -m nanobind.stubgen -m cudbound._solvers -o cudbound/_solvers.pyi

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("cudbound needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }

# a development install follows the Python sources by itself and must not be replaced
.venv/installed: .venv/bin/python $(SOURCES) $(shell find cudbound -name '*.py')
	test -e .venv/installed-for-development || $(BIN)/python -m pip install --quiet --disable-pip-version-check .
	touch $@

# An editable install rebuilds in place; the build requirements must be there for that, and setuptools for what comes as
# a source distribution, since nothing is built in isolation. It also serves the demo.
.venv/installed-for-development: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1' # the first that knows dependency groups
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[reference,models,plots,study,excel,dask]' --group dev
	touch .venv/installed $@

# what is released, in dist/: built twice, compared, checked, and run where there is no compiler
wheel:
	PYTHON=$(PYTHON) .ci/wheel

# all that a plain install brings, by name, version and license, in the format CycloneDX
sbom: wheel
	build/release/tools/bin/cyclonedx-py environment --output-file dist/sbom.cdx.json build/release/empty/bin/python

# the quick tests on the oldest versions that the requirements name; TESTS=tests/analysis chooses some of them.
# matplotlib 3.9 uses names of pyparsing that 3.3 warns of.
test-lowest:
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct -e '.[reference,models,plots,study,excel,dask]' --group build --group test 'pyparsing>=3.2,<3.3'
	build/lowest/bin/pytest $(TESTS)

clean:
	rm -rf .venv build
