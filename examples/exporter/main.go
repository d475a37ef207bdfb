// Command exporter serves how many machines there are, by namespace, phase and node,
// to Prometheus.
//
//	exporter [-listen ADDRESS]
//
// The server and the credentials are those that kubectl would use, in a pod its
// service account, which must be allowed to list and watch virtualmachineinstances of
// kubevirt.io. /metrics answers 503 until all machines are known.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/client/kubeconfig"
)

func main() {
	log.SetFlags(0)
	listen := flag.String("listen", "localhost:9090", "`address` of /metrics, port 0 for a free one")
	flag.Parse()

	c, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/metrics\n", l.Addr())
	f := newFleet()
	srv := &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	go func() { log.Fatal(srv.Serve(l)) }()
	if err := f.follow(ctx, c); ctx.Err() == nil {
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
	return client.New(access.URL, client.WithHTTPClient(hc), client.WithUserAgent("vmikit-example-exporter"))
}
