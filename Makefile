# Everything people do daily. `make help` lists it. All of it runs in .venv, which is made on first use.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all lint types validate outcomes build bench format wheels reference messages screenshots constraints clean

# Any Python from 3.11 on that can make environments; 3.11 first, since that is what the tests run on.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip
TORCH := torch==2.13.0

# Each file stays in one process, so that what it sets up is set up once. In the order of their names: else the files
# with few and long tests come last, and one process waits for the other.
PROCESSES ?= $(shell nproc)
PYTEST_ARGS ?= -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

export PIP_DISABLE_PIP_VERSION_CHECK := 1

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: $(READY) ## a new course in demo-course/ (replacing the last one), with a graded class of twelve
	rm -rf demo-course
	$(BIN)/autograder demo demo-course

# One process more than there are cores, since tests wait at times. Not for all tests: hostile code has seconds there.
test: PROCESSES := $(shell expr $$(nproc) + 1)
test: $(READY) ## every promise once, in five minutes; choose tests with PYTEST_ARGS="tests/cards -x"
	$(BIN)/python -m pytest -q -m "not slow" $(PYTEST_ARGS)

test-all: $(READY) ## all tests, in about half an hour; ARGS="-m slow" for those that `make test` leaves out
	$(BIN)/python -m pytest -q $(PYTEST_ARGS) $(ARGS)

lint: $(READY) ## style, format and the walls between the packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY) ## static types
	$(BIN)/mypy

validate: $(READY) ## the checks graded: known mistakes, right answers in other styles; ARGS=--force leaves nothing out
	$(BIN)/autograder validate $(ARGS)

outcomes: $(READY) ## how everything with a known answer is judged, into build/outcomes/; AGAINST=FILE compares it
	$(BIN)/python tests/outcomes.py record build/outcomes/$(COMMIT).json $(if $(AGAINST),--inputs $(AGAINST))
	$(if $(AGAINST),$(BIN)/python tests/outcomes.py compare $(AGAINST) build/outcomes/$(COMMIT).json)

COMMIT = $(shell git describe --always --dirty)

build: $(READY) ## release/ and solutions/ again from source/; ARGS=--force for what has not changed, too
	$(BIN)/autograder build $(ARGS)

bench: $(READY) ## the measurements in benchmarks/, one table each
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

format: $(READY) ## put style and format right where a tool can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheels: $(READY) ## the wheels into dist/: the students', the graders' and the instructors'
	$(BIN)/python -m build --no-isolation --wheel --outdir dist .
	$(BIN)/python -m build --no-isolation --wheel --outdir dist packaging/checks
	$(BIN)/python -m build --no-isolation --wheel --outdir dist packaging/course

reference: $(READY) ## docs/reference.md and docs/verdict.schema.json again, from the code
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_schema.py

messages: $(READY) ## everything that a student may read, with file and line; ONLY="titles hints" shows some groups
	@$(BIN)/python docs/list_messages.py $(ONLY)

screenshots: $(READY) ## the pictures in docs/images/ and of the students' page again, from the tests in a browser
	rm -rf build/screenshots
	$(BIN)/python -m pytest -q -n 0 -m browser tests/browser tests/adopting/test_adopt_page.py
	for image in docs/images/*.png source/students.png; do \
	  $(BIN)/python -c "$(FEW_COLOURS)" build/screenshots/$${image##*/} $$image || exit 1; done

# Less than half the size, for a colour here and there that is a little off. matplotlib brings Pillow.
FEW_COLOURS := import sys; from PIL import Image; Image.open(sys.argv[1]).quantize(128).save(sys.argv[2], optimize=True)

constraints: ## constraints.txt again, from today's newest versions that the oldest Python can have
	$(call need-python)
	rm -rf build/pins
	$(PYTHON) -m venv build/pins
	build/pins/bin/python packaging/constraints.py > build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/pins

clean: ## remove what the other targets made, but for .venv, release/ and solutions/
	rm -rf build dist demo-course .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# The mark is written last: an interrupted set-up is taken up again by the next command. torch comes
# first and alone, so that nothing else chooses a torch of its own.
$(READY): pyproject.toml constraints.txt
	$(call need-python)
	rm -f $@
	@echo "Setting up $(VENV): a minute or two, longer where torch is downloaded."
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt $(TORCH) hatchling editables
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e ".[grading-tools,dev]"
	touch $@

define need-python
@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer with venv was found: install one (Debian and" \
	"Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
endef
