# Newcomers need two commands: `make run` and `make test`.

CARGO ?= cargo
# A copy of MAKE: with `make -n`, make still runs every recipe line that contains the variable MAKE itself.
MAKE_PROGRAM := $(MAKE)
# Cargo's target directory.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Builds $(TARGET)/debug/tenterhook for tests in other languages.
BUILD_PROGRAM = $(CARGO) build --locked -p tenterhook
# Real clients are installed here, outside the repository.
CLIENTS ?= $(HOME)/.cache/tenterhook-clients

.DEFAULT_GOAL := help
.PHONY: help run build test test-rust lint generate picture bench bench-peers score fuzz soak e2e drift tools
.PHONY: sdk-typescript sdk-typescript-bench sdk-typescript-e2e
.PHONY: web web-test web-e2e web-shots web-bench
.PHONY: dist dist-test dist-reproducible source-test
.PHONY: docs api-e2e
.PHONY: sdk-python sdk-python-e2e sdk-python-bench sdk-python-generate

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 28

run: ## Build quickly, then watch a guarded agent at work (in a temporary directory; `q` or Ctrl-C ends it)
	@CARGO="$(CARGO)" MAKE="$(MAKE_PROGRAM)" sh packaging/quick-build.sh "$(TARGET)"
	@env -i PATH="$$PATH" TERM="$$TERM" $${NO_COLOR+NO_COLOR="$$NO_COLOR"} \
		HOME=/nonexistent "$(TARGET)/quick/tenterhook" demo

build: web ## Build the optimised program, target/release/tenterhook
	$(CARGO) build --release --locked -p tenterhook

# clippy compiles the code as well. Tests are built through it, so that the workspace is compiled only once.
LINTED := --config 'build.rustc-workspace-wrapper="clippy-driver"'
export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
# Tests that cannot run on this machine are written to this file.
export TENTERHOOK_SKIPPED_TESTS := $(abspath $(TARGET))/skipped-tests.txt

# `test-rust` has already built the program. Building its package alone would select other features and
# compile again.
test: format-check dependency-check test-rust ## Formatting, lints and every test, in a few minutes
	@$(MAKE) --no-print-directory -j2 BUILD_PROGRAM=: sdk-typescript sdk-python web-test
	@sh tests/print-skipped.sh "$(TENTERHOOK_SKIPPED_TESTS)"

# Many tests wait for a deadline or for the disk, so three tests run per processor. With two per processor,
# two fifths of the processor time was unused.
test-rust: ## Lints and tests of the crates
	@sh tests/install-tools.sh
	@sh tests/install-fleet-tools.sh "$(TARGET)/fleet-tools" >/dev/null || true
	@mkdir -p "$(TARGET)" && rm -f "$(TENTERHOOK_SKIPPED_TESTS)"
	@if $(CARGO) nextest --version >/dev/null 2>&1; \
		then NEXTEST_TEST_THREADS="$${NEXTEST_TEST_THREADS:-$$(($$(getconf _NPROCESSORS_ONLN) * 3))}" \
			$(CARGO) nextest run $(LINTED) --locked --workspace -E 'not package(tenterhook-e2e)'; \
		else $(CARGO) test $(LINTED) --locked --workspace --exclude tenterhook-e2e --lib --bins --tests; fi
	$(CARGO) test $(LINTED) --locked --workspace --exclude tenterhook-e2e --doc --quiet

lint: format-check dependency-check ## Formatting, lints, and what dependencies may be
	$(CARGO) clippy --locked --workspace --all-targets --quiet -- -D warnings

.PHONY: format-check dependency-check
format-check:
	$(CARGO) fmt --all --check

dependency-check:
	@CARGO="$(CARGO)" sh tests/check-dependencies.sh

