package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

func TestGetIsTypedAndExact(t *testing.T) {
	body := recorded(t, "get.json")
	vm, err := serve(t, answer(200, "application/json", string(body))).Get(t.Context(), "vms", "vm1")
	require.NoError(t, err)
	assert.Equal(t, string(bytes.TrimSpace(body)), string(vm.Raw))
	assert.Equal(t, []string{"vm1", "vms", "f5132175-6d47-41f3-95ee-362ab8d7e484", "17", "Running", "worker-01"},
		[]string{vm.Name(), vm.Namespace(), vm.UID(), vm.ResourceVersion(), string(vm.Phase()), vm.NodeName()})
	v := view(t, vm)
	assert.Equal(t, vm.UID(), v.Metadata.UID)
	assert.Equal(t, time.Date(2026, 12, 1, 22, 7, 36, 0, time.UTC), v.Metadata.CreationTimestamp)
	assert.Equal(t, map[string]string{"app": "web", "tier": "silver"}, v.Metadata.Labels)
	assert.Equal(t, vmi.PhaseRunning, v.Status.Phase)
	assert.Equal(t, "10.1.2.3", v.Status.Interfaces[0].IPAddress)
	assert.True(t, v.Status.Conditions[1].LastTransitionTime.IsZero(), "null")
}

func TestGetUndoesCompression(t *testing.T) {
	body := recorded(t, "get.json")
	vm, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(body)
		_ = z.Close()
	}).Get(t.Context(), "vms", "vm1")
	require.NoError(t, err)
	assert.Equal(t, string(bytes.TrimSpace(body)), string(vm.Raw))
}

func TestNamesReachTheServerAsTheyAre(t *testing.T) {
	var got string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Path
		assert.Empty(t, r.URL.RawQuery)
		_, _ = w.Write(recorded(t, "get.json"))
	})
	for _, name := range []string{"vm1", "NotValid_Name", "vm 1", "a?b=c", "a#b", "a+b&c", "über", "...", "a,b", "a;b", "a\x00b"} {
		_, err := c.Get(t.Context(), "vms", name)
		require.NoError(t, err, "%q", name)
		assert.Equal(t, machines+"/"+name, got)
	}
}

func TestNamesThatAreNoPathSegmentAreNotSent(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for _, name := range []string{"", ".", "..", "a/b", "../vm1", "..%2fvm1", "%"} {
		vm, err := c.Get(t.Context(), "vms", name)
		require.ErrorContains(t, err, "the name ", "%q", name)
		assert.Nil(t, vm)
		_, err = c.Get(t.Context(), name, "vm1")
		require.ErrorContains(t, err, "the namespace ", "%q", name)
		if name != "" {
			_, err = c.List(t.Context(), name, client.ListOptions{})
			require.ErrorContains(t, err, "the namespace ", "%q", name)
		}
	}
}

func TestGetOfAnotherKindOfBodyIsAnError(t *testing.T) {
	json := "application/json"
	for want, body := range map[string][2]string{
		"answer is not JSON but text/html":                            {"text/html; charset=utf-8", "<html>log in</html>"},
		"answer is not JSON: invalid character '<'":                   {json, "<html>log in</html>"},
		"answer is not JSON: invalid character 'ï'":                   {json, "\ufeff" + object("web", "")},
		"answer is empty":                                             {json, " \n"},
		"answer breaks off in the middle of its JSON":                 {json, `{"kind":"VirtualMachineInstance","meta`},
		"answer has something after its JSON":                         {json, object("web", "") + object("web", "")},
		"answer has no kind, it is not a VirtualMachineInstance":      {json, `{"type":"ADDED","object":` + object("web", "") + `}`},
		"answer is a VirtualMachineInstanceList, not a":               {json, page("")},
		"answer is a Table, not a VirtualMachineInstance":             {json, `{"kind":"Table"}`},
		"answer is a Status, not a VirtualMachineInstance: no such":   {json, `{"kind":"Status","message":"no such\nthing"}`},
		"answer has no kind, it is not a VirtualMachineInstance (200": {json, `null`},
		"answer has no kind":                                          {json, `[` + object("web", "") + `]`},
		"answer has no kind, it":                                      {json, `{"Kind":"VirtualMachineInstance"}`},
	} {
		vm, err := serve(t, answer(200, body[0], body[1])).Get(t.Context(), "vms", "web")
		var wrong *client.Error
		require.ErrorAs(t, err, &wrong, want)
		assert.Equal(t, 200, wrong.Status)
		assert.ErrorContains(t, err, "get vmi vms/web: "+want)
		assert.NotContains(t, err.Error(), "\n")
		assert.Nil(t, vm)
	}
}

func TestBrokenConnectionIsNotAnAnswer(t *testing.T) {
	body := recorded(t, "get.json")
	_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
	}, once).Get(t.Context(), "vms", "vm1")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.EqualError(t, err, "get vmi vms/vm1: reading the answer: unexpected EOF")

	_, err = connect(t, "http://127.0.0.1:1/prefix", once).List(t.Context(), "vms",
		client.ListOptions{LabelSelector: "owner=s3cr3t"})
	require.ErrorContains(t, err, "list vmis in vms: dial tcp 127.0.0.1:1: ")
	assert.NotContains(t, err.Error(), "s3cr3t")
}

func TestEndOfTheContextIsVisible(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/begun/") {
			_, _ = io.WriteString(w, `{"kind":`)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
	tired := errors.New("tired")
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(hang))
		srv.EnableHTTP2 = protocol == "HTTP/2"
		srv.StartTLS()
		defer srv.Close()
		for _, path := range []string{"", "/begun"} {
			c := connect(t, srv.URL+path, client.WithHTTPClient(srv.Client()))
			for op, call := range map[string]func(context.Context) error{
				"get": func(ctx context.Context) error {
					_, err := c.Get(ctx, "vms", "web")
					return err
				},
				"create": func(ctx context.Context) error {
					_, err := c.Create(ctx, "vms", object("web", ""), client.WriteOptions{})
					return err
				},
				"watch": func(ctx context.Context) error {
					for _, err := range c.Watch(ctx, "vms", client.WatchOptions{ResourceVersion: "7"}) {
						return err
					}
					return nil
				},
			} {
				where := protocol + path + " " + op
				ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, tired)
				err := call(ctx)
				cancel()
				assert.ErrorIs(t, err, context.DeadlineExceeded, where)
				assert.ErrorIs(t, err, tired, where)
				assert.ErrorContains(t, err, op+" vmi", where)

				ctx, because := context.WithCancelCause(t.Context())
				time.AfterFunc(20*time.Millisecond, func() { because(tired) })
				err = call(ctx)
				assert.ErrorIs(t, err, context.Canceled, where)
				assert.ErrorIs(t, err, tired, where)
			}
		}
	}
}
