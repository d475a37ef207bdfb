package client_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server/servertest"
)

func ExampleWithBearerToken() {
	c, stop := exampleShop(client.WithBearerToken("t0k3n\n"), client.WithTransport(showing("Authorization")))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err)
	// Output:
	// Authorization: [Bearer t0k3n]
	// <nil>
}

func ExampleWithCAs() {
	srv := exampleServer()
	defer srv.Close()
	authorities := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})

	c, err := client.New(srv.URL, client.WithCAs(authorities))
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Get(context.Background(), "shop", "db")
	fmt.Println(err)

	_, err = client.New(srv.URL, client.WithCAs([]byte("no certificate")))
	fmt.Println(err)
	// Output:
	// <nil>
	// new client: the PEM text holds no certificate
}

// Without the authority nothing is sent to the server.
func ExampleWithCAFile() {
	srv := exampleServer()
	srv.Config.ErrorLog = quiet
	defer srv.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ca.crt")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		log.Fatal(err)
	}

	for _, opts := range [][]client.Option{{client.WithCAFile(file)}, {}} {
		c, err := client.New(srv.URL, opts...)
		if err != nil {
			log.Fatal(err)
		}
		_, err = c.Get(context.Background(), "shop", "db")
		var unknown x509.UnknownAuthorityError
		fmt.Println(err == nil, errors.As(err, &unknown))
	}
	// Output:
	// true false
	// false true
}

// A client that has its certificates, or that of client/kubeconfig.
func ExampleWithHTTPClient() {
	srv := exampleServer()
	defer srv.Close()
	hc := srv.Client()
	hc.Timeout = time.Minute

	c, err := client.New(srv.URL, client.WithHTTPClient(hc))
	if err != nil {
		log.Fatal(err)
	}
	vm, err := c.Get(context.Background(), "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name())
	// Output: db
}

// A proxy that the environment does not know, and few connections.
func ExampleWithTransport() {
	s, stop := exampleCluster(exampleDB)
	defer stop()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		fmt.Println("a proxy for", r.URL.Scheme)
		return nil, nil // none
	}
	transport.MaxConnsPerHost = 2

	c, err := client.New(s.URL, client.WithTransport(transport))
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Get(context.Background(), "shop", "db")
	fmt.Println(err)
	// Output:
	// a proxy for http
	// <nil>
}

func ExampleWithHeader() {
	c, stop := exampleShop(client.WithHeader("X-Tenant", "shop"), client.WithTransport(showing("X-Tenant")))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err)

	_, err = client.New("https://localhost:6443", client.WithHeader("Accept", "text/html"))
	fmt.Println(err)
	// Output:
	// X-Tenant: [shop]
	// <nil>
	// new client: header Accept is the client's own
}

func ExampleWithImpersonation() {
	jane := client.Impersonation{User: "jane", Groups: []string{"dev", "ops"}}
	c, stop := exampleShop(client.WithImpersonation(jane), client.WithTransport(showing("Impersonate-Group")))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err)
	// Output:
	// Impersonate-Group: [dev ops]
	// <nil>
}

func ExampleWithUserAgent() {
	c, stop := exampleShop(client.WithUserAgent("inventory/1.0"), client.WithTransport(
		roundTrip(func(r *http.Request) (*http.Response, error) {
			front, program, _ := strings.Cut(r.UserAgent(), " ")
			fmt.Println(strings.HasPrefix(front, "vmikit-client/"), program)
			return http.DefaultTransport.RoundTrip(r)
		})))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err)
	// Output:
	// true inventory/1.0
	// <nil>
}

// Each attempt has so long, whatever the context says.
func ExampleWithTimeout() {
	t := &exampleRun{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithClientOptions(client.WithTimeout(10*time.Millisecond)))
	defer s.Inject(servertest.Fault{Delay: time.Hour})()

	_, err := s.Client.Get(context.Background(), "shop", "web")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleWithMaxObjectBytes() {
	c, stop := exampleShop(client.WithMaxObjectBytes(64))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err)
	// Output: get vmi shop/web: reading the answer: the answer is too large: it has more than 64 bytes
}

// The server refuses a field that it does not know, and stores nothing.
func ExampleWriteOptions() {
	c, stop := exampleShop()
	defer stop()

	_, err := c.Create(context.Background(), "shop", `{"metadata":{"name":"db"},"spec":{"domain":{"cpu":{"kernels":4}}}}`,
		client.WriteOptions{DryRun: true, FieldValidation: "Strict"})
	fmt.Println(errors.Is(err, client.ErrBadRequest))
	_, err = c.Create(context.Background(), "shop", `{"metadata":{"name":"db"}}`,
		client.WriteOptions{DryRun: true, FieldValidation: "Strict"})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// What is known without decoding the object.
func ExampleVMI() {
	s, stop := exampleCluster(`{"metadata":{"name":"db","namespace":"shop"},"status":{"phase":"Running","nodeName":"node-1"}}`)
	defer stop()

	vm, err := s.Client.Get(context.Background(), "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Namespace(), vm.Name(), vm.Phase(), vm.NodeName())
	fmt.Println(len(vm.UID()), vm.ResourceVersion() != "")
	// Output:
	// shop db Running node-1
	// 36 true
}

// A machine in JSON of one's own, with the field that no type names and the number as it
// was written.
func ExampleVMI_MarshalJSON() {
	vm, err := client.NewVMI([]byte(`{"metadata":{"name":"db"},"spec":{"future":1.50}}`))
	if err != nil {
		log.Fatal(err)
	}
	report, err := json.Marshal(map[string]any{"machine": vm})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(report))
	// Output: {"machine":{"metadata":{"name":"db"},"spec":{"future":1.50}}}
}

func ExampleVMI_UnmarshalJSON() {
	var report struct{ Machine *client.VMI }
	err := json.Unmarshal([]byte(`{"machine":{"metadata":{"name":"db"},"status":{"phase":"Running"}}}`), &report)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Machine.Name(), report.Machine.Phase())
	// Output: db Running
}

// It says where the value is that Go cannot hold, and why not.
func ExampleItemError() {
	vm, err := client.NewVMI([]byte(`{"metadata":{"name":"odd","namespace":"shop"},"spec":{"domain":{"cpu":{"cores":99999999999999999999}}}}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = vm.View()
	var item *client.ItemError
	if errors.As(err, &item) {
		fmt.Println(item.Namespace, item.Name, item.Pointer)
		fmt.Println(errors.Unwrap(item))
	}
	// Output:
	// shop odd /spec/domain/cpu/cores
	// json: cannot unmarshal number 99999999999999999999 into Go value of type int
}
