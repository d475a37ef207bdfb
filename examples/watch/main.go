// Command watch prints what becomes of machines, a line for each change.
//
//	watch [-n NAMESPACE] [-l SELECTOR]
//
// The server and the credentials are those that kubectl would use. It goes on through
// lost connections and restarts of the server until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/client/kubeconfig"
)

func main() {
	log.SetFlags(0)
	namespace := flag.String("n", "", "namespace, all of them if empty")
	selector := flag.String("l", "", "label selector")
	flag.Parse()

	c, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	opts := client.WatchOptions{LabelSelector: *selector, OnRetry: func(err error, wait time.Duration) {
		log.Printf("%v; again in %s", err, wait.Round(time.Millisecond))
	}}
	err = watch(ctx, c, *namespace, opts, os.Stdout)
	if !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func connect() (*client.Client, error) {
	access, err := kubeconfig.Load()
	if err != nil {
		return nil, err
	}
	hc, err := access.HTTPClient()
	if err != nil {
		return nil, err
	}
	return client.New(access.URL, client.WithHTTPClient(hc), client.WithUserAgent("vmikit-example-watch"))
}

// watch writes the table until the watch ends. Its columns have fixed widths, as what
// comes is not known when the first line is written.
func watch(ctx context.Context, c *client.Client, namespace string, opts client.WatchOptions, out io.Writer) error {
	const row = "%-8s  %-12s  %-24s  %-10s  %s\n"
	fmt.Fprintf(out, row, "EVENT", "NAMESPACE", "NAME", "PHASE", "NODE")
	for e, err := range c.Watch(ctx, namespace, opts) {
		switch {
		case err != nil:
			return err
		case e.Type == client.EventSynced:
			continue
		case e.VMI == nil: // deleted while there was no connection
			fmt.Fprintf(out, row, e.Type, e.Namespace, e.Name, "", "")
		default:
			fmt.Fprintf(out, row, e.Type, e.Namespace, e.Name, e.VMI.Phase(), e.VMI.NodeName())
		}
	}
	return nil
}
