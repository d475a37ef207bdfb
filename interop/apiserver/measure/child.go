package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/vmikit/vmikit/interop/apiserver"
)

// childArgument is the first argument of this program when it is one of its own
// servers.
const childArgument = "child"

// children are the servers that this program can be. Each says where it is, and runs
// until ctx ends.
var children = map[string]func(ctx context.Context, args []string, serving func(place) error) error{
	apiServerName: serveAPI,
	floorName:     serveFloor,
}

// runChild is this program as one of its servers. It ends when its input does, since
// that is when its parent has ended, however it did.
func runChild(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 || children[args[0]] == nil {
		return fmt.Errorf("no server is called %q", args)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	return children[args[0]](ctx, args[1:], func(p place) error { return json.NewEncoder(stdout).Encode(p) })
}

// serveAPI is the real API server, with its etcd.
func serveAPI(ctx context.Context, _ []string, serving func(place) error) error {
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return err
	}
	if err := serving(place{URL: server.URL, CA: server.CA, Token: server.AdminToken}); err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
