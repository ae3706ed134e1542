# The commands of this repository. "make" alone lists them.

# Counts and budgets hold for one release of Go. Where another is installed, go
# downloads this one.
export GOTOOLCHAIN = go1.26.8

# Where the C library is built, and where it is installed below.
FFI = bin/ffi
PREFIX = /usr/local

# How long each fuzz target runs: a time, or a number of executions as in 1000x.
FUZZTIME = 20s

# What perf-ir-vs-base compares with; nothing is origin/main, or main.
PERF_IR_BASE =

.DEFAULT_GOAL = help
.PHONY: help perf-ir perf-ir-vs-base perf-ir-update test fuzz bench bench-vs-original bench-floe bench-floe-vs-original check install exactness toolchains unrelated strangers ffi install-ffi bin/perfgate

help: ## print this list
	@echo 'make TARGET [ARGS="flags"], for example: make perf-ir ARGS="-bench Store/size=1024"'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | while IFS='	' read -r name text; do printf '  %-22s %s\n' "$$name" "$$text"; done

perf-ir: bin/perfgate ## count the instructions of ./bench and judge them against baselines.json
	@scripts/need valgrind
	bin/perfgate check $(ARGS) ./bench

perf-ir-vs-base: bin/perfgate ## the same against the merge base with PERF_IR_BASE, measured too
	@scripts/need valgrind
	bin/perfgate check -base '$(PERF_IR_BASE)' $(ARGS) ./bench

perf-ir-update: bin/perfgate ## lower the budgets; to raise: ARGS='-allow-increase -reason "why"'
	@scripts/need valgrind
	bin/perfgate update $(ARGS) ./bench

test: ## run all tests, and those of code with concurrency under the race detector
	@scripts/need valgrind gcc
	go test -timeout 40m $(ARGS) ./...
	go test -race $(ARGS) ./core/... ./perfgate/internal/...

fuzz: ## fuzz every target of core in turn and print executions: make fuzz FUZZTIME=60s
	@scripts/need gcc
	@scripts/fuzz $(FUZZTIME) ./core/...

bench: ## print a table of times on this machine (one by one: go test -bench Store ./bench/...)
	@go run ./scripts/throughput

bench-vs-original: ## build the Rust original with cargo, run both in turn and print ratios of time
	@go build -o bin/versus ./scripts/versus
	@bin/versus

bench-floe: ## print a table of FLOE's throughput and its ratio to bare AES-GCM
	@go run ./scripts/floe

bench-floe-vs-original: ## build fast-floe with cargo, run both in turn and print ratios of time
	@go build -o bin/floe ./scripts/floe
	@bin/floe -versus

check: ## look for what gofmt, vet, staticcheck and go mod find
	@found=$$("$$(go env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$found" ]; then echo "not as gofmt writes it:" $$found >&2; exit 1; fi
	go vet ./...
	GOOS=darwin go vet ./perfgate
	GOOS=windows go vet ./perfgate
	go -C perfgate/testdata/hard vet . ./network
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	go mod verify
	go mod tidy -diff

install: ## install perfgate where go install puts programs
	go install ./perfgate

exactness: ## prove that the counts repeat, under many conditions (long: try ARGS=-short)
	@scripts/need valgrind gcc
	go run ./scripts/exactness $(ARGS)

toolchains: ## prove that counts repeat on every Go release that perfgate knows (some minutes; it fetches them)
	@scripts/need valgrind gcc
	go run ./scripts/toolchains $(ARGS)

unrelated: ## prove that 100 unrelated edits of core turn no benchmark red (some minutes: try ARGS="-builds 1")
	@scripts/need valgrind
	go run ./scripts/unrelated $(ARGS)

strangers: ## count benchmarks of well-known modules twice, through the module proxy (a quarter of an hour: try ARGS="-run gjson")
	@scripts/need valgrind
	go run ./scripts/strangers $(ARGS)

ffi: ## build the C library in bin/ffi, with its header and a pkg-config file for PREFIX
	@scripts/need gcc
	CGO_ENABLED=1 go build -trimpath -buildmode=c-shared -ldflags=-extldflags=-Wl,-soname,libcachekit.so -o '$(FFI)/libcachekit.so' ./core/cabi
	@rm '$(FFI)/libcachekit.h' # cgo's, which has the types of Go besides
	@cp core/cabi/include/cachekit.h '$(FFI)'
	@sed 's|@PREFIX@|$(PREFIX)|' core/cabi/cachekit.pc.in >'$(FFI)/cachekit.pc'

install-ffi: ffi ## install the C library: make install-ffi PREFIX=/usr/local, and DESTDIR= to stage it
	install -d '$(DESTDIR)$(PREFIX)/lib/pkgconfig' '$(DESTDIR)$(PREFIX)/include'
	install -m 755 '$(FFI)/libcachekit.so' '$(DESTDIR)$(PREFIX)/lib'
	install -m 644 '$(FFI)/cachekit.pc' '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	install -m 644 '$(FFI)/cachekit.h' '$(DESTDIR)$(PREFIX)/include'

bin/perfgate:
	@go build -o $@ ./perfgate
