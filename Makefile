# `make first` writes the first verse, `make repro` runs the nursery pipeline, `make test` the tests. Each first makes .venv.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Each stage is a process: without compiled modules every one of them compiles a hundred.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: repro first demo api test faults cluster look picture check lock profiles clean

repro: .venv/ready
	espalier repro

# The packages, and a verse by the released model.
first: .venv/ready
	espalier generate '5,5。7,5。'

# A page with the models, for a browser on this machine.
demo: .venv/demo
	espalier demo

.venv/demo: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[demo]'
	touch $@

# The reference of the library, from its docstrings, in build/api/.
api: .venv/ready
	pdoc --docformat google --no-show-source --output-directory build/api espalier
	@echo build/api/index.html

test: .venv/ready
	OMP_NUM_THREADS=1 pytest -n 3 --dist worksteal --durations 10

# All trials of faults and damaged files, of which `make test` runs a sample.
faults: .venv/ready
	FAULTS=all OMP_NUM_THREADS=1 pytest -s tests/faults tests/corpora/readers/test_damage.py

# The nursery as jobs of a Slurm on this machine, in a clone; the lock must be the committed one.
cluster: .venv/ready
	python tests/pipeline/one_node_slurm.py python tests/pipeline/nursery_on_slurm.py

# The report's pages and the demo in headless Chromium: the machine's own, or the one that Playwright downloads.
look: .venv/look
	pytest -W ignore tests/look/pages.py tests/look/judging.py tests/look/demo.py

# README's picture, the demo with a verse by the released model.
picture: .venv/look
	python tests/look/picture.py

.venv/look: .venv/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[look]'
	@command -v chromium || $(BIN)/playwright install chromium >.venv.log 2>&1 || \
		{ echo "espalier: no Chromium; install it (Debian, Ubuntu: apt install chromium) and run make again" >&2; exit 1; }
	touch $@

check: .venv/ready
	ruff check
	ruff format --check
	mypy
	lint-imports

# The environment: exact versions from constraints.txt, the project itself in place.
.venv/ready: pyproject.toml constraints.txt
	@.ci/environment '$(PYTHON)' dev,parse,pipeline,cluster

# Resolve the ranges of pyproject.toml anew; commit the result.
lock:
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,bench,cluster,demo,look,parse,pipeline]'
	.venv-lock/bin/python -m pip freeze --exclude espalier | sed 's/+cpu$$//' > constraints.txt
	rm -rf .venv-lock

# The profiles' copies of the pipeline, which a test compares.
profiles:
	for profile in small paper; do cp dvc.yaml profiles/$$profile/; done

clean:
	rm -rf .venv .scratch
