# Each target makes .venv by itself; PYTHON chooses the interpreter it is made from.
PYTHON ?= python3
PORT ?= 8000
PY := .venv/bin/python
export NO_MKDOCS_2_WARNING := 1
export PATH := $(CURDIR)/.venv/bin:$(PATH)

ifneq ($(words $(CURDIR)),1)
$(error the path "$(CURDIR)" has a space, and there torch cannot link what it compiles: move the book to one without)
endif

.PHONY: serve page test check site zip screenshots lighthouse approve drift compare edition citations lint format bench clean

serve: .venv/ready ## build the book, serve it at http://127.0.0.1:8000, rebuild on each edit; PORT=8001 for another port
	@$(PY) -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null || \
		{ echo "port $(PORT) is taken; is the book served already? Another port: make serve PORT=8001" >&2; exit 1; }
	$(PY) -m mkdocs serve --livereload --dev-addr 127.0.0.1:$(PORT)

page: .venv/ready ## everything that is wrong with one page, in seconds: make page PAGE=docs/tensor.md
	@$(PY) -m inside_torch.tools.page $(PAGE)

test: export INSIDE_TORCH_BOOK := $(CURDIR)/.cache/tested
test: .venv/ready lint ## run every check; the book is built first, and is what the tests look at
	$(PY) -m mkdocs build --strict --site-dir $(INSIDE_TORCH_BOOK)
	$(PY) -m pytest --numprocesses=3 --dist=worksteal --codeblocks -m "not quiet" tests examples README.md
	$(PY) -m pytest -m quiet tests

check: .venv/ready ## check an exercise: make check EX=strides, with FILE=mine.py another file than its start.py
	@$(PY) examples/exercises/check.py "$(FILE)" "$(EX)" || test -t 1 # on a terminal, make adds no error of its own

site: .venv/ready ## a clean, strict build into site/
	$(PY) -m mkdocs build --strict --clean

zip: site ## the same, as one file that opens from a folder without a network
	@echo "site/inside-pytorch.zip"

screenshots: site ## every page at 360 and 1280 px, light and dark, in .cache/screenshots
	$(PY) -m inside_torch.tools.screenshots

lighthouse: site ## Lighthouse's verdict on every page; needs npm, or lighthouse on the PATH
	$(PY) -m inside_torch.tools.lighthouse

approve: .venv/ready ## take the outputs as they are now for the right ones; prints what changed
	$(PY) -m inside_torch.tools.approve

drift: .venv/ready ## report what another torch changes: make drift TORCH_PYTHON=/path/to/python > report.md
	@$(PY) -m inside_torch.tools.drift $(TORCH_PYTHON)

compare: .venv/ready ## record what differs with another torch: make compare TORCH_PYTHON=/path/to/python > report.md
	@$(PY) -m inside_torch.tools.compare $(TORCH_PYTHON)

edition: .venv/ready ## turn the book to a torch that is recorded: make edition TORCH=2.14.1
	@$(PY) -m inside_torch.tools.move $(TORCH)

citations: .venv/ready ## list each citation and its proof; with TORCH_PYTHON=/path/to/python, what another torch moves
	@$(PY) -m inside_torch.tools.citations $(TORCH_PYTHON)

lint: .venv/ready ## style of the code, and the workflows
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	.venv/bin/zizmor --offline --quiet --no-config --strict-collection --persona auditor .github
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@command -v actionlint >/dev/null || echo "actionlint is not installed: expressions in the workflows were not checked"
	@! command -v actionlint >/dev/null || actionlint

format: .venv/ready ## put the code into the form that lint asks for
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: .venv/ready ## how fast the book builds, as ratios
	$(PY) -m inside_torch.tools.bench

clean: ## forget every output and the site; .venv stays
	rm -rf .cache site

.venv/ready: pyproject.toml inside_torch/machine.sh
	@sh inside_torch/machine.sh $(PYTHON)
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	$(PY) -m pip install --group dev
	touch .venv/ready
