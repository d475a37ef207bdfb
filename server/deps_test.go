package server_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever embeds the server gets these modules, and no others.
func TestImports(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit",
		// The router and what it brings.
		"github.com/labstack/echo/v4", "github.com/labstack/gommon", "github.com/mattn/go-colorable", "github.com/mattn/go-isatty",
		"github.com/valyala/bytebufferpool", "github.com/valyala/fasttemplate", "golang.org/x/crypto", "golang.org/x/net",
		"golang.org/x/sys", "golang.org/x/text",
		// Binding of parameters in generated code, and request ids.
		"github.com/oapi-codegen/runtime", "github.com/apapsch/go-jsonmerge/v2", "github.com/google/uuid",
		// The document at run time.
		"github.com/getkin/kin-openapi", "github.com/go-openapi/jsonpointer", "github.com/go-openapi/swag/jsonname",
		"github.com/go-json-experiment/json", "github.com/santhosh-tekuri/jsonschema/v6", "go.yaml.in/yaml/v3", "go.yaml.in/yaml/v4",
		// JSON Patch and JSON Merge Patch, and bodies in YAML.
		"github.com/evanphx/json-patch/v5", "go.yaml.in/yaml/v2",
		// Bodies in protobuf: the wire format alone.
		"google.golang.org/protobuf",
		// Large answers, compressed at a fraction of the standard library's CPU.
		"github.com/klauspost/compress",
		// The store's ordered map.
		"github.com/tidwall/btree",
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, m := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))) {
		require.Contains(t, allowed, m, "package server imports a module that is not in its budget")
	}
}
