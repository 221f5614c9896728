# make            build the programs into bin/
# make demo       a tool asks for a privileged action, a person approves it, it runs
# make test       every test, with the race detector, and a summary
# make lint       gofumpt, go vet, staticcheck, shellcheck, unit files
# make gen        rewrite what is generated: man pages, CLI reference, package lists
# make bench      the budgets, as ratios against other programs
# make fuzz       each fuzz target for FUZZTIME
# make install    into $(DESTDIR)$(PREFIX); make uninstall takes it away

PREFIX    ?= /usr/local
DESTDIR   ?=
GO        ?= go
BIN       ?= bin
VERSION   ?= $(shell git describe --tags --dirty 2>/dev/null || echo 0.1.0-dev+$$(git rev-parse --short HEAD 2>/dev/null || echo local))
FUZZTIME  ?= 10s

PROGRAMS  := snens snens-audit snens-priv snens-tools
GOBUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
CACHE     := $(CURDIR)/.cache
LINTERS   := $(CACHE)/bin/gofumpt $(CACHE)/bin/staticcheck

.PHONY: all build demo test lint gen bench fuzz install uninstall clean need need-e2e

all: build

build:
	$(GOBUILD) -o $(BIN)/ $(PROGRAMS:%=./cmd/%)

demo: build
	@bash scripts/demo

need:
	@scripts/need -f scripts/packages-build

need-e2e: need
	@scripts/need -f scripts/packages-e2e

# The race detector needs cgo, and cgo needs gcc. The shipped tools are links
# to the built program.
test: need-e2e build
	CGO_ENABLED=1 $(GO) run ./internal/dev/testrun -race -shuffle=on ./...

$(LINTERS): .ci/tools/go.mod .ci/tools/go.sum
	@mkdir -p $(CACHE)/bin
	$(GO) build -C .ci/tools -o $(CACHE)/bin/ mvdan.cc/gofumpt honnef.co/go/tools/cmd/staticcheck
	@touch $(LINTERS)

lint: need $(LINTERS)
	@PATH="$(CACHE)/bin:$$PATH" bash scripts/lint

gen:
	SNENS_GENERATE=1 $(GO) test -count=1 -run '^TestGenerated' . ./cmd/...

bench: build
	@scripts/need -f scripts/packages-bench
	$(GO) run ./internal/dev/bench -bin bin

fuzz:
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" bash scripts/fuzz

# What is built is installed as it is: sudo's PATH need not hold go.
install:
	@for program in $(PROGRAMS); do [ -x $(BIN)/$$program ] || exec $(MAKE) build; done
	@BIN="$(BIN)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" bash scripts/install

uninstall:
	@BIN="$(BIN)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" bash scripts/install remove

clean:
	rm -rf bin .cache coverage*
