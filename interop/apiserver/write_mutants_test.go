package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/interop/apiserver"
	"golang.org/x/sync/errgroup"
)

// writeMutant is a real API server with one fault in its writes or watches.
type writeMutant struct {
	name string
	// fault wraps what answers; each run gets a new one.
	fault func(respond) respond
	watch func(url.Values)
	// events changes the lines of one watch.
	events func(query url.Values) func(line string) []string
	// fails are the checks that are about the fault: each must fail. also may fail,
	// as they cannot help seeing it.
	fails, also []string
	// leaves says that the fault keeps the run from removing what it made.
	leaves bool
}

// change is a fault in how some calls are passed on.
func change(which func(call) bool, how func(call) call) func(respond) respond {
	return func(next respond) respond {
		return func(c call) answer {
			if which(c) {
				c = how(c)
			}
			return next(c)
		}
	}
}

// answered is a fault in how some calls are answered.
func answered(which func(call) bool, how func(next respond, c call, a answer) answer) func(respond) respond {
	return func(next respond) respond {
		return func(c call) answer {
			a := next(c)
			if which(c) {
				a = how(next, c, a)
			}
			return a
		}
	}
}

// told is a fault in the metadata of the machines that some calls are answered with.
func told(which func(call) bool, how func(metadata map[string]any)) func(respond) respond {
	return answered(which, func(_ respond, _ call, a answer) answer {
		if a.ok() {
			a.body = edited(a.body, how)
		}
		return a
	})
}

// sent is a fault in the metadata of the machines that some calls send.
func sent(which func(call) bool, how func(metadata map[string]any)) func(respond) respond {
	return change(which, func(c call) call { c.body = edited(c.body, how); return c })
}

func creates(c call) bool  { return c.writes(http.MethodPost) }
func replaces(c call) bool { return c.writes(http.MethodPut) }
func deletes(c call) bool  { return c.writes(http.MethodDelete) }
func merges(c call) bool {
	return c.writes(http.MethodPatch) && strings.HasPrefix(c.header.Get("Content-Type"), "application/merge")
}
func patches(c call) bool {
	return c.writes(http.MethodPatch) && strings.HasPrefix(c.header.Get("Content-Type"), "application/json")
}
func generates(c call) bool { return creates(c) && strings.Contains(c.body, "generateName") }

// dry passes writes on as dry runs: they are answered and not done.
func dry(c call) call { return c.with("dryRun", "All") }

// without drops a parameter, bare the body.
func without(key string) func(call) call {
	return func(c call) call {
		c = c.with(key, "")
		delete(c.query, key)
		return c
	}
}

func bare(c call) call {
	c.body = ""
	c.header = c.header.Clone()
	c.header.Del("Content-Type")
	return c
}

// instead answers with the machine that is there where a code is due.
func instead(code int) func(respond, call, answer) answer {
	return func(next respond, c call, a answer) answer {
		if a.code == code {
			return next(c.read())
		}
		return a
	}
}

// stale keeps the answers to some calls and gives them again.
func stale(which, begin func(call) bool) func(respond) respond {
	return func(next respond) respond {
		var kept sync.Map
		var begun atomic.Bool
		return func(c call) answer {
			a := next(c)
			if begin(c) {
				begun.Store(true)
			}
			if !which(c) {
				return a
			}
			key := c.path
			if begun.Load() {
				if old, ok := kept.Load(key); ok {
					return old.(answer)
				}
			}
			kept.Store(key, a)
			return a
		}
	}
}

// each is a fault in every event of a watch: it returns what is told instead.
func each(how func(n int, eventType, line string) []string) func(url.Values) func(string) []string {
	return func(url.Values) func(string) []string {
		n := 0
		return func(line string) []string {
			n++
			eventType, _ := object(line)["type"].(string)
			return how(n, eventType, line)
		}
	}
}

// retold edits an event and the metadata of its object.
func retold(line string, how func(event, metadata map[string]any)) []string {
	event := object(line)
	o, _ := event["object"].(map[string]any)
	how(event, metadata(o))
	text, err := json.Marshal(event)
	if err != nil {
		return nil
	}
	return []string{string(text)}
}

// Checks that see the world through a watch.
var watches = []string{"write.watch", "write.watch-replay", "write.watch-selector"}

