# `make` builds bin/emberd; `make check` is exactly what CI runs.

# The product needs no C compiler and no C library. Only the race detector does.
export CGO_ENABLED = 0

PREFIX   ?= $(HOME)/.local
FUZZTIME ?= 30s
BENCH    ?= .

# Empty without git or outside a repository; the binary then names itself.
VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  = $(if $(VERSION),-X main.version=$(VERSION))

staticcheck = go tool -modfile=tools/go.mod staticcheck -checks inherit,ST1016

# What a memory fades and comes back by, and the share of its statements, in percent,
# that tests must run: a folder, or the files of one that begin so.
LIFECYCLE = decay/ rekindle/ engine/archive engine/cold engine/lifecycle engine/rekindle engine/summarize
COVERED   = 80

.PHONY: build run test race twin covered fuzz bench proof torture torture-real agents contest mutants eval oracle mcp-conformance lint check compiler install clean

build:
	go build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)" -o bin/emberd ./cmd/emberd

# Runs in the foreground and keeps everything under .run; it prints the line
# that points a second terminal here.
run: build
	bin/emberd serve --home .run

test:
	go test -timeout 10m ./...

race: compiler
	CGO_ENABLED=1 go test -race -timeout 20m -coverprofile=cover.out -coverpkg=./decay,./engine,./rekindle ./...

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

# Every fuzz target for FUZZTIME, one after the other, stopping at the first find.
fuzz:
	@list=$$(go test -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ { name[n++] = $$1; next } { for (i = 0; i < n; i++) print name[i], $$2; n = 0 }' | \
	while read -r name pkg; do \
		echo "$$pkg $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || exit 1; \
	done

# All benchmarks, or those that match: make bench BENCH=Append. The scan of vectors is
# measured beside another library too, which lives in a module of its own.
bench:
	go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m ./...
	cd vectors/vek && go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Longer proofs than the suite has time for: unique words among 100,000 memories,
# before and after kill -9.
proof:
	EMBERD_PROOF=1 go test -v -count=1 -run Proof -timeout 60m ./bench

# Every operation of the log through every crash and disk error of a disk in
# memory, recovery included: some four minutes of processor time on two cores.
# Lives of more than 60 disk operations get four random outcomes of each power cut
# instead of ten, and fewer crashes at every operation of recovery.
torture:
	GOGC=400 EMBERD_TEST_TORTURE=1 go test -v -count=1 -run 'PowerCut|EveryDiskError' -timeout 30m ./stm

# The real binary: kill -9, power cuts on ext4 and XFS (root), errors of the
# kernel (strace), full disks, concurrent clients.
torture-real:
	EMBERD_TEST_KILL_ROUNDS=200 EMBERD_TEST_CUT_ROUNDS=100 EMBERD_TEST_FAULT_ROUNDS=6 EMBERD_TEST_LINEAR_ROUNDS=20 \
	go test -v -count=1 -timeout 60m -run '^(TestKillNine$$|TestPowerCut|TestKernel|TestAnswer|TestFile|TestNoInode|TestConcurrentClients)' ./cmd/emberd

# Two agents, one daemon: 10,000 calls that add, reinforce and verify a few facts.
agents:
	EMBERD_TEST_AGENT_CALLS=10000 go test -v -count=1 -timeout 30m -run '^TestTwoAgentsLearn$$' ./cmd/emberd

# Notes written while a human saves them, and killed or cut at each step.
contest:
	EMBERD_PROOF=1 go test -v -count=1 -timeout 30m -run 'Case51|Case53' ./vault

# Every sync, check and order of the log removed in turn, and every check of what agents
# add; a test must notice each.
mutants:
	EMBERD_TEST_MUTANTS=1 go test -v -count=1 -timeout 60m -run Mutants ./internal/mutants

# Search quality on judged sets: make eval SETS=/folder/with/locomo/dev/and/ir/scifact
eval:
	EMBERD_SETS="$(SETS)" go test -v -count=1 -run Eval -timeout 60m ./bench

# The secret rules against gitleaks, which lives in a module of its own.
oracle:
	cd internal/secret/oracle && go test ./...

# The MCP server from outside, over both transports: the protocol's inspector lists
# and calls every tool of emberd mcp, and its conformance suite runs against /mcp of a
# daemon. Which scenarios fail, and why, is in tools/mcp/expected-failures.yaml. npm
# installs both there as the lock file says, with a Node of their own.
mcp-conformance: build
	@command -v npm >/dev/null || { echo "make: npm is missing: install it to have the MCP server checked from outside" >&2; exit 1; }
	cd tools/mcp && npm ci --loglevel=error
	EMBERD_TEST_CONFORMANCE=1 go test -v -count=1 -timeout 20m -run '^(TestTheInspector|TestConformance)' ./cmd/emberd

lint:
	@files=$$(gofmt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "gofmt -w would change:"; echo "$$files"; exit 1; fi
	go vet ./...
	go fix -diff ./...
	$(staticcheck) ./...

check: compiler lint twin race covered

# The race detector needs cgo on Linux, so a compiler that finds the C headers.
compiler:
	@printf '#include <stdlib.h>\n' | $$(go env CC) -x c -fsyntax-only - 2>/dev/null || { \
		echo "make: the race detector needs a C compiler and its headers: install gcc and libc6-dev, or set CC" >&2; exit 1; }

install: build
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/emberd "$(DESTDIR)$(PREFIX)/bin/emberd"

clean:
	rm -rf bin cover.out coverage.out coverage.html *.prof *.test
