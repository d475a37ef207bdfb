package kubeconfig_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// pluginVariable makes the test binary an exec plugin, of the kind that it names.
const pluginVariable = "KUBECONFIG_TEST_PLUGIN"

func TestMain(m *testing.M) {
	if kind := os.Getenv(pluginVariable); kind != "" {
		os.Exit(plugin(kind))
	}
	utilruntime.ErrorHandlers = nil // client-go would log the certificates that are bad on purpose
	os.Exit(m.Run())
}

type execCredential struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Status     map[string]string `json:"status,omitempty"`
}

func plugin(kind string) int {
	var info struct {
		APIVersion string
	}
	if err := json.Unmarshal([]byte(os.Getenv("KUBERNETES_EXEC_INFO")), &info); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	c := execCredential{Kind: "ExecCredential", APIVersion: info.APIVersion, Status: map[string]string{}}
	switch kind {
	case "token":
		c.Status["token"] = "of-the-plugin"
	case "arguments": // a token that tells what the plugin was given
		said, _ := json.Marshal(map[string]any{"args": os.Args[1:], "info": normal(os.Getenv("KUBERNETES_EXEC_INFO")), "extra": os.Getenv("EXTRA")})
		c.Status["token"] = base64.RawURLEncoding.EncodeToString(said)
	case "certificate", "both":
		c.Status["clientCertificateData"] = contents("PLUGIN_CERT")
		c.Status["clientKeyData"] = contents("PLUGIN_KEY")
		if kind == "both" {
			c.Status["token"] = "beside-the-certificate"
		}
	case "half":
		c.Status["clientCertificateData"] = contents("PLUGIN_CERT")
	case "expired":
		c.Status["token"], c.Status["expirationTimestamp"] = "old", "2001-02-03T04:05:06Z"
	case "odd-time":
		c.Status["token"], c.Status["expirationTimestamp"] = "old", "tomorrow"
	case "nothing":
	case "no-status":
		c.Status = nil
	case "version":
		c.APIVersion = "client.authentication.k8s.io/v1beta1"
		c.Status["token"] = "of-another-version"
	case "kind":
		c.Kind = "Secret"
		c.Status["token"] = "of-another-kind"
	case "text":
		fmt.Println("please log in")
		return 0
	case "yaml":
		fmt.Printf("kind: ExecCredential\napiVersion: %s\nstatus: {token: in-yaml}\n", info.APIVersion)
		return 0
	case "fails":
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
		return 4
	}
	return 0
}

// normal is JSON with its members in order.
func normal(text string) any {
	var v any
	_ = json.Unmarshal([]byte(text), &v)
	return v
}

func contents(variable string) string {
	text, err := os.ReadFile(os.Getenv(variable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return string(text)
}