// later are all checks that look at the machine after an update.
var later = []string{"write.no-op", "write.conflict", "write.merge-patch", "write.json-patch", "write.delete-precondition", "write.delete", "write.watch", "write.watch-replay", "write.watch-selector"}

var writeMutants = []writeMutant{
	{name: "a dry run creates", fault: change(func(c call) bool { return c.method == http.MethodPost }, without("dryRun")), fails: []string{"write.dry-run"}},
	{name: "a dry run deletes", fault: change(func(c call) bool { return c.method == http.MethodDelete }, without("dryRun")), fails: []string{"write.delete"}},
	{name: "a dry run is answered with a Status", fault: answered(func(c call) bool { return c.query.Has("dryRun") && c.method == http.MethodPost }, func(_ respond, _ call, a answer) answer {
		a.body = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
		return a
	}), fails: []string{"write.dry-run"}},

	{name: "201 and nothing created", fault: change(creates, dry), fails: []string{"write.create"}},
	{name: "a create forgets the labels", fault: sent(creates, func(m map[string]any) { delete(m, "labels") }), fails: []string{"write.create"}, also: slices.Concat([]string{"write.already-exists", "write.generate-name", "write.namespace", "write.update"}, later)},
	{name: "a create forgets one label", fault: sent(creates, func(m map[string]any) { delete(labelsOf(m), "vmikit-contract-step") }), fails: []string{"write.create"}, also: []string{"write.namespace", "write.json-patch"}},
	{name: "a create forgets the annotations", fault: sent(creates, func(m map[string]any) { delete(m, "annotations") }), fails: []string{"write.create"}, also: slices.Concat([]string{"write.already-exists", "write.update"}, later)},
	{name: "a create forgets the nodeSelector", fault: change(creates, func(c call) call {
		c.body = strings.Replace(c.body, `"nodeSelector"`, `"nodeSelectors"`, 1)
		return c
	}), fails: []string{"write.create"}},
	{name: "no uid in the answer to a create", fault: told(creates, func(m map[string]any) { delete(m, "uid") }), fails: []string{"write.create"}, also: watches},
	{name: "another uid in the answer to a create", fault: told(creates, func(m map[string]any) { m["uid"] = "11111111-2222-4333-8444-555555555555" }), fails: []string{"write.create"}, also: slices.Concat([]string{"write.already-exists", "write.update"}, later)},
	{name: "no creationTimestamp in the answer to a create", fault: told(creates, func(m map[string]any) { delete(m, "creationTimestamp") }), fails: []string{"write.create"}, also: watches},
	{name: "no resourceVersion in the answer to a create", fault: told(creates, func(m map[string]any) { delete(m, "resourceVersion") }), fails: []string{"write.create"}, also: slices.Concat([]string{"write.conflict"}, watches)},
	{name: "a create is answered with a Status", fault: answered(creates, func(_ respond, _ call, a answer) answer {
		if a.ok() {
			a.body = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
		}
		return a
	}), fails: []string{"write.create"}, also: []string{"write.generate-name", "write.watch", "write.watch-replay"}},
	{name: "a create is answered with half a body", fault: answered(creates, func(_ respond, _ call, a answer) answer {
		a.body = a.body[:len(a.body)/2]
		return a
	}), fails: []string{"write.create", "schema.json"}, also: slices.Concat([]string{"write.already-exists", "write.generate-name", "write.conflict", "schema.object", "schema.error"}, watches)},
	{name: "what was created is not listed by its label", fault: answered(func(c call) bool { return c.selects("step=created") }, func(_ respond, _ call, a answer) answer {
		a.body = `{"apiVersion":"kubevirt.io/v1","items":[],"kind":"VirtualMachineInstanceList","metadata":{"continue":"","resourceVersion":"1"}}`
		return a
	}), fails: []string{"write.create"}, also: []string{"write.namespace"}},

	{name: "a name that is taken is answered with 200", fault: answered(creates, instead(http.StatusConflict)), fails: []string{"write.already-exists"}},
	{name: "a name that is taken is a Conflict", fault: answered(creates, func(_ respond, _ call, a answer) answer {
		a.body = strings.Replace(a.body, "AlreadyExists", "Conflict", 1)
		return a
	}), fails: []string{"write.already-exists"}},
	{name: "a name that is taken is answered with 422", fault: answered(creates, func(_ respond, _ call, a answer) answer {
		if a.code == http.StatusConflict {
			a.code, a.body = http.StatusUnprocessableEntity, strings.NewReplacer("AlreadyExists", "Invalid", "409", "422").Replace(a.body)
		}
		return a
	}), fails: []string{"write.already-exists"}},
	{name: "a refused create overwrites the labels", fault: answered(creates, func(next respond, c call, a answer) answer {
		if a.code == http.StatusConflict {
			patch := c.read()
			patch.method, patch.body = http.MethodPatch, `{"metadata":{"labels":{"vmikit-contract-step":"again"}}}`
			patch.header = patch.header.Clone()
			patch.header.Set("Content-Type", "application/merge-patch+json")
			next(patch)
		}
		return a
	}), fails: []string{"write.already-exists"}, also: []string{"write.namespace"}},
	{name: "a create makes the machine anew", fault: answered(creates, func(next respond, c call, a answer) answer {
		if a.code == http.StatusConflict {
			remove := c.read()
			remove.method = http.MethodDelete
			next(bare(remove))
			return next(c)
		}
		return a
	}), fails: []string{"write.already-exists"}, also: slices.Concat([]string{"write.namespace", "write.update"}, later)},

	{name: "a name is generated twice", fault: func(next respond) respond {
		var mu sync.Mutex
		var first *answer
		return func(c call) answer {
			if !generates(c) {
				return next(c)
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				a := next(c)
				first = &a
			}
			return *first
		}
	}, fails: []string{"write.generate-name"}, also: []string{"write.watch", "write.watch-replay"}},
	{name: "a generated name is another one", fault: sent(generates, func(m map[string]any) { m["generateName"] = "machine-" }), fails: []string{"write.generate-name"}},
	{name: "a generated name is the prefix", fault: sent(generates, func(m map[string]any) {
		m["name"] = strings.TrimSuffix(m["generateName"].(string), "-")
		delete(m, "generateName")
	}), fails: []string{"write.generate-name"}},
	{name: "what is generated is not made", fault: change(generates, dry), fails: []string{"write.generate-name"}, also: []string{"write.watch", "write.watch-replay"}},

	{name: "a machine is there in every namespace", fault: func(next respond) respond {
		home := ""
		return func(c call) answer {
			if creates(c) {
				home = c.path
			}
			if strings.Contains(c.path, "-nosuch-") && c.onItem() && home != "" {
				c.path = home + c.path[strings.LastIndex(c.path, "/"):]
			}
			return next(c)
		}
	}, fails: []string{"write.namespace"}},
	{name: "a machine is listed in every namespace", fault: change(func(c call) bool { return c.selects("step=created") }, func(c call) call {
		c.path = everywhere
		return c
	}), fails: []string{"write.namespace"}},
	{name: "a machine is not listed in all namespaces", fault: change(func(c call) bool { return c.selects("step=created") && c.path == everywhere }, func(c call) call {
		c.path = within("nowhere")
		return c
	}), fails: []string{"write.namespace"}},

	{name: "an update is answered and not done", fault: change(replaces, dry), fails: []string{"write.update"}, also: []string{"write.conflict", "write.no-op"}},
	{name: "another uid after an update", fault: told(replaces, func(m map[string]any) { m["uid"] = "11111111-2222-4333-8444-555555555555" }), fails: []string{"write.update"}, also: slices.Concat([]string{"write.no-op"}, watches)},
	{name: "the resourceVersion does not move", fault: func(next respond) respond {
		return func(c call) answer {
			a := next(c)
			if replaces(c) && a.ok() {
				was := metadata(object(c.body))["resourceVersion"]
				a.body = edited(a.body, func(m map[string]any) { m["resourceVersion"] = was })
			}
			return a
		}
	}, fails: []string{"write.update"}},
	{name: "the resourceVersion goes back", fault: told(replaces, func(m map[string]any) { m["resourceVersion"] = "1" }), fails: []string{"write.update"}, also: watches},
	{name: "an update forgets labels", fault: sent(replaces, func(m map[string]any) { delete(m, "labels") }), fails: []string{"write.update"}, also: later},
	{name: "an update forgets annotations", fault: sent(replaces, func(m map[string]any) { delete(m, "annotations") }), fails: []string{"write.update"}, also: later},
	{name: "an update moves the creationTimestamp", fault: told(replaces, func(m map[string]any) { m["creationTimestamp"] = "2020-01-01T00:00:00Z" }), fails: []string{"write.update"}, also: watches},
	{name: "an update is not read at once", fault: stale(func(c call) bool { return c.method == http.MethodGet && c.onItem() && strings.HasSuffix(c.path, "-a") }, replaces), fails: []string{"write.update"}, also: slices.Concat([]string{"write.delete"}, later)},
	{name: "an update is refused", fault: answered(replaces, func(_ respond, _ call, a answer) answer {
		a.code, a.body = 405, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"MethodNotAllowed","code":405}`
		return a
	}), fails: []string{"write.update"}, also: []string{"write.no-op", "write.conflict"}},

	{name: "an old resourceVersion is good enough for a PUT", fault: func(next respond) respond {
		return func(c call) answer {
			if replaces(c) {
				now := metadata(object(next(c.read()).body))["resourceVersion"]
				c.body = edited(c.body, func(m map[string]any) { m["resourceVersion"] = now })
			}
			return next(c)
		}
	}, fails: []string{"write.conflict"}},
	{name: "an old resourceVersion is good enough for a merge patch", fault: sent(merges, func(m map[string]any) { delete(m, "resourceVersion") }), fails: []string{"write.conflict"}},
	{name: "a conflict is answered with 200", fault: answered(replaces, instead(http.StatusConflict)), fails: []string{"write.conflict"}},
	{name: "a conflict says AlreadyExists", fault: answered(replaces, func(_ respond, _ call, a answer) answer {
		a.body = strings.Replace(a.body, `"Conflict"`, `"AlreadyExists"`, 1)
		return a
	}), fails: []string{"write.conflict"}},
	{name: "the Status of a conflict has another code", fault: answered(replaces, func(_ respond, _ call, a answer) answer {
		a.body = strings.Replace(a.body, `"code":409`, `"code":412`, 1)
		return a
	}), fails: []string{"schema.error"}},
	{name: "a conflict is no Status", fault: answered(replaces, func(_ respond, _ call, a answer) answer {
		if a.code == http.StatusConflict {
			a.body = `{"error":"conflict"}`
		}
		return a
	}), fails: []string{"schema.error", "write.conflict"}},
	{name: "a conflict is a page", fault: answered(replaces, func(_ respond, _ call, a answer) answer {
		if a.code == http.StatusConflict {
			a.header = http.Header{"Content-Type": {"text/html"}}
		}
		return a
	}), fails: []string{"schema.content-type"}},

	{name: "a merge patch is answered and not done", fault: change(merges, dry), fails: []string{"write.merge-patch"}, also: slices.Concat([]string{"write.json-patch"}, watches)},
	{name: "a merge patch loses the other labels", fault: sent(merges, func(m map[string]any) {
		if m["labels"] != nil {
			labelsOf(m)["vmikit-contract"] = nil
		}
	}), fails: []string{"write.merge-patch"}, also: later},
	{name: "a merge patch keeps what is set to null", fault: change(func(c call) bool { return merges(c) && strings.Contains(c.body, "null") }, func(c call) call {
		c.body = "{}"
		return c
	}), fails: []string{"write.merge-patch"}},
	{name: "a merge patch ignores labels", fault: sent(merges, func(m map[string]any) { delete(m, "labels") }), fails: []string{"write.merge-patch"}},
	{name: "a list does not select by a new label", fault: change(func(c call) bool { return c.selects("step=patched") }, func(c call) call {
		return c.with("labelSelector", "nothing=has-it")
	}), fails: []string{"write.merge-patch"}},
	{name: "a list selects by an old label", fault: change(func(c call) bool { return c.selects("step=created") }, func(c call) call {
		return c.with("labelSelector", strings.Replace(c.query.Get("labelSelector"), "step=created", "step in (created,patched)", 1))
	}), fails: []string{"write.merge-patch"}},

	{name: "a JSON patch ignores its tests", fault: change(patches, func(c call) call {
		_, rest, _ := strings.Cut(c.body, "},")
		c.body = "[" + rest
		return c
	}), fails: []string{"write.json-patch"}, also: []string{"write.watch-selector"}},
	{name: "a JSON patch is done by half", fault: answered(patches, func(next respond, c call, a answer) answer {
		if !a.ok() {
			_, rest, _ := strings.Cut(c.body, "},")
			c.body = "[" + rest
			next(c)
		}
		return a
	}), fails: []string{"write.json-patch"}, also: []string{"write.watch-selector"}},
	{name: "a failed JSON patch is answered with 200", fault: answered(patches, instead(http.StatusUnprocessableEntity)), fails: []string{"write.json-patch"}},
	{name: "a JSON patch is answered and not done", fault: change(patches, dry), fails: []string{"write.json-patch"}, also: watches},

	{name: "a delete ignores the uid", fault: change(deletes, bare), fails: []string{"write.delete-precondition"}},
	{name: "a delete with another uid is answered with 200", fault: answered(deletes, instead(http.StatusConflict)), fails: []string{"write.delete-precondition"}},
	{name: "a delete with another uid is answered with 404", fault: answered(deletes, func(_ respond, _ call, a answer) answer {
		if a.code == http.StatusConflict {
			a.code, a.body = 404, strings.NewReplacer(`"Conflict"`, `"NotFound"`, `"code":409`, `"code":404`).Replace(a.body)
		}
		return a
	}), fails: []string{"write.delete-precondition"}},
	{name: "a delete is answered and not done", fault: change(deletes, func(c call) call { return dry(bare(c)) }), fails: []string{"write.delete", "write.cleanup"}, also: []string{"write.delete-precondition"}, leaves: true},
	{name: "what was deleted is still read", fault: stale(func(c call) bool { return c.method == http.MethodGet && c.onItem() && strings.HasSuffix(c.path, "-a") }, deletes), fails: []string{"write.delete"}},
	{name: "what was deleted is still listed", fault: stale(func(c call) bool { return c.selects("vmikit-contract=") && !c.selects(",") }, deletes), fails: []string{"write.delete"}},
	{name: "what is not there is deleted", fault: answered(deletes, func(_ respond, _ call, a answer) answer {
		if a.code == http.StatusNotFound {
			a.code, a.body = 200, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
		}
		return a
	}), fails: []string{"write.delete"}},

	{name: "a watch leaves changes out", events: each(func(n int, eventType, line string) []string {
		if eventType == "MODIFIED" && n%2 == 0 {
			return nil
		}
		return []string{line}
	}), fails: []string{"write.watch", "write.watch-replay"}, also: []string{"write.watch-selector"}},
	{name: "a watch leaves deletions out", events: each(func(_ int, eventType, line string) []string {
		if eventType == "DELETED" {
			return nil
		}
		return []string{line}
	}), fails: watches},
	{name: "a watch tells twice", events: each(func(n int, _, line string) []string {
		if n == 2 {
			return []string{line, line}
		}
		return []string{line}
	}), fails: watches},
	{name: "a watch tells in another order", events: func(url.Values) func(string) []string {
		held, n := "", 0
		return func(line string) []string {
			switch n++; n {
			case 1:
				held = line
				return nil
			case 2:
				return []string{line, held}
			}
			return []string{line}
		}
	}, fails: watches},
	{name: "a watch says MODIFIED for ADDED", events: each(func(_ int, eventType, line string) []string {
		return []string{strings.Replace(line, `"type":"ADDED"`, `"type":"MODIFIED"`, 1)}
	}), fails: watches},
	{name: "a watch says ADDED for MODIFIED", events: each(func(_ int, eventType, line string) []string {
		return []string{strings.Replace(line, `"type":"MODIFIED"`, `"type":"ADDED"`, 1)}
	}), fails: watches},
	{name: "a watch shows machines as they were created", events: each(func(_ int, eventType, line string) []string {
		if eventType == "MODIFIED" {
			return retold(line, func(_, m map[string]any) { labelsOf(m)["vmikit-contract-step"] = "created" })
		}
		return []string{line}
	}), fails: watches},
	{name: "a watch deletes with an old resourceVersion", events: func(url.Values) func(string) []string {
		var last any
		return func(line string) []string {
			return retold(line, func(e, m map[string]any) {
				if e["type"] == "DELETED" {
					m["resourceVersion"] = last
				}
				last = m["resourceVersion"]
			})
		}
	}, fails: watches},
	{name: "a watch shows another namespace", events: each(func(n int, _, line string) []string {
		return retold(line, func(_, m map[string]any) { m["namespace"] = "elsewhere" })
	}), fails: watches},
	{name: "a watch shows another uid", events: each(func(n int, _, line string) []string {
		return retold(line, func(_, m map[string]any) { m["uid"] = fmt.Sprintf("11111111-2222-4333-8444-%012d", n) })
	}), fails: watches},
	{name: "a watch has an unknown type", events: each(func(n int, _, line string) []string {
		return []string{strings.Replace(line, `"type":"MODIFIED"`, `"type":"CHANGED"`, 1)}
	}), fails: append([]string{"schema.object"}, watches...)},
	{name: "a watch has bookmarks that nobody asked for", events: each(func(n int, eventType, line string) []string {
		if eventType == "DELETED" {
			return []string{`{"type":"BOOKMARK","object":{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{"resourceVersion":"1"}}}`, line}
		}
		return []string{line}
	}), fails: watches},
	{name: "a watch begins now", watch: func(q url.Values) { q.Del("resourceVersion") }, fails: []string{"write.watch-replay", "write.watch-selector"}, also: []string{"write.watch"}},
	{name: "a watch is a list", watch: func(q url.Values) { q.Del("watch") }, fails: watches, also: []string{"schema.object"}},
	{name: "a watch ignores the selector", watch: func(q url.Values) {
		if strings.Contains(q.Get("labelSelector"), ",") {
			q.Set("labelSelector", strings.Split(q.Get("labelSelector"), ",")[0])
		}
	}, fails: []string{"write.watch-selector"}},
	{name: "a watch with a selector tells MODIFIED of what no longer matches", events: func(q url.Values) func(string) []string {
		return func(line string) []string {
			if strings.Contains(q.Get("labelSelector"), ",") {
				line = strings.Replace(line, `"type":"DELETED"`, `"type":"MODIFIED"`, 1)
			}
			return []string{line}
		}
	}, fails: []string{"write.watch-selector"}},
	{name: "a watch ends at once", events: func(url.Values) func(string) []string { return nil }, fails: watches},
}

// Whatever is wrong with the writes of a server, the check that is about it says so,
// and nothing is left behind without being named.
func TestWriteMutants(t *testing.T) {
	t.Parallel() // with TestWriteBesideControllers: both wait most of the time
	server := start(t, apiserver.Options{})
	reports := make([]*contract.Report, len(writeMutants))
	var group errgroup.Group
	group.SetLimit(16) // most of the time they wait for events that do not come
	for i, m := range writeMutants {
		p := behind(server, m.fault)
		p.watch, p.events = m.watch, m.events
		target := p.target(t)
		group.Go(func() (err error) {
			reports[i], err = contract.Run(t.Context(), target, contract.WithWrite(mutantNamespace(i)), contract.WithOnly("write", "schema"))
			return err
		})
	}
	require.NoError(t, group.Wait())
	for i, m := range writeMutants {
		t.Run(m.name, func(t *testing.T) {
			report := reports[i]
			failed := with(report, contract.Fail)
			for _, id := range m.fails {
				assert.Contains(t, failed, id, findings(t, report))
			}
			for _, id := range failed {
				assert.Contains(t, slices.Concat(m.fails, m.also), id, findings(t, report))
			}
			if !m.leaves {
				assert.Empty(t, leftIn(t, server, mutantNamespace(i)), findings(t, report))
			}
		})
	}
}

func mutantNamespace(i int) string { return fmt.Sprintf("mutant-%d", i) }

// Every check of writes has a mutant, save the one that only warns.
func TestEveryWriteCheckHasAMutant(t *testing.T) {
	var caught []string
	for _, m := range writeMutants {
		assert.NotEmpty(t, m.fails, m.name)
		caught = append(caught, m.fails...)
	}
	for _, c := range contract.Checks() {
		if c.Subject() == "write" && c.ID != "write.no-op" {
			assert.Contains(t, caught, c.ID)
		}
	}
}