generate: ## Write compiled rule packs, generated pages and schemas again
	TENTERHOOK_GENERATE=1 $(CARGO) test --locked -p tenterhook-baseline --lib --quiet generated_packs
	TENTERHOOK_GENERATE=1 $(CARGO) test --locked -p tenterhook-proto --test suite --quiet generated
	TENTERHOOK_GENERATE=1 $(CARGO) test --locked -p tenterhook --test suite --quiet generated::
	TENTERHOOK_GENERATE=1 $(CARGO) test --locked -p tenterhook-fleet --bins --quiet generated
	node web/scripts/api.mjs
	TENTERHOOK_GENERATE=1 $(CARGO) test --locked -p tenterhook-tui --lib --quiet generated

picture: ## Make the README's pictures again, from a real run of the demo
	@CARGO="$(CARGO)" MAKE="$(MAKE_PROGRAM)" sh packaging/quick-build.sh "$(TARGET)"
	python3 docs/assets/picture.py "$(TARGET)/quick/tenterhook" docs/assets

bench: build ## Measure; the last raw run of each kind is kept in benches/runs, the others in its summary.jsonl
	$(CARGO) run --release --locked -p tenterhook-benches

# Keeps only the latest of the runs that other programs wrote.
REPLACE_RUNS = $(CARGO) run --quiet --release --locked -p tenterhook-benches -- tidy

# nah 1.x is not on a registry. NAH_SOURCE names a clone of manuelschipper/nah; without it, nah 1.x is left
# out.
bench-peers: export NAH_SOURCE := $(NAH_SOURCE)
bench-peers: build ## Compare with other guards (installed from their registries): time of a hook call, verdicts on a corpus
	python3 benches/peers/compare.py install "$(CLIENTS)/peers"
	python3 benches/peers/compare.py run "$(CLIENTS)/peers" --tenterhook "$(TARGET)/release/tenterhook" \
		--corpus tests/corpus/held-out.jsonl --out "benches/runs/$$(date -u +%Y-%m-%dT%H-%M-%SZ)-peers.json"
	$(REPLACE_RUNS)

# Files and directories that `make score` reads; see `python3 benches/score/score.py --help`. PEERS=1 also
# scores the other guards.
CORPORA ?= $(wildcard tests/corpus/held-out*.jsonl)
PEERS ?=

score: ## Score the rules on corpora: dangerous calls stopped, false alarms (CORPORA="all.cm …", PEERS=1 for other guards)
	$(CARGO) build --release --locked -p tenterhook
	@if [ -n "$(PEERS)" ]; then python3 benches/peers/compare.py install "$(CLIENTS)/peers"; fi
	TENTERHOOK_COMMIT="$$(git rev-parse --short HEAD)" python3 benches/score/score.py --tenterhook "$(TARGET)/release/tenterhook" \
		$(if $(PEERS),--peers "$(CLIENTS)/peers") --out "$(TARGET)/score.json" $(CORPORA)

# Duration, target and random seed of `make fuzz`.
SECONDS ?= 300
ONLY ?= all
SEED ?= 1

fuzz: ## Fuzz the parsers with generated input (SECONDS=3600 for an hour)
	$(CARGO) test --release --locked -p tenterhook-policy --test scaling
	$(CARGO) run --release --locked -p tenterhook-fuzz -- $(SECONDS) $(ONLY) $(SEED)

# Where `nats-server` for tests is installed.
FLEET_TOOLS := $(abspath $(TARGET))/fleet-tools
NATS_SERVER := $(FLEET_TOOLS)/nats-server-2.15.1
# Number of machines of `make fleet` and `make fleet-test`, and of records of each machine in the test.
MACHINES ?= 50
RECORDS ?= 10000

.PHONY: fleet fleet-test bench-fleet
fleet: ## Show a fleet: three NATS servers, PostgreSQL, two fleet servers, fifty machines (MACHINES=10; Ctrl-C ends it)
	@sh tests/install-fleet-tools.sh "$(FLEET_TOOLS)" >/dev/null
	@$(CARGO) build --profile quick --locked -p tenterhook -p tenterhook-fleet -p tenterhook-fleet-cluster
	@"$(TARGET)/quick/tenterhook-fleet-cluster" show --machines "$(MACHINES)" --nats-server "$(NATS_SERVER)"

