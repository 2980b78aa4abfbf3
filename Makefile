# make demo   set up .venv and assess a real model
# make test   set up .venv and run the suite, but for what needs more than Python (make test-heavy)
# make check  format, lint, strict types, import layers
# make stub   write the stub of public names, for type checkers
# make docs   the documentation site, in build/docs; open build/docs/index.html
# make bench  speed, as ratios measured side by side
# make dist   build the wheel and the sdist, install each in a clean environment and run it there
# make fuzz   read 100,000 damaged files (FUZZ_FILES=...), which takes an hour or two; what escapes is kept in build/fuzz
# make fuzz-requests  send 50,000 damaged and hostile requests (FUZZ_REQUESTS=...) to the service
# make test-lowest  run the suite with the lowest versions that pyproject.toml promises (needs Python 3.11)
.PHONY: demo test test-heavy fuzz fuzz-requests test-lowest check format stub docs bench dist clean

PYTHON ?= python3
BIN := .venv/bin
# a version with a build for processors alone, where one is at hand: newer ones bring gigabytes for graphics cards
TORCH ?= torch==2.13.0

.venv/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[demo]"
	touch $@

.venv/.ready: .venv/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test,check]'
	touch $@

demo: .venv/.base
	@$(BIN)/surefoot demo

# on every core, with one thread of linear algebra each; COVERAGE=1 also tells how much of the source was run
test: check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m 'not heavy' -n auto \
		$(if $(COVERAGE),--cov --cov-report=term:skip-covered --cov-fail-under=92)

# what needs more than Python: Java for Spark, torch (Triton's interpreter runs the GPU's kernels anywhere), a browser;
# the packages that values are compared with, and the tools that there are hooks for. Files stay together, for what they start
test-heavy: .venv/.ready
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)'
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[torch,spark,conformance,browser,kafka,evaluate,inspect,lightning,mlflow]' triton
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m heavy -n auto --dist loadfile

# damaged files of every kind; another FUZZ_SEED gives others
FUZZ_FILES ?= 100000
FUZZ_SEED ?= 1
fuzz: .venv/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --n $(FUZZ_FILES) --seed $(FUZZ_SEED)

# damaged and hostile requests to the service, in some minutes
FUZZ_REQUESTS ?= 50000
fuzz-requests: .venv/.ready
	$(BIN)/python -m tests.service.fuzzing --n $(FUZZ_REQUESTS) --seed $(FUZZ_SEED)

# The lowest version of every package that pyproject.toml names, and the newest of what those need in turn.
# Old matplotlib calls new pyparsing, and old Narwhals new DuckDB, by names that are going: those warnings are theirs.
# LOWEST_TESTS chooses tests.
LOWEST_TESTS ?= tests
test-lowest: .venv/.ready
	rm -rf build/lowest
	$(PYTHON) -m venv build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct \
		--only-binary :all: --no-binary surefoot -e '.[test]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 build/lowest/bin/python -m pytest -m 'not heavy' -n auto \
		-W ignore::pyparsing.warnings.PyparsingDeprecationWarning \
		-W 'ignore:fetch_arrow_table:DeprecationWarning' $(LOWEST_TESTS)

check: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

stub: .venv/.base
	$(BIN)/python -c 'import pathlib, surefoot; pathlib.Path("src/surefoot/__init__.pyi").write_text(surefoot._stub())'

# what the pages compare with comes along, and torch as for test-heavy; nothing is loaded from a network while it builds
.venv/.docs: .venv/.base
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)'
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

docs: .venv/.docs
	$(BIN)/python docs/build.py

# compared with torchmetrics and netcal where they are installed
bench: .venv/.ready
	$(BIN)/python -m benchmarks

dist: .venv/.ready
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python tools/check_dist.py dist

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
