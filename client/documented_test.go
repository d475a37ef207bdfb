package client_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within are the operations without an example of their own, each with the example
// that shows it and the text by which it does.
var within = map[string]map[string][2]string{
	".": {
		"VMI.Name":              {"VMI", "vm.Name()"},
		"VMI.Namespace":         {"VMI", "vm.Namespace()"},
		"VMI.NodeName":          {"VMI", "vm.NodeName()"},
		"VMI.Phase":             {"VMI", "vm.Phase()"},
		"VMI.ResourceVersion":   {"VMI", "vm.ResourceVersion()"},
		"VMI.UID":               {"VMI", "vm.UID()"},
		"Error.Error":           {"Client_Get", "fmt.Println(err)"},
		"Error.Is":              {"Client_Get", "errors.Is(err, client.ErrNotFound)"},
		"FinalPhaseError.Error": {"FinalPhaseError", "fmt.Println(err)"},
		"ItemError.Error":       {"NewVMI", "fmt.Println(err)"},
		"ItemError.Unwrap":      {"ItemError", "errors.Unwrap(item)"},
		"WaitError.Error":       {"WaitError", "fmt.Println(err)"},
		"WaitError.Unwrap":      {"WaitError", "errors.Is(err, context.DeadlineExceeded)"},
	},
	"kubeconfig": {
		"Config.Anonymous":      {"Config_Credential", "access.Anonymous()"},
		"Config.GoString":       {"Config_String", "%#v"},
		"Config.LogValue":       {"Config_String", `Info("connecting", "to", access)`},
		"Config.Token":          {"Config_AnonymousTransport", "access.Token("},
		"Config.Transport":      {"Config_Authorize", "access.Transport()"},
		"Overrides.Format":      {"Overrides_String", `fmt.Sprintf("%+v", overrides)`},
		"Overrides.GoString":    {"Overrides_String", "overrides.GoString()"},
		"Overrides.LogValue":    {"Overrides_String", "overrides.LogValue()"},
		"Overrides.MarshalJSON": {"Overrides_String", "json.Marshal(overrides)"},
	},
	"../server/servertest": {
		"Request.String": {"Server_Requests", "fmt.Println(r.Verb, r.Status, r)"},
	},
}

// Every function and method of these packages has an example that says what it prints.
func TestEveryOperationHasAnExample(t *testing.T) {
	for dir, within := range within {
		examples, operations := examplesOf(t, dir), operations(t, dir)
		assert.Greater(t, len(operations), 10, dir)
		for _, operation := range operations {
			_, own := examples[strings.Replace(operation, ".", "_", 1)]
			other, listed := within[operation]
			if own {
				assert.False(t, listed, "%s: %s has an example and needs no other", dir, operation)
			} else if assert.True(t, listed, "%s: %s has no example", dir, operation) {
				assert.Contains(t, examples[other[0]].body, other[1], "%s: Example%s is to show %s", dir, other[0], operation)
			}
		}
		for operation := range within {
			assert.Contains(t, operations, operation, dir)
		}
	}
}

// operations are the exported functions of a package, and the methods of its exported
// types as Type.Method.
func operations(t *testing.T, dir string) []string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, file := range glob(t, dir, "*.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, parsed)
	}
	pkg, err := doc.NewFromFiles(fset, files, dir)
	require.NoError(t, err)
	var names []string
	for _, f := range pkg.Funcs {
		names = append(names, f.Name)
	}
	for _, kind := range pkg.Types {
		for _, f := range kind.Funcs {
			names = append(names, f.Name)
		}
		for _, method := range kind.Methods {
			names = append(names, kind.Name+"."+method.Name)
		}
	}
	return names
}

type exampleText struct{ body, output string }

// examplesOf returns a package's examples that say what they print, by what they are of.
func examplesOf(t *testing.T, dir string) map[string]exampleText {
	t.Helper()
	examples := map[string]exampleText{}
	for _, file := range glob(t, dir, "example*_test.go") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		require.NoError(t, err)
		for _, e := range doc.Examples(parsed) {
			if e.Output != "" {
				body := text[fset.Position(e.Code.Pos()).Offset:fset.Position(e.Code.End()).Offset]
				examples[e.Name] = exampleText{string(body), e.Output}
			}
		}
	}
	return examples
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	return files
}