fleet-test: ## Test the fleet with real engines, with network partitions (as root), and with fifty machines while parts are killed
	@sh tests/install-fleet-tools.sh "$(FLEET_TOOLS)" >/dev/null
	$(CARGO) build --locked -p tenterhook
	$(CARGO) nextest run --locked -p tenterhook-fleet -p tenterhook-fleet-server -p tenterhook-fleet-protocol \
		-p tenterhook-fleet-machine -p tenterhook-fleet-cluster --test-threads 3 --no-fail-fast --run-ignored all
	$(CARGO) build --release --locked -p tenterhook -p tenterhook-fleet -p tenterhook-fleet-cluster
	"$(TARGET)/release/tenterhook-fleet-cluster" faults --machines "$(MACHINES)" --records "$(RECORDS)" \
		--nats-server "$(NATS_SERVER)"

# The memory run takes ten minutes. Raw runs are kept in benches/runs.
FLEET_BENCH = "$(TARGET)/release/tenterhook-fleet-benches" --nats-server "$(NATS_SERVER)" --programs "$(TARGET)/release"

bench-fleet: ## Measure a fleet: acknowledgements with 5,000 machines, batches per second, memory, hooks with a dead message bus
	@sh tests/install-fleet-tools.sh "$(FLEET_TOOLS)" >/dev/null
	$(CARGO) build --release --locked -p tenterhook -p tenterhook-fleet -p tenterhook-fleet-benches
	$(FLEET_BENCH) in-flight
	$(FLEET_BENCH) open-loop --seconds 600 --warm-up 60
	python3 benches/fleet/black_hole.py --tenterhook "$(TARGET)/release/tenterhook" \
		--fleet "$(TARGET)/release/tenterhook-fleet" --out "benches/runs/$$(date -u +%Y-%m-%dT%H-%M-%SZ)-fleet-black-hole.json"
	$(REPLACE_RUNS)

# Number of rounds in which `make soak` kills processes and damages files.
ROUNDS ?= 500

soak: ## Kill writers and daemons, tear files, crowd the socket, again and again (ROUNDS=500)
	TENTERHOOK_SOAK=$(ROUNDS) $(CARGO) test --locked -p tenterhook-ledger --test suite -- \
		--nocapture --test-threads 1 survives_kill_9 torn_writes::
	TENTERHOOK_SOAK=$(ROUNDS) $(CARGO) test --locked -p tenterhook-undo --test suite -- \
		--nocapture --test-threads 1 a_process_killed large::
	TENTERHOOK_SOAK=$(ROUNDS) $(CARGO) test --locked -p tenterhook --test suite -- \
		--nocapture --test-threads 1 daemon_faults:: long_running::

# LLxprt Code is not on npm: LLXPRT_SOURCE names a clone of vybestack/llxprt-code. If a client cannot be
# installed, its tests are skipped and the client is named.
e2e: export LLXPRT_SOURCE := $(LLXPRT_SOURCE)
e2e: ## Run real clients against a scripted model, headless, in throw-away homes
	@sh tests/install-tools.sh bwrap openssl
	$(CARGO) build --locked -p tenterhook
	clients="$$(sh tests/e2e/install-client.sh all pinned "$(CLIENTS)")" && \
	TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" TENTERHOOK_E2E_CLIENTS="$$clients" \
		$(CARGO) nextest run --locked -p tenterhook-e2e --no-fail-fast \
		-E "$$(sh tests/e2e/skipped-clients.sh "$$clients")"

# Clients that `make drift` compares: `CLIENT` or `CLIENT@VERSION`. If it is empty, all clients are compared.
DRIFT ?=

drift: ## Run the newest published clients, and print what changed against the pinned ones (DRIFT="codex gemini@0.60.0")
	$(CARGO) build --locked -p tenterhook -p tenterhook-e2e --bins
	python3 tests/e2e/drift.py "$(CLIENTS)" "$(abspath $(TARGET))/debug/run-scenarios" \
		"$(abspath $(TARGET))/debug/tenterhook" "$(abspath $(TARGET))/drift" $(DRIFT)

# The Python SDK's tools are installed here.
SDK_PYTHON := $(abspath $(TARGET))/sdk-python

