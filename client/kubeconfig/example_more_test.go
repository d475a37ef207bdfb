package kubeconfig_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// Two files are one configuration, as for kubectl.
func ExampleLoad() {
	clusters := exampleFileOf("{clusters: [{name: prod, cluster: {server: 'https://prod.example:6443'}}]}")
	mine := exampleFileOf("{current-context: me, contexts: [{name: me, context: {cluster: prod, user: me}}], users: [{name: me, user: {token: t0k3n}}]}")
	defer os.RemoveAll(filepath.Dir(clusters))
	defer os.RemoveAll(filepath.Dir(mine))
	defer os.Setenv("KUBECONFIG", os.Getenv("KUBECONFIG"))
	os.Setenv("KUBECONFIG", clusters+string(filepath.ListSeparator)+mine)

	access, err := kubeconfig.Load()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access)
	// Output: https://prod.example:6443 (namespace default, context me, cluster prod, user me, credential: a token)
}

// The file must be there, while those of KUBECONFIG may be missing.
func ExampleWithFile() {
	_, err := kubeconfig.Load(kubeconfig.WithFile("nosuch"))
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}

func ExampleWithContext() {
	file := exampleFileOf(`{current-context: test, clusters: [{name: c, cluster: {server: 'https://api.example'}}], contexts: [
		{name: test, context: {cluster: c}}, {name: prod, context: {cluster: c, namespace: shop}}]}`)
	defer os.RemoveAll(filepath.Dir(file))

	access, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithContext("prod"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access.Context, access.Namespace)

	_, err = kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithContext("nosuch"))
	fmt.Println(strings.ReplaceAll(err.Error(), file, "kubeconfig"))
	// Output:
	// prod shop
	// kubeconfig: the context "nosuch" does not exist; there is "prod", "test"
}

func ExampleWithInCluster() {
	defer os.Setenv("KUBERNETES_SERVICE_HOST", os.Getenv("KUBERNETES_SERVICE_HOST"))
	os.Setenv("KUBERNETES_SERVICE_HOST", "") // an example has no pod

	_, err := kubeconfig.Load(kubeconfig.WithInCluster())
	fmt.Println(errors.Is(err, kubeconfig.ErrNotConfigured))
	// Output: true
}

// A server that somebody has named gets none of the credentials in the reader's files.
func ExampleWithoutFiles() {
	access, err := kubeconfig.Load(kubeconfig.WithoutFiles(),
		kubeconfig.WithOverrides(kubeconfig.Overrides{Server: "https://other.example"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access)

	_, err = kubeconfig.Load(kubeconfig.WithoutFiles())
	fmt.Println(errors.Is(err, kubeconfig.ErrNotConfigured))
	// Output:
	// https://other.example (namespace default, credential: none)
	// true
}

// examplePlugin writes a kubeconfig whose plugin says something and gives a token.
func examplePlugin(mode, says string) string {
	file := exampleFileOf("")
	dir := filepath.Dir(file)
	output := `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t0k3n"}}`
	if err := os.WriteFile(filepath.Join(dir, "output"), []byte(output), 0o600); err != nil {
		log.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	text := config("server: 'https://api.example'", "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: "+mode+
		", command: '"+self+"', env: [{name: "+pluginVariable+", value: '"+dir+"'}, {name: SAY, value: '"+says+"'}]}")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return file
}

// A plugin asks for a login, which goes where the program talks to its user.
func ExampleWithPluginStderr() {
	file := examplePlugin("Never", "go to https://login.example and enter 4711")
	defer os.RemoveAll(filepath.Dir(file))

	var window strings.Builder
	access, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithPluginStderr(&window))
	if err != nil {
		log.Fatal(err)
	}
	_, err = access.Token(context.Background())
	fmt.Println(err)
	fmt.Println(window.String())
	// Output:
	// <nil>
	// go to https://login.example and enter 4711
}

func ExampleWithoutStdin() {
	file := examplePlugin("Always", "")
	defer os.RemoveAll(filepath.Dir(file))

	access, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithoutStdin("it is read as a manifest"))
	if err == nil {
		_, err = access.Token(context.Background())
	}
	_, reason, _ := strings.Cut(err.Error(), "needs ")
	fmt.Println(reason)
	// Output: standard input, which it cannot have: it is read as a manifest
}

func ExampleConfig_HTTPClient() {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	file := exampleFile(srv)
	defer os.RemoveAll(filepath.Dir(file))

	access, err := kubeconfig.Load(kubeconfig.WithFile(file))
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
	_ = resp.Body.Close()

	// The credential does not leave the server.
	_, err = hc.Get("https://elsewhere.example")
	fmt.Println(err != nil)
	// Output:
	// Bearer t0k3n
	// true
}

// The parts of HTTPClient, for a program with a wrapper of its own in between.
func ExampleConfig_Authorize() {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the server sees", r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	file := exampleFile(srv)
	defer os.RemoveAll(filepath.Dir(file))

	access, err := kubeconfig.Load(kubeconfig.WithFile(file))
	if err != nil {
		log.Fatal(err)
	}
	transport, err := access.Transport()
	if err != nil {
		log.Fatal(err)
	}
	counted := exampleTrip(func(r *http.Request) (*http.Response, error) {
		fmt.Println("one more")
		return transport.RoundTrip(r)
	})
	hc := &http.Client{Transport: access.Authorize(counted)}
	resp, err := hc.Get(access.URL)
	if err != nil {
		log.Fatal(err)
	}
	_ = resp.Body.Close()
	// Output:
	// one more
	// the server sees Bearer t0k3n
}

type exampleTrip func(*http.Request) (*http.Response, error)

func (f exampleTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Credentials over plain http are none, as for kubectl.
func ExampleConfig_Credential() {
	for _, server := range []string{"https://api.example", "http://api.example"} {
		file := exampleFileOf(config("server: '"+server+"'", "token: t0k3n"))
		access, err := kubeconfig.Load(kubeconfig.WithFile(file))
		_ = os.RemoveAll(filepath.Dir(file))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(access.Anonymous(), access.Credential())
	}
	// Output:
	// false a token
	// true none, as credentials go over https only
}

// Where a configuration is printed or logged, its secrets are not.
func ExampleConfig_String() {
	file := exampleFileOf(config("server: 'https://api.example'", "token: t0k3n"))
	defer os.RemoveAll(filepath.Dir(file))
	access, err := kubeconfig.Load(kubeconfig.WithFile(file))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access)
	fmt.Printf("%#v\n", access)
	exampleLogger().Info("connecting", "to", access)
	// Output:
	// https://api.example (namespace default, context test, cluster c, user u, credential: a token)
	// https://api.example (namespace default, context test, cluster c, user u, credential: a token)
	// level=INFO msg=connecting to="https://api.example (namespace default, context test, cluster c, user u, credential: a token)"
}

func ExampleOverrides_String() {
	overrides := kubeconfig.Overrides{Server: "https://api.example", Username: "jane", Password: "s3cr3t"}
	asJSON, err := json.Marshal(overrides)
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{
		overrides.String(), overrides.GoString(), fmt.Sprintf("%+v", overrides), overrides.LogValue().String(), string(asJSON),
	} {
		fmt.Println(strings.Contains(text, "jane"), strings.Contains(text, "s3cr3t"))
	}
	// Output:
	// true false
	// true false
	// true false
	// true false
	// true false
}

// exampleLogger writes lines without the time.
func exampleLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
