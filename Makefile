# BertLab. `make` alone lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Any Python 3.11, 3.12 or 3.13; choose another with `make demo PYTHON=/path/to/python`.
FITS := import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for python in python3 python3.12 python3.13 python3.11; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)

VENV := .venv
PEERS := .venv-peers
READY := $(VENV)/.ready
PEERS_READY := $(PEERS)/.ready
ACCELERATORS := .venv-accelerators
RUN := $(VENV)/bin
# Tests run in a process per core; four need about 12 GB.
PARALLEL := -n auto --maxprocesses 4 --dist worksteal
export TF_CPP_MIN_LOG_LEVEL ?= 3
# Memory in pages of 2 MB on Linux: training is up to a quarter faster (bertlab/common/large_pages.py). Other systems ignore it.
LARGE_PAGES := glibc.malloc.hugetlb=1

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: venv
venv: $(READY)  ## make the environment, from the hash-pinned lock file

$(READY): requirements/lock.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "BertLab needs Python 3.11, 3.12 or 3.13 with venv: install one," \
		"or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python"; exit 1; }
	@echo "Installing into $(VENV) (a few minutes, once)"
	$(PYTHON) -m venv $(VENV)
	$(RUN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock.txt
	$(RUN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(PEERS_READY): requirements/lock.txt requirements/peers.txt pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	# seqeval is built from its source: with what is installed, not with whatever its build would fetch on the day.
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check setuptools_scm==8.3.1
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-build-isolation -r requirements/peers.txt
	@touch $@

$(ACCELERATORS)/.ready: requirements/accelerators.txt pyproject.toml
	@echo "Installing into $(ACCELERATORS) (8 GB, once)"
	$(PYTHON) -m venv $(ACCELERATORS)
	$(ACCELERATORS)/bin/pip install --quiet --disable-pip-version-check -r requirements/accelerators.txt
	$(ACCELERATORS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: accelerators
accelerators: $(ACCELERATORS)/.ready  ## compilers for GPUs and TPUs that are not here, for benchmarks.accelerators

.PHONY: sandbox
sandbox:  ## bubblewrap, without which no stranger's code is run: installed where that is allowed
	@command -v bwrap >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -qq -y bubblewrap >/dev/null; } || \
		echo "bubblewrap is not installed and may not be installed from here: ask for it (apt, dnf or pacman install" \
		"bubblewrap); what needs it is left out"

.PHONY: demo
demo: $(READY) sandbox  ## corpus to fine-tuned BERT and a graded sample class, with reports: about five minutes
	@$(RUN)/bertlab demo --out build/demo $(ARGS)
	@echo && $(RUN)/autograde demo --out build/demo/class

.PHONY: test
test: $(READY) sandbox  ## the quick tests: no peers, no network; 10 minutes on two fast cores, 30 on slow ones
	$(RUN)/python -m pytest -q $(PARALLEL) --durations 10 -m "not slow and not exhaustive and not peers and not browser" $(ARGS)

.PHONY: lint
lint: $(READY)  ## check format, imports between modules, and plain words (scripts/words.toml)
	$(RUN)/ruff check
	$(RUN)/ruff format --check --quiet
	$(RUN)/lint-imports --no-logo
	$(RUN)/python -m scripts.check_words
	@echo "Lines of each folder:"; git ls-files 'bertlab/*.py' 'autograde/*.py' | xargs wc -l | grep -v total \
		| awk '{ split($$2, part, "/"); lines[part[1] "/" (part[3] ? part[2] : "")] += $$1; all += $$1 } \
		END { for (room in lines) printf "%7d  %s\n", lines[room], room; printf "%7d  in all\n", all }' | sort -k2

.PHONY: test-peers
test-peers: $(PEERS_READY)  ## live comparison with transformers, tokenizers, PyTorch and JAX
	$(PEERS)/bin/python -m pytest -q $(PARALLEL) -m "peers" $(ARGS)

.PHONY: test-exhaustive
test-exhaustive: $(READY) sandbox  ## what needs long: every code point, kills and resumes
	$(RUN)/python -m pytest -q $(PARALLEL) -m "(slow or exhaustive) and not peers and not browser" $(ARGS)

.PHONY: chromium
chromium:  ## a browser for test-browser: installed where that is allowed
	@command -v chromium chromium-browser google-chrome >/dev/null || { test "$$(id -u)" = 0 && \
		command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq -y chromium >/dev/null; } || \
		echo "Chromium is not installed and may not be installed from here; what needs it is left out"

.PHONY: test-browser
test-browser: $(READY) sandbox chromium  ## JupyterLab and formgrader in Chromium
	$(RUN)/pip install --quiet --disable-pip-version-check -r requirements/browser.txt
	$(RUN)/python -m pytest -q -m "browser" tests/browser $(ARGS)

# Settings under which floats come out a little differently: as on a processor without AVX-512, as on one without AVX,
# without oneDNN's kernels, and on one thread. What another machine cannot obey it ignores. TensorFlow asks the processor,
# not oneDNN, whether it may multiply in bfloat16, and crashes where oneDNN was told not to use what the processor has.
PORTABLE := avx2 sse42 no-onednn one-thread
AS_avx2 := XLA_FLAGS=--xla_cpu_max_isa=AVX2 ONEDNN_MAX_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell \
	NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL"
AS_sse42 := XLA_FLAGS=--xla_cpu_max_isa=SSE4_2 ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem \
	NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL"
BUT_avx2 := -k "not half_precision_is_close"
BUT_sse42 := $(BUT_avx2)
AS_no-onednn := TF_ENABLE_ONEDNN_OPTS=0
AS_one-thread := TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: test-portable
test-portable: $(PORTABLE:%=test-portable-%)  ## the numerical tests as on other processors, and on one thread

.PHONY: $(PORTABLE:%=test-portable-%)
$(PORTABLE:%=test-portable-%): test-portable-%: $(READY)
	@echo "The numerical tests with $(AS_$*)"
	$(AS_$*) $(RUN)/python -m pytest -q $(PARALLEL) $(BUT_$*) \
		-m "numerical and not exhaustive and not peers and not browser" $(ARGS)

.PHONY: test-all
test-all: test test-exhaustive test-peers test-browser  ## all tests, once

.PHONY: release
release: $(READY)  ## the student edition in course/, from solutions/
	$(RUN)/autograde release $(ARGS)

.PHONY: docs
docs: $(READY)  ## the documentation as static pages in build/docs, with pictures of the demo where it has run
	$(RUN)/pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --quiet
	@echo "build/docs/index.html; to search in it: python -m http.server --directory build/docs"

.PHONY: lab
lab: $(READY)  ## JupyterLab on the course
	@mkdir -p course
	GLIBC_TUNABLES=$${GLIBC_TUNABLES:-$(LARGE_PAGES)} $(RUN)/jupyter lab --notebook-dir=course $(ARGS)

.PHONY: benchmarks
benchmarks: $(PEERS_READY)  ## two of them, parity and tokenizers; benchmarks/README.md lists all
	$(PEERS)/bin/python -m benchmarks.parity
	$(PEERS)/bin/python -m benchmarks.tokenizers.kinds

.PHONY: lock
lock: $(READY)  ## resolve the dependencies anew, for Python 3.11 to 3.13 on every platform
	$(RUN)/pip install --quiet uv
	$(RUN)/uv pip compile pyproject.toml --extra text --extra course --extra test --extra cluster --extra sentencepiece --extra bpe --upgrade \
		--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements/lock.txt

.PHONY: clean
clean:  ## remove what was built; the environments stay
	rm -rf build .import_linter_cache .ruff_cache .pytest_cache
