package kubeconfig_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// exampleFile writes a kubeconfig for a server, as an administrator hands it out.
func exampleFile(srv *httptest.Server) string {
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	return exampleFileOf(config("server: '"+srv.URL+"', certificate-authority-data: "+ca, "token: t0k3n"))
}

// exampleFileOf writes a file into a directory of its own.
func exampleFileOf(text string) string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return file
}

func Example() {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header["Authorization"], r.Header["Impersonate-User"])
	}))
	defer srv.Close()
	file := exampleFile(srv)
	defer os.RemoveAll(filepath.Dir(file))

	// Without options: KUBECONFIG, ~/.kube/config, or the service account of the pod.
	access, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithOverrides(kubeconfig.Overrides{As: "jane"}))
	if err != nil {
		log.Fatal(err)
	}
	hc, err := access.HTTPClient()
	if err != nil {
		log.Fatal(err)
	}
	resp, err := hc.Get(access.URL + "/version")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(access.Context, access.Namespace, access.Credential())
	fmt.Printf("%s\n", body)
	// Output:
	// test default a token
	// [Bearer t0k3n] [jane]
}

// A program that tests a server sends requests with other credentials too.
func ExampleConfig_AnonymousTransport() {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0k3n" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer srv.Close()
	file := exampleFile(srv)
	defer os.RemoveAll(filepath.Dir(file))

	access, err := kubeconfig.Load(kubeconfig.WithFile(file))
	if err != nil {
		log.Fatal(err)
	}
	anonymous, err := access.AnonymousTransport()
	if err != nil {
		log.Fatal(err)
	}
	token, err := access.Token(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, authorization := range []string{"", "Bearer " + token, token, "Bearer wrong"} {
		req, err := http.NewRequest(http.MethodGet, access.URL, nil)
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Authorization", authorization)
		resp, err := anonymous.RoundTrip(req)
		if err != nil {
			log.Fatal(err)
		}
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
	// Output:
	// 401
	// 200
	// 401
	// 401
}

// Values like kubectl's flags.
func ExampleWithOverrides() {
	defer os.Setenv("KUBECONFIG", os.Getenv("KUBECONFIG"))
	os.Setenv("KUBECONFIG", os.DevNull) // the reader's own file is not an example
	access, err := kubeconfig.Load(kubeconfig.WithOverrides(kubeconfig.Overrides{
		Server: "https://cluster.example:6443", Token: "t0k3n", Namespace: "machines",
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access)
	// Output: https://cluster.example:6443 (namespace machines, credential: a token)
}
