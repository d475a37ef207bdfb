package rbac_test

import (
	"fmt"
	"testing"

	"github.com/vmikit/vmikit/server/rbac"
)

// BenchmarkAuthorize decides with 1,000 bindings: each to another user, as
// usual, and all to one group that no rule allows, which is the worst there is.
func BenchmarkAuthorize(b *testing.B) {
	const n = 1000
	users, worst := []string{clusterRole("c", readVMI)}, []string{clusterRole("c", readVMI)}
	for i := range n {
		name := fmt.Sprintf("b%d", i)
		users = append(users, roleBinding("vms", name, "ClusterRole", "c", user(fmt.Sprintf("user%d", i))))
		worst = append(worst, roleBinding("vms", name, "ClusterRole", "c", group("system:authenticated")))
	}
	for _, c := range []struct {
		name    string
		policy  *rbac.Policy
		request rbac.Attributes
		want    bool
	}{
		{"allowed", policy(b, users...), get(func(a *rbac.Attributes) { a.User = "user999" }), true},
		{"denied", policy(b, users...), get(nil), false},
		{"worst", policy(b, worst...), get(func(a *rbac.Attributes) { a.Verb = "delete" }), false},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if allowed, _ := c.policy.Authorize(c.request); allowed != c.want {
					b.Fatal("wrong decision")
				}
			}
		})
	}
}
