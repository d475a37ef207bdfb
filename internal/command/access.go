package command

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
)

// readTokens reads the file of --token-auth-file, and the token in its first line.
func readTokens(path string) (tokens *server.Tokens, first string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("--token-auth-file: %w", err)
	}
	tokens, err = server.ReadTokens(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("--token-auth-file %s: %w", path, err)
	}
	record, err := csv.NewReader(bytes.NewReader(data)).Read()
	if errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("--token-auth-file %s: there is no token in it, so nobody could get in", path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("--token-auth-file %s: the first line cannot be read", path)
	}
	return tokens, record[0], nil
}

// readPolicy reads the manifests of --rbac.
func readPolicy(ctx context.Context, paths []string, stdin io.Reader) (*rbac.Policy, error) {
	var objects []*manifest.Object
	var texts [][]byte
	for object, err := range readAhead(ctx, manifest.Walk(paths, stdin)) {
		if err != nil {
			return nil, fmt.Errorf("--rbac: %w", err)
		}
		objects, texts = append(objects, object), append(texts, object.JSON)
	}
	policy, err := rbac.New(texts...)
	if e, ok := errors.AsType[*rbac.ObjectError](err); ok && e.Index < len(objects) {
		object := objects[e.Index]
		return nil, fmt.Errorf("--rbac: %s:%d: %w", object.File, object.LineOf(fieldPointer(e.Field)), err)
	}
	if err != nil {
		return nil, fmt.Errorf("--rbac: %w", err)
	}
	return policy, nil
}

// fieldPointer turns the path of a field, as in rules[0].verbs, into a JSON pointer.
func fieldPointer(field string) string {
	if field == "" {
		return ""
	}
	var b strings.Builder
	for part := range strings.SplitSeq(field, ".") {
		name, rest, _ := strings.Cut(part, "[")
		b.WriteString("/" + name)
		for index := range strings.SplitSeq(rest, "[") {
			if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil {
				b.WriteString("/" + strconv.Itoa(n))
			}
		}
	}
	return b.String()
}
