package kubeconfig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

const seenHeader = "X-Seen"

func answer(w http.ResponseWriter, s seen) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	w.Header().Set(seenHeader, string(text))
}

// outcome is what comes of a kubeconfig: an error, or a request.
type outcome struct {
	Failed    bool
	URL       string
	Namespace string
	Seen      seen
}

// theirs is what clientcmd makes of a kubeconfig. The error says what failed.
func (b *bed) theirs(file string, o kubeconfig.Overrides, contextName string) (outcome, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, theirOverrides(o, contextName))
	config, err := loading.ClientConfig()
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("load: %w", err)
	}
	namespace, _, err := loading.Namespace()
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("namespace: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("transport: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("server: %w", err)
	}
	base.RawQuery, base.Fragment = "", "" // as rest.NewRESTClient does
	return b.send(&http.Client{Transport: transport}, strings.TrimRight(base.String(), "/"), namespace)
}

func theirOverrides(o kubeconfig.Overrides, contextName string) *clientcmd.ConfigOverrides {
	return &clientcmd.ConfigOverrides{
		CurrentContext: contextName,
		Context:        clientcmdapi.Context{Cluster: o.Cluster, AuthInfo: o.User, Namespace: o.Namespace},
		ClusterInfo: clientcmdapi.Cluster{
			Server: o.Server, TLSServerName: o.TLSServerName, CertificateAuthority: o.CAFile,
			InsecureSkipTLSVerify: o.Insecure, ProxyURL: o.ProxyURL, DisableCompression: o.DisableCompression,
		},
		AuthInfo: clientcmdapi.AuthInfo{
			Token: o.Token, TokenFile: o.TokenFile, ClientCertificate: o.CertFile, ClientKey: o.KeyFile,
			Username: o.Username, Password: o.Password,
			Impersonate: o.As, ImpersonateUID: o.AsUID, ImpersonateGroups: o.AsGroups, ImpersonateUserExtra: o.AsExtra,
		},
	}
}

// ours is what package kubeconfig makes of it.
func (b *bed) ours(file string, o kubeconfig.Overrides, contextName string) (outcome, error) {
	config, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithContext(contextName), kubeconfig.WithOverrides(o))
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("load: %w", err)
	}
	hc, err := config.HTTPClient()
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("transport: %w", err)
	}
	return b.send(hc, config.URL, config.Namespace)
}

// send asks for one path below the base URL.
func (b *bed) send(hc *http.Client, base, namespace string) (outcome, error) {
	defer hc.CloseIdleConnections()
	b.passed("")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o := outcome{URL: base, Namespace: namespace}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/version", nil)
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("request: %w", err)
	}
	resp, err := hc.Do(req)
	if err != nil {
		return outcome{Failed: true}, fmt.Errorf("request: %w", err)
	}
	defer resp.Body.Close()
	if err := json.Unmarshal([]byte(resp.Header.Get(seenHeader)), &o.Seen); err != nil {
		return outcome{Failed: true}, fmt.Errorf("answer %s: %w", resp.Status, err)
	}
	return o, nil
}
