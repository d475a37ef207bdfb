package apiserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// FleetOptions say how many machines there are to be.
type FleetOptions struct {
	// Machines is how many are made, Namespaces over how many namespaces they
	// spread, unevenly. Every namespace gets a machine when there are enough.
	Machines, Namespaces int
	// Seed decides about kinds, labels and places: the same seed makes the same
	// fleet, but for what the server adds.
	Seed uint64
}

// Fleet is the machines that were made together. Nobody else should change them.
type Fleet struct {
	client    dynamic.NamespaceableResourceInterface
	random    *rand.Rand
	manifests []*unstructured.Unstructured
	present   []identity
	gone      []identity
}

type identity struct{ namespace, name string }

// CreateFleet makes machines as they are met: running, pending and ended ones, each
// with its status (the CRD has no status subresource), under labels that cut across
// each other and across namespaces. Names repeat from namespace to namespace, and
// some are the beginning of others. A server has room for one fleet; the names of a
// second are taken.
func (s *Server) CreateFleet(ctx context.Context, options FleetOptions) (*Fleet, error) {
	if options.Machines < 0 || options.Machines > 0 && options.Namespaces < 1 {
		return nil, fmt.Errorf("no fleet has %d machines in %d namespaces", options.Machines, options.Namespaces)
	}
	client, err := dynamic.NewForConfig(s.adminConfig())
	if err != nil {
		return nil, fmt.Errorf("create a fleet: %w", err)
	}
	f := &Fleet{client: client.Resource(machines), random: rand.New(rand.NewPCG(options.Seed, 0))}
	if f.manifests, err = readManifests(); err != nil {
		return nil, fmt.Errorf("create a fleet: %w", err)
	}
	// What is drawn must not depend on which request is answered first.
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, id := range f.place(options) {
		machine, err := f.draw(id)
		if err != nil {
			return nil, errors.Join(err, group.Wait())
		}
		group.Go(func() error { return f.create(ctx, machine) })
		f.present = append(f.present, id)
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return f, nil
}

// writers is how many requests are under way at a time while a fleet is made.
const writers = 16

// place names the machines and chooses their namespaces.
func (f *Fleet) place(options FleetOptions) []identity {
	ids := make([]identity, options.Machines)
	named := make(map[string]int)
	for i := range ids {
		n := i
		if i >= options.Namespaces {
			n = f.random.IntN(1 + f.random.IntN(options.Namespaces))
		}
		namespace := fmt.Sprintf("tenant-%d", 1+n)
		named[namespace]++
		ids[i] = identity{namespace, fmt.Sprintf("vm-%d", named[namespace])}
	}
	return ids
}

func (f *Fleet) draw(id identity) (*unstructured.Unstructured, error) {
	return draw(f.random, f.manifests, id.namespace, id.name)
}

// create lets the server refuse fields that the CRD does not have, instead of
// dropping them.
func (f *Fleet) create(ctx context.Context, machine *unstructured.Unstructured) error {
	_, err := f.client.Namespace(machine.GetNamespace()).Create(ctx, machine, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return fmt.Errorf("create %s/%s: %w", machine.GetNamespace(), machine.GetName(), err)
	}
	return nil
}
