# make demo   sees a message travel, from a bare machine, in a minute
# make test   proves everything, with a real tmux
# make        lists the rest

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)
GO      ?= go
export CGO_ENABLED := 1

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
USERUNITS ?= $(PREFIX)/lib/systemd/user

PACKAGES ?= ./...
# What a test may say in `make fault` although it passed: its table and its seed.
SHOW ?= \| |seed

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: deps
deps: ## install what is missing on this machine (tmux, a C compiler), saying so first
	@scripts/deps

.PHONY: build
build: ## build bin/arkamsg
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/arkamsg ./cmd/arkamsg

.PHONY: demo
demo: deps build ## show a message travel between three agents on a private tmux server
	@bin/arkamsg demo

.PHONY: check
check: bin/tools/staticcheck ## formatting, go vet, staticcheck
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then printf 'gofmt would change:\n%s\n' "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) -C tools vet ./...
	$(GO) -C bench vet ./...
	bin/tools/staticcheck ./...
	cd tools && ../bin/tools/staticcheck ./...

REDOCLY ?= npx --yes @redocly/cli@2.77.0

.PHONY: openapi-lint
openapi-lint: build ## lint the OpenAPI document that the daemon serves (needs node)
	@bin/arkamsg openapi > bin/openapi.json
	@$(REDOCLY) lint --config internal/httpapi/openapi/redocly.yaml bin/openapi.json

PROMTOOL ?= promtool

.PHONY: metrics-lint
metrics-lint: ## check and test the alert rules (needs promtool: Debian's package prometheus)
	$(PROMTOOL) check rules docs/prometheus/alerts.yaml
	$(PROMTOOL) test rules docs/prometheus/alerts_test.yaml

.PHONY: test
test: deps bin/tools/gate ## run every test with the race detector; a skipped test fails
	@$(GO) -C tools test ./...
	@$(GO) test -race -timeout 10m -json $(PACKAGES) | bin/tools/gate

.PHONY: fault
fault: deps bin/tools/gate ## the long form: kills, pauses and full disks, with a table and the seed that repeats it
	@ARKA_LONG=1 $(GO) test -count=1 -timeout 120m -json $(PACKAGES) | bin/tools/gate -show '$(SHOW)'

.PHONY: bench
bench: ## measure, beside what we measure ourselves against, in one run
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m $(PACKAGES)
	$(GO) -C bench test -run '^$$' -bench . -benchtime 30x -timeout 60m

.PHONY: install
install: build ## install binary, man page, completions and user unit (PREFIX, DESTDIR)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 0755 bin/arkamsg $(DESTDIR)$(BINDIR)/arkamsg
	bin/arkamsg man > $(DESTDIR)$(MANDIR)/man1/arkamsg.1
	bin/arkamsg completion bash > $(DESTDIR)$(BASHDIR)/arkamsg
	bin/arkamsg completion zsh > $(DESTDIR)$(ZSHDIR)/_arkamsg
	bin/arkamsg completion fish > $(DESTDIR)$(FISHDIR)/arkamsg.fish
	@if [ "$$(uname)" = Linux ]; then \
	  install -d $(DESTDIR)$(USERUNITS); \
	  sed 's|@BINDIR@|$(BINDIR)|' deploy/systemd/arkamsg.service > $(DESTDIR)$(USERUNITS)/arkamsg.service; \
	fi

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist

# The tools have a module of their own, so that the program's go.mod names only
# what the program needs.
bin/tools/staticcheck: tools/go.mod tools/go.sum
	$(GO) -C tools build -o ../$@ honnef.co/go/tools/cmd/staticcheck

bin/tools/gate: $(wildcard tools/gate/*.go) tools/go.mod
	$(GO) -C tools build -o ../$@ ./gate
