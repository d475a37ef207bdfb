SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

DOCUMENT := openapi/kubevirt-vmi.yaml
OVERLAYS := openapi/overlays
OVERLAY  := go run ./openapi/internal/overlay
CODEGEN  := go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen

.PHONY: help
help: ## Describe the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: generate
generate: ## Write the derived documents and gen/ from the document and its overlays
	$(OVERLAY) openapi/kubernetes.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml
	$(OVERLAY) openapi/kubevirt.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml $(OVERLAYS)/kubevirt.yaml
	$(OVERLAY) -inline-parameters openapi/openapi.gen.yaml $(DOCUMENT) $(OVERLAYS)/kubernetes.yaml $(OVERLAYS)/kubevirt.yaml $(OVERLAYS)/go.yaml
	$(CODEGEN) -config openapi/generator/models.yaml openapi/openapi.gen.yaml
	$(CODEGEN) -config openapi/generator/client.yaml openapi/openapi.gen.yaml
	$(CODEGEN) -config openapi/generator/server.yaml openapi/openapi.gen.yaml