sdk-python: ## Lint, types and tests of the Python SDK, against a real daemon; its packages
	$(BUILD_PROGRAM)
	TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" sh sdk/python/tools/check.sh "$(SDK_PYTHON)"

e2e: sdk-python-e2e
sdk-python-e2e: ## Run the real Claude Agent SDK for Python with our hooks
	$(CARGO) build --locked -p tenterhook -p tenterhook-model-server
	TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" \
	TENTERHOOK_E2E_MODEL_SERVER="$(abspath $(TARGET))/debug/tenterhook-model-server" \
	TENTERHOOK_E2E_CLAUDE="$$(sh tests/e2e/install-client.sh claude-code pinned "$(CLIENTS)")" \
		sh sdk/python/tools/e2e.sh "$(SDK_PYTHON)"

sdk-python-bench: build ## Measure a hook round trip in Python; raw runs are kept in benches/runs
	TENTERHOOK_BIN="$(abspath $(TARGET))/release/tenterhook" \
		"$$(sh sdk/python/tools/venv.sh "$(SDK_PYTHON)")/python" sdk/python/bench/roundtrip.py
	$(REPLACE_RUNS)

sdk-python-generate: ## Write the Python SDK's stubs, signatures and reference again
	"$$(sh sdk/python/tools/venv.sh "$(SDK_PYTHON)")/python" sdk/python/tools/generate.py

tools: ## Install the programs that tests and lints need: packages of Debian, and cargo-deny
	@sh tests/install-tools.sh
	$(CARGO) install --locked cargo-deny

sdk-typescript: sdk/typescript/node_modules ## The TypeScript SDK: lints, types, generated files, tests, the packed package
	$(BUILD_PROGRAM)
	cd sdk/typescript && npm run --silent lint && npm run --silent types && npm run --silent build \
		&& npm run --silent check-generated
	cd sdk/typescript && TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" npm run --silent test
	cd sdk/typescript && TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" npm run --silent check-pack

sdk-typescript-bench: build sdk/typescript/node_modules ## Measure a hook round trip in TypeScript; raw runs are kept in benches/runs
	cd sdk/typescript && TENTERHOOK_BIN="$(abspath $(TARGET))/release/tenterhook" npm run --silent bench
	$(REPLACE_RUNS)

# `make e2e` also runs real clients with the TypeScript SDK.
e2e: sdk-typescript-e2e

sdk-typescript-e2e: sdk/typescript/node_modules ## Run the real Claude Agent SDK with the TypeScript SDK
	$(CARGO) build --locked -p tenterhook -p tenterhook-model-server
	TENTERHOOK_BIN="$(abspath $(TARGET))/debug/tenterhook" \
	TENTERHOOK_E2E_MODEL_SERVER="$(abspath $(TARGET))/debug/tenterhook-model-server" \
	TENTERHOOK_E2E_CLAUDE="$$(sh tests/e2e/install-client.sh claude-code pinned "$(CLIENTS)")" \
		sh sdk/typescript/e2e/run.sh "$(CLIENTS)"

sdk/typescript/node_modules: sdk/typescript/package-lock.json
	cd sdk/typescript && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

web: ## Build the dashboard, which `make build` puts into the program (needs npm)
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory web/dist/index.html; \
		else echo "npm is not installed: the program is built without its dashboard"; fi

