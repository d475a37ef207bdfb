package contract

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// Labels and annotations of what a run makes.
const (
	labelRun       = "vmikit-contract"
	labelStep      = "vmikit-contract-step"
	annotationWhy  = "vmikit.io/contract"
	annotationNote = "vmikit.io/contract-note"
	nowhere        = "vmikit.io/contract-nowhere"

	why = "made by vmikit contract to test this API; may be deleted"
	// patience is what a double cannot hold.
	patience = 1<<53 + 1
)

// writing is what the checks of writes share.
type writing struct {
	*run
	namespace string
	// id tells this run's machines from those of every other.
	id string
	// made are the machines that were asked for, answered or not.
	made []*made
	// machine is the one that the checks change.
	machine *made

	gated, created step
	// from is the resourceVersion before the first change, and changes what was
	// answered since then.
	from    string
	changes []change
	live    *stream
	// cleaned says that all that could be removed is.
	cleaned bool
}

func newWriting(r *run) *writing {
	if r.config.writeNamespace == "" {
		return nil
	}
	// What has to be written, and removed again, must not lack the requests for it.
	// They come on top of those that the other checks have.
	r.caller.reserved = writeRequests
	r.caller.max += writeRequests
	return &writing{run: r, namespace: r.config.writeNamespace, id: strings.ToLower(rand.Text()[:10])}
}

// made is a machine that was asked for.
type made struct {
	// name is "" as long as the server has not said which it has generated.
	name string
	// uid is "" as long as no answer has told it.
	uid string
	// resourceVersion is the newest that is known, first the one of the creation.
	resourceVersion, first string
	// created is the creationTimestamp, "" as long as no answer has told it.
	created string
	// whole says that the create was answered with all that was sent.
	whole bool
	// gone says that the machine is not there: it was deleted, or never made.
	gone bool
	// finalizing says that it was deleted and a finalizer keeps it.
	finalizing bool
}

// change is what a write was answered with.
type change struct {
	eventType string
	machine   *made
	// uid and resourceVersion are those of the answer.
	uid, resourceVersion string
	body                 []byte
}

// machineMeta is the metadata of a machine that the checks of writes look at.
type machineMeta struct {
	*item
	annotations map[string]string
	// deleted is the deletionTimestamp.
	deleted    string
	finalizers []string
	spec       any
}

