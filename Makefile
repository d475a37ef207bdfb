SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PORT     ?= 6443
FUZZTIME ?= 30s
SOAK     ?= 10m
FLEETS   ?= 100
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

DOCUMENT := openapi/kubevirt-vmi.yaml
OVERLAYS := openapi/overlays
OVERLAY  := go run ./openapi/internal/overlay
CODEGEN  := go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
LDFLAGS  := -s -w -X github.com/vmikit/vmikit/internal/command.version=$(VERSION)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
REDOCLY     := @redocly/cli@2.77.0

.PHONY: help
help: ## Describe the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Serve the sample on https://localhost:6443 (PORT=… for another port), kubeconfig under ./.vmikit
	go build -ldflags '$(LDFLAGS)' -o bin/vmikit ./cmd/vmikit
	exec bin/vmikit serve --tls --listen localhost:$(PORT) --kubeconfig-out .vmikit/kubeconfig

.PHONY: generate
generate: ## Write the derived documents, gen/ and the page of checks from the document and its overlays
	$(OVERLAY) openapi/kubernetes.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml $(OVERLAYS)/cluster.yaml
	$(OVERLAY) openapi/kubevirt.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml $(OVERLAYS)/cluster.yaml $(OVERLAYS)/kubevirt.yaml
	$(OVERLAY) -inline-parameters openapi/openapi.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml $(OVERLAYS)/cluster.yaml $(OVERLAYS)/kubevirt.yaml $(OVERLAYS)/go.yaml
	go run ./openapi/internal/fields openapi/kubevirt-fields.gen.txt openapi/testdata/kubevirt-crd.json
	$(CODEGEN) -config openapi/generator/models.yaml openapi/openapi.gen.yaml
	$(CODEGEN) -config openapi/generator/client.yaml openapi/openapi.gen.yaml
	$(CODEGEN) -config openapi/generator/server.yaml openapi/openapi.gen.yaml
	$(CODEGEN) -config openapi/generator/cluster.yaml openapi/openapi.gen.yaml
	go run ./cmd/vmikit contract checks -o markdown > contract/CHECKS.md.new
	mv contract/CHECKS.md.new contract/CHECKS.md

.PHONY: api
api: ## Write api/, what go doc says of each public package
	rm -rf api && mkdir api
	@for pkg in $$(go list ./... | grep -vE '/(internal|cmd|examples|gen/vmiclient|gen/[a-z]+server)(/|$$)'); do \
		name=$${pkg#github.com/vmikit/vmikit/}; go doc -all "$$pkg" > "api/$${name//\//.}.txt" || exit 1; done

.PHONY: check
check: drift api-drift ## Everything that is looked at without running tests: drift, format, vet, lint, tidiness
	@test -z "$$(git ls-files '*.go' | grep -v '\.gen\.go$$' | xargs gofmt -l | tee /dev/stderr)" || { echo "run gofmt -w on the files above"; exit 1; }
	go vet ./...
	go mod tidy -diff
	go run $(STATICCHECK) ./...

.PHONY: drift
drift: generate ## Fail when gen/ or a derived document is not what make generate writes
	@git diff --exit-code --stat -- gen openapi contract/CHECKS.md || { echo "what is generated does not match what is committed: run make generate and commit the result with its cause"; exit 1; }

.PHONY: api-drift
api-drift: api ## Fail when a public API is not what api/ says; its diff is what a review looks at
	@git diff --exit-code --stat -- api && test -z "$$(git ls-files --others -- api)" || { echo "what the packages export does not match api/: run make api and commit the result with its cause"; exit 1; }

.PHONY: lint-openapi
lint-openapi: ## Lint the three documents (needs npx)
	npx --yes $(REDOCLY) lint --config openapi/redocly.yaml document kubernetes kubevirt

.PHONY: test
test: ## Test everything in the root module, fuzzing a little; needs nothing but Go
	go test ./...
	$(MAKE) --no-print-directory fuzz FUZZTIME=2s

.PHONY: test-all
test-all: ## Test every module of the repository
	@for mod in $$(git ls-files 'go.mod' '**/go.mod'); do \
		dir=$$(dirname $$mod); echo "== $$dir"; (cd $$dir && go test ./...) || exit 1; done

.PHONY: race
race: ## Test the root module with the race detector, without the largest inputs (needs a C compiler)
	go test -race -short -timeout 20m ./...

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (30s)
	@git grep -E '^func Fuzz' -- '*_test.go' ':!interop' | sed -E 's#^(.*)/[^/]+:func (Fuzz[A-Za-z0-9_]+)\(.*#\1 \2#' | sort -u | \
	while read -r dir target; do echo "fuzz $$dir $$target $(FUZZTIME)"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$dir" || exit 1; done

.PHONY: bench
bench: ## Measure: each goal beside its other side, in one run; FULL=1 has the size of the goals beside the API server and client-go (an hour)
	go test -run '^$$' -bench . -benchmem ./openapi ./server/... ./manifest ./internal/command ./contract/proxy
	cd interop/apiserver && go run ./measure $(if $(FULL),-full)
	cd interop/peers && go run ./measure $(if $(FULL),-full)

.PHONY: soak
soak: ## Churn for SOAK (10m) and watch the heap; run the tester on FLEETS (100) random fleets of each kind; deliver to 1,000 watchers and page 100,000 machines; take 2,000 connections from a watch
	SOAK=$(SOAK) go test -tags soak -run Soak -timeout 0 -v ./server/store
	cd interop/apiserver && go run ./measure -full deliveries fleet
	WATCH_SOAK=2000 go test -run WatchLosesNothing -timeout 0 -v ./client
	CONTRACT_SOAK=$(FLEETS) go test -timeout 0 -v -run 'NoFalseAlarm|Fuzz|Observer' ./contract

.PHONY: vuln
vuln: ## Look for known vulnerabilities
	go run $(GOVULNCHECK) ./...

.PHONY: dist
dist: ## Build static binaries and their checksums under ./dist
	rm -rf dist && mkdir -p dist
	@for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do \
		os=$${target%/*} arch=$${target#*/}; name=vmikit-$$os-$$arch; [ $$os = windows ] && name=$$name.exe; echo "dist/$$name"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags '$(LDFLAGS)' -o dist/$$name ./cmd/vmikit; done
	cd dist && sha256sum vmikit-* > SHA256SUMS
