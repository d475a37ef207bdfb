package kubeconfig_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

type object = map[string]any

// randomKubeconfig makes a cluster, a user and overrides of members that have
// something to do with each other, so that most pairs of them come up.
func randomKubeconfig(r *rand.Rand, b *bed) (object, kubeconfig.Overrides) {
	path := func(name string) string { return filepath.Join(b.dir, name) }
	https, http := b.values["HTTPS"], b.values["HTTP"]
	pick := func(to object, member string, often int, values ...any) {
		if r.IntN(10) < often {
			to[member] = values[r.IntN(len(values))]
		}
	}
	cluster, user, context := object{}, object{}, object{"cluster": "c", "user": "u"}
	pick(cluster, "server", 9, "https://"+https, "https://"+https, "https://"+https+"/k8s/", "http://"+http, http)
	switch r.IntN(4) {
	case 0:
		pick(cluster, "certificate-authority", 9, "ca.crt", path("ca.crt"), "ca.crt", "other-ca.crt", "none", "empty")
	case 1:
		pick(cluster, "certificate-authority-data", 9, b.values["CA_CRT"])
		pick(cluster, "certificate-authority", 1, "ca.crt")
	case 2:
		pick(cluster, "certificate-authority-data", 9, b.values["CA_CRT"], "", nil)
	default:
		cluster["insecure-skip-tls-verify"] = true
	}
	pick(cluster, "insecure-skip-tls-verify", 1, true, false, nil)
	pick(cluster, "tls-server-name", 2, "api.example", "localhost", "api.example", "localhost", "other.example")
	pick(cluster, "proxy-url", 2, "http://"+b.values["PROXY"], "socks5://"+b.values["SOCKS"])
	pick(cluster, "disable-compression", 2, true, false)
	pick(user, "token", 3, "inline", "", nil)
	pick(user, "tokenFile", 2, "token", path("other-token"), "token", "none", "empty")
	pick(user, "username", 1, "admin")
	pick(user, "password", 1, "secret")
	switch r.IntN(6) {
	case 0:
		user["client-certificate"], user["client-key"] = "client.crt", "client.key"
		pick(user, "client-key", 1, "other.key", "none")
		pick(user, "client-key-data", 1, b.values["CLIENT_KEY"])
	case 1:
		user["client-certificate-data"], user["client-key-data"] = b.values["CLIENT_CRT"], b.values["CLIENT_KEY"]
		pick(user, "client-key-data", 1, b.values["OTHER_KEY"], nil)
		pick(user, "client-certificate", 1, "client.crt")
	}
	pick(user, "as", 2, "jane")
	pick(user, "as-groups", 1, []string{"dev", "ops"})
	pick(user, "exec", 2, object{
		"apiVersion": "client.authentication.k8s.io/v1", "command": b.values["SELF"], "interactiveMode": "Never",
		"env": []object{{"name": pluginVariable, "value": "token"}},
	})
	pick(user, "auth-provider", r.IntN(2), object{"name": "oidc"})
	pick(context, "namespace", 3, "vms", "")

	var o kubeconfig.Overrides
	override := func(to *string, values ...string) {
		if r.IntN(20) == 0 {
			*to = values[r.IntN(len(values))]
		}
	}
	override(&o.Server, "https://"+https, "http://"+http)
	override(&o.CAFile, path("ca.crt"), path("ca.crt"), path("other-ca.crt"))
	override(&o.TLSServerName, "api.example", "other.example")
	override(&o.Token, "flag")
	override(&o.Username, "flag")
	override(&o.CertFile, path("client.crt"))
	override(&o.KeyFile, path("client.key"))
	override(&o.As, "joe")
	override(&o.Namespace, "flag")
	o.Insecure = r.IntN(20) == 0
	return object{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []object{{"name": "c", "cluster": cluster}},
		"users":    []object{{"name": "u", "user": user}},
		"contexts": []object{{"name": "test", "context": context}},
	}, o
}

func TestRandomKubeconfigs(t *testing.T) {
	b := newBed(t)
	r := rand.New(rand.NewPCG(1, 2))
	const rounds = 600
	refused, excused := 0, 0
	for i := range rounds {
		config, o := randomKubeconfig(r, b)
		if users := config["users"].([]object); o.Token != "" && users[0]["user"].(object)["tokenFile"] != nil {
			excused++ // "token flag over token file" of the differences
			continue
		}
		text, err := json.MarshalIndent(config, "", " ")
		require.NoError(t, err)
		file := b.write(t, fmt.Sprintf("random-%d.json", i), string(text))
		want, wantErr := b.theirs(file, o, "")
		got, gotErr := b.ours(file, o, "")
		if !want.Seen.TLS {
			want.Seen.Encoding, got.Seen.Encoding = nil, nil // "http-disable-compression" of the differences
		}
		if !assert.Equal(t, want, got, "theirs: %v\nours: %v\n%+v\n%s", wantErr, gotErr, o, text) {
			return
		}
		if got.Failed {
			refused++
			assertSayable(t, gotErr)
		}
	}
	t.Logf("%d kubeconfigs, %d of them refused, %d left out", rounds, refused, excused)
	assert.Less(t, refused, rounds*9/10)
}
