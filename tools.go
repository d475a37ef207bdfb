//go:build tools

// Package tools keeps the code generator in go.mod at the version that
// `make generate` runs. It is never compiled into anything.
package tools

import (
	_ "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
)