web/dist/index.html: web/node_modules $(shell find web/src web/public web/*.* -type f)
	cd web && npm run --silent build

web-test: web/dist/index.html ## The dashboard: lints, types, generated files, tests, its size, a look at every page
	$(BUILD_PROGRAM)
	cd web && npm run --silent lint && npm run --silent types && npm run --silent check-generated \
		&& npm run --silent test && npm run --silent size
	sh web/e2e/run.sh "$(abspath $(TARGET))/debug/tenterhook" smoke

e2e: web-e2e
web-e2e: web/dist/index.html ## Drive every page of the dashboard in a browser, against a real daemon
	$(CARGO) build --locked -p tenterhook -p tenterhook-fleet
	nats="$$(sh tests/install-fleet-tools.sh "$(TARGET)/fleet-tools")" \
		&& TENTERHOOK_FLEET_BIN="$(abspath $(TARGET))/debug/tenterhook-fleet" TENTERHOOK_NATS_SERVER="$$(realpath "$$nats")" \
		sh web/e2e/run.sh "$(abspath $(TARGET))/debug/tenterhook" all

web-shots: web/dist/index.html ## Take the pictures of the dashboard again, for docs/assets
	$(CARGO) build --locked -p tenterhook -p tenterhook-fleet
	nats="$$(sh tests/install-fleet-tools.sh "$(TARGET)/fleet-tools")" \
		&& TENTERHOOK_FLEET_BIN="$(abspath $(TARGET))/debug/tenterhook-fleet" TENTERHOOK_NATS_SERVER="$$(realpath "$$nats")" \
		SHOTS=docs sh web/e2e/run.sh "$(abspath $(TARGET))/debug/tenterhook" shots

web-bench: build ## Measure the dashboard in a browser; raw runs are kept in benches/runs
	$(CARGO) build --release --locked -p tenterhook-benches
	CHROMIUM="$$(sh web/e2e/install-chromium.sh)" TENTERHOOK_BIN="$(abspath $(TARGET))/release/tenterhook" \
		TENTERHOOK_BENCHES="$(abspath $(TARGET))/release/tenterhook-benches" node web/e2e/bench.mjs > "benches/runs/$$(date -u +%Y-%m-%dT%H-%M-%SZ)-dashboard.json"
	$(REPLACE_RUNS)

# Uses npm's cache if it contains all packages, so that no network is needed.
web/node_modules: web/package-lock.json
	cd web && { npm ci --offline --no-audit --no-fund --loglevel=silent \
		|| npm ci --no-audit --no-fund --loglevel=error; }
	@touch $@

# Schemathesis is installed here.
API_TEST := $(abspath $(TARGET))/schemathesis

e2e: api-e2e
api-e2e: ## Send generated requests to a real daemon, and check each response against the OpenAPI document
	$(CARGO) build --locked -p tenterhook
	sh tests/api/venv.sh "$(API_TEST)"
	python3 tests/api/run.py "$(abspath $(TARGET))/debug/tenterhook" "$(API_TEST)"

# The site generator is built once and kept here.
MDBOOK_VERSION := 0.5.4
MDBOOK_ROOT := $(abspath $(TARGET))/tools/mdbook-$(MDBOOK_VERSION)

docs: $(MDBOOK_ROOT)/bin/mdbook ## Build the documentation as a site with search, into target/book; fails on a broken link
	rm -rf "$(abspath $(TARGET))/book"
	"$<" build docs --dest-dir "$(abspath $(TARGET))/book"
	python3 docs/assets/site.py docs "$(abspath $(TARGET))/book"

$(MDBOOK_ROOT)/bin/mdbook:
	$(CARGO) install mdbook --locked --version $(MDBOOK_VERSION) --no-default-features --features search --root "$(MDBOOK_ROOT)"

# Builds the packages of a release; docs/RELEASING.md describes the variables.
dist: web ## Build the packages of a release into target/packages (signed; see docs/RELEASING.md)
	CARGO="$(CARGO)" sh packaging/dist.sh

dist-test: ## Install each package of target/packages on a bare root without Rust, and use it there (needs root)
	$(CARGO) build --locked -p tenterhook-model-server
	CLIENTS="$(CLIENTS)" python3 packaging/test/run.py "$(abspath $(TARGET))/packages"

source-test: ## Clone, `make run`, guard a real Claude Code, see a denial, remove everything; prints a transcript
	$(CARGO) build --locked -p tenterhook-model-server
	sh packaging/test/from-source.sh "$(CURDIR)" \
		"$$(sh tests/e2e/install-client.sh claude-code pinned "$(CLIENTS)")" \
		"$(abspath $(TARGET))/debug/tenterhook-model-server"

dist-reproducible: web ## Build twice in different directories and compare the bytes
	CARGO="$(CARGO)" sh packaging/reproducible.sh
