// Package client reads, watches and changes KubeVirt's VirtualMachineInstances over an
// API server.
//
// The common case: make a [Client] with [New], then range over every machine
// with [Client.All], or fetch one with [Client.Get].
//
//	c, err := client.New("https://localhost:6443", client.WithCAFile("ca.crt"))
//	if err != nil {
//		return err
//	}
//	for vm, err := range c.All(ctx, "default", client.ListOptions{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(vm.Name(), vm.Phase())
//	}
//
// # Objects
//
// A [VMI] is Raw, the object's exact bytes as the server sent them, and what is
// found there when it is asked for. Name, Phase and a few more cost next to nothing.
// [VMI.View] decodes the typed struct of package vmi, for the fields that the OpenAPI
// document names. It covers about half of what a cluster sends; Raw has all of it,
// in the server's order and with its numbers as text.
//
// Reading is lenient: enum values, UUIDs and nulls that the document does not
// know are no error (the enum types have a Valid method). A value that its Go
// type cannot hold, say a bool sent as a string, is an [*ItemError] of View, with
// the value's place and the object's bytes. It fails neither the request nor the rest
// of the view.
//
// # Watching and waiting
//
// [Client.Watch] ranges over what there is and then over every change, through lost
// connections, restarts of the server and states that it has forgotten, until its
// context ends. [Client.WaitFor] ends when something is so of one machine:
//
//	vm, err := c.WaitFor(ctx, "default", "web", client.PhaseIs(vmi.PhaseRunning))
//
// # Writing
//
// [Client.Update] lets a function change the typed view and writes what has become
// different in it, as a patch against the exact bytes: nothing else changes, and
// somebody else's change in between is not lost. [Client.Create], [Client.Patch] and
// [Client.Delete] do what their names say.
//
//	_, err = c.Update(ctx, "default", "web", func(v *vmi.VirtualMachineInstance) error {
//		v.Spec.Domain.CPU.Cores = 4
//		return nil
//	}, client.WriteOptions{})
//
// # Errors
//
// Whatever the server answered that is not the thing asked for is an [*Error],
// with the HTTP status and what the body said. Use errors.Is with [ErrNotFound]
// and its siblings to tell kinds apart. Failures below HTTP, the end of the
// context among them, are the errors of net/http, wrapped. No error has a query, a
// header or a token in it.
//
// # Retries
//
// Reads are tried up to five times where that may help, writes only where the server
// cannot have begun them: [DefaultRetry] says when, and [WithRetry] replaces it.
//
// # What the client does not do
//
// It keeps no global state, logs nothing without [WithLogger], does not limit its
// request rate without [WithLimiter], and has no time-out of its own without
// [WithTimeout]: the context of each call decides.
package client
