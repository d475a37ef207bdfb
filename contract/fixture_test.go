package contract_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// asFixtures has the fleet for what is known to be there.
func asFixtures(objects []mutant.Object) func(context.Context) ([]contract.Fixture, error) {
	return func(context.Context) ([]contract.Fixture, error) {
		var fixtures []contract.Fixture
		for _, o := range objects {
			fixtures = append(fixtures, contract.Fixture{Object: []byte(o.Body)})
		}
		return fixtures, nil
	}
}

// What is known to be there and is hidden is noticed, wherever it is hidden.
func TestFixtures(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*mutant.Server)
		fails []string
	}{
		"right": {func(*mutant.Server) {}, nil},
		"hidden everywhere": {func(s *mutant.Server) {
			s.Objects = s.Objects[1:]
		}, []string{"fixture.listed", "fixture.get"}},
		"hidden in every list": {func(s *mutant.Server) {
			in := s.InNamespace
			s.InNamespace = func(namespace string, o mutant.Object) bool { return in(namespace, o) && o.Name != "vm03" }
		}, []string{"fixture.listed"}},
		"hidden in the list of its namespace": {func(s *mutant.Server) {
			in := s.InNamespace
			s.InNamespace = func(namespace string, o mutant.Object) bool {
				return in(namespace, o) && (namespace != "test" || o.Name != "alone")
			}
		}, []string{"namespace.union", "fixture.listed"}},
		"a label is gone": {func(s *mutant.Server) {
			o := &s.Objects[1]
			*o = o.Edited(`,"tier":"gold"`, ``)
			delete(o.Labels, "tier")
		}, []string{"fixture.get"}},
		"the spec is another":            {everywhere("vm01", `"cores":2`, `"cores":3`), []string{"fixture.get"}},
		"the same amount in other words": {everywhere("vm01", `"guest":"1Gi"`, `"guest":"1024Mi"`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mutant.New(mutant.Fleet())
			c.fault(s)
			target := targetOf(t, s)
			target.Fixtures = asFixtures(mutant.Fleet())
			report := run(t, target)
			assert.Equal(t, c.fails, with(report, contract.Fail), text(t, report))
			if name == "the spec is another" {
				assert.Contains(t, text(t, report), "- /spec/domain/cpu/cores: 2")
			}
		})
	}
}

func TestFixturesIn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	var list []string
	for _, o := range mutant.Fleet() {
		list = append(list, o.Body)
	}
	good := write("vms.yaml", `{"apiVersion":"v1","kind":"List","items":[`+strings.Join(list, ",")+"]}\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: prod}\n")
	target := targetOf(t, mutant.New(mutant.Fleet()))
	target.Fixtures = contract.FixturesIn(good)
	report := run(t, target, contract.WithOnly("fixture"))
	assert.Equal(t, []string{"fixture.listed", "fixture.get"}, with(report, contract.Pass), text(t, report))
	assert.Contains(t, text(t, report), "20 fixtures in 4 lists")

	s := mutant.New(mutant.Fleet()[1:])
	target = targetOf(t, s)
	target.Fixtures = contract.FixturesIn(good)
	assert.Contains(t, text(t, run(t, target)), "an object of "+good+":1")

	for _, c := range []struct {
		fixtures func(context.Context) ([]contract.Fixture, error)
		want     string
	}{
		{contract.FixturesIn(filepath.Join(dir, "nosuch.yaml")), "nosuch.yaml"},
		{contract.FixturesIn(write("broken.yaml", "a: [")), "broken.yaml:1"},
		{contract.FixturesIn(write("other.yaml", "kind: Pod\napiVersion: v1\nmetadata: {name: x}\n")), "no VirtualMachineInstance"},
		{contract.FixturesIn(write("nameless.yaml", "kind: VirtualMachineInstance\napiVersion: kubevirt.io/v1\n")), "nameless.yaml:1: no JSON object with a metadata.name"},
		{func(context.Context) ([]contract.Fixture, error) { return nil, errors.New("kubectl apply failed") }, "kubectl apply failed"},
	} {
		target.Fixtures = c.fixtures
		report, err := contract.Run(t.Context(), target)
		require.ErrorContains(t, err, c.want)
		assert.Nil(t, report)
	}
	target.Fixtures, target.Namespace = contract.FixturesIn(good), "elsewhere"
	_, err := contract.Run(t.Context(), target)
	assert.ErrorContains(t, err, "none of them is in the namespace of the run")
}