// readMachine reads the metadata of a machine; ok is false for what has no name.
func readMachine(raw []byte) (m *machineMeta, ok bool) {
	it, ok := readItem(raw, "")
	if !ok {
		return nil, false
	}
	var object struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Spec     json.RawMessage            `json:"spec"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return nil, false
	}
	m = &machineMeta{item: it, annotations: make(map[string]string), deleted: text(object.Metadata["deletionTimestamp"])}
	m.spec, _ = decode(object.Spec)
	_ = json.Unmarshal(object.Metadata["finalizers"], &m.finalizers) // what is none is none
	var annotations map[string]json.RawMessage
	if json.Unmarshal(object.Metadata["annotations"], &annotations) == nil {
		for k, v := range annotations {
			m.annotations[k] = text(v)
		}
	}
	return m, true
}

func (w *writing) prefix() string { return "vmikit-contract-" + w.id + "-" }

// ours reports whether a machine is one that this run has made, by what nobody else
// has: the random part of its name or label.
func (w *writing) ours(it *item) bool {
	return it.namespace == w.namespace && (strings.HasPrefix(it.name, w.prefix()) || it.labels[labelRun] == w.id)
}

// manifest is a machine that KubeVirt accepts and that never runs.
func (w *writing) manifest(name, generateName, stepValue string) []byte {
	metadata := map[string]any{
		"namespace":   w.namespace,
		"labels":      map[string]any{labelRun: w.id, labelStep: stepValue},
		"annotations": map[string]any{annotationWhy: why},
	}
	if generateName != "" {
		metadata["generateName"] = generateName
	} else {
		metadata["name"] = name
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
		"metadata": metadata,
		"spec":     nowhereSpec(),
	})
	if err != nil {
		return nil // strings and numbers always have a JSON form
	}
	return body
}

// nowhereSpec is what the machines of a run are: the least that KubeVirt accepts, and
// something in it that is easily lost on the way.
func nowhereSpec() map[string]any {
	return map[string]any{
		"domain": map[string]any{
			"devices":   map[string]any{"autoattachPodInterface": false},
			"resources": map[string]any{"requests": map[string]any{"memory": "64Mi"}},
		},
		"nodeSelector":                  map[string]any{nowhere: "true"},
		"terminationGracePeriodSeconds": json.Number("0"),
		"tolerations": []any{map[string]any{
			"effect": "NoExecute", "key": nowhere, "operator": "Exists", "tolerationSeconds": json.Number(strconv.Itoa(patience)),
		}},
	}
}

const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json"
	typeJSONPatch  = "application/json-patch+json"
)

// dryRun asks for a write to be answered and not done.
var dryRun = url.Values{"dryRun": {"All"}}

// write sends a request that changes something. name "" is the collection. Its error
// is a deniedError for what the token may not do.
func (w *writing) write(ctx context.Context, method, name string, query url.Values, contentType string, body []byte) (*exchange, error) {
	path := machines(w.namespace)
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	ex, err := w.ask(ctx, request{
		op: w.judge.doc.Operation(opRead), form: openapi.FormItem, writes: true,
		method: method, path: path, query: query, contentType: contentType, body: body,
	})
	if err == nil && (ex.status == http.StatusForbidden || ex.status == http.StatusUnauthorized) {
		err = &deniedError{w.caller.redact.clean(fmt.Sprintf("%s is refused with status %d: %s", method, ex.status, statusMessage(ex.body)))}
	}
	return ex, err
}

// create asks for a machine. It is known for the cleaning up before it is asked for.
func (w *writing) create(ctx context.Context, name, generateName, stepValue string) (*made, *exchange, error) {
	m := &made{name: name}
	w.made = append(w.made, m)
	ex, err := w.write(ctx, http.MethodPost, "", nil, typeJSON, w.manifest(name, generateName, stepValue))
	if err != nil {
		return m, ex, err
	}
	w.learn(m, ex)
	if answered, ok := readMachine(ex.body); ok {
		m.whole = w.lost(answered) == ""
	}
	if m.first != "" {
		w.changed(m, "ADDED", ex)
	}
	return m, ex, nil
}

// learn takes from an answer what is not known yet of a machine. An answer may show
// any machine: only a name that nobody else has is believed to be this run's.
func (w *writing) learn(m *made, ex *exchange) {
	it, ok := readItem(ex.body, w.namespace)
	if !ok || !success(ex.status) || !strings.HasPrefix(it.name, w.prefix()) || m.name != "" && m.name != it.name {
		return
	}
	m.name, m.uid = it.name, cmp.Or(m.uid, it.uid)
	m.resourceVersion = cmp.Or(m.resourceVersion, it.resourceVersion)
	m.first = cmp.Or(m.first, it.resourceVersion)
	m.created = cmp.Or(m.created, it.created)
}

// changed notes what a write was answered with. An answer with the resourceVersion
// that is known already tells of no change.
func (w *writing) changed(m *made, eventType string, ex *exchange) {
	it, ok := readItem(ex.body, w.namespace)
	if !ok {
		return
	}
	if eventType != "ADDED" && it.resourceVersion == m.resourceVersion {
		return
	}
	m.resourceVersion = it.resourceVersion
	w.changes = append(w.changes, change{eventType, m, it.uid, it.resourceVersion, ex.body})
}

// get reads a machine of this run.
func (w *writing) get(ctx context.Context, name string) (*exchange, error) {
	return w.read(ctx, w.namespace, name, withToken)
}

// selected lists what has all these labels, of the form KEY=VALUE.
func (w *writing) selected(ctx context.Context, sc scope, labels ...string) (*listing, error) {
	return w.list(ctx, sc, url.Values{"labelSelector": {strings.Join(labels, ",")}}, 0)
}

func (w *writing) runLabel() string { return labelRun + "=" + w.id }

// edit returns a machine with an annotation changed and all else as it is.
func edit(machine []byte, annotation, value string) ([]byte, bool) {
	dec := json.NewDecoder(bytes.NewReader(machine))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil {
		return nil, false
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, false
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = make(map[string]any)
		metadata["annotations"] = annotations
	}
	annotations[annotation] = value
	body, err := json.Marshal(object)
	return body, err == nil
}

func success(status int) bool { return status >= 200 && status < 300 }

// statusMessage is what a Status says for people.
func statusMessage(body []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		return "no message"
	}
	return status.Message
}

// statusReason is what a Status says for programs.
func statusReason(body []byte) string {
	var status struct{ Reason string }
	if json.Unmarshal(body, &status) != nil {
		return ""
	}
	return status.Reason
}
