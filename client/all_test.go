package client_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server/servertest"
)

// pages serves a list in pages, the token being the number of the page, and notes
// the queries.
func pages(queries *[]string, pages ...[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*queries = append(*queries, r.URL.RawQuery)
		n, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		next := ""
		if n+1 < len(pages) {
			next = strconv.Itoa(n + 1)
		}
		_, _ = w.Write([]byte(page(next, pages[n]...)))
	}
}

func TestAllGoesOverPages(t *testing.T) {
	var queries []string
	c := serve(t, pages(&queries, []string{object("a", ""), object("b", "")}, nil, []string{object("c", "")}))
	seq := c.All(t.Context(), "vms", client.ListOptions{
		Limit: 2, LabelSelector: "app", ResourceVersion: "7", ResourceVersionMatch: "Exact",
	})
	for range 2 {
		queries = nil
		var got []*client.VMI
		for vm, err := range seq {
			require.NoError(t, err)
			got = append(got, vm)
		}
		assert.Equal(t, []string{"a", "b", "c"}, names(got))
		assert.Equal(t, []string{
			"labelSelector=app&limit=2&resourceVersion=7&resourceVersionMatch=Exact",
			"labelSelector=app&limit=2&continue=1",
			"labelSelector=app&limit=2&continue=2",
		}, queries)
	}
}

func TestAllAsksForPagesOf500AndOnlyWhenNeeded(t *testing.T) {
	var queries []string
	c := serve(t, pages(&queries, []string{object("a", ""), object("b", "")}, []string{object("c", "")}))
	for vm, err := range c.All(t.Context(), "", client.ListOptions{}) {
		require.NoError(t, err)
		if vm.Name() == "b" {
			break
		}
	}
	assert.Equal(t, []string{"limit=500"}, queries)

	queries = nil
	for range c.All(t.Context(), "", client.ListOptions{Continue: "1"}) {
	}
	assert.Equal(t, []string{"limit=500&continue=1"}, queries, "it may begin at a later page")
}

func TestAllEndsWithTheFirstError(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("continue") {
			answer(http.StatusGone, "application/json", string(recorded(t, "expired.json")))(w, r)
			return
		}
		_, _ = w.Write([]byte(page("old", object("a", ""))))
	})
	var got []string
	var last error
	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		require.NoError(t, last, "nothing follows an error")
		if last = err; err != nil {
			assert.Nil(t, vm)
			continue
		}
		got = append(got, vm.Name())
	}
	assert.Equal(t, []string{"a"}, got)
	assert.ErrorIs(t, last, client.ErrGone)
}

func TestAllLeavesBadValuesToTheirItem(t *testing.T) {
	var queries []string
	bad := object("bad", `,"spec":{"domain":{"firmware":{"bootloader":{"efi":{"secureBoot":"true"}}}}}`)
	c := serve(t, pages(&queries, []string{object("a", ""), bad, object("b", "")}, []string{bad, object("c", "")}))
	var got []*client.VMI
	var indexes []int
	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		require.NoError(t, err)
		got = append(got, vm)
		if _, err := vm.View(); err != nil {
			var item *client.ItemError
			require.ErrorAs(t, err, &item)
			assert.Equal(t, "/spec/domain/firmware/bootloader/efi/secureBoot", item.Pointer)
			assert.Equal(t, bad, string(item.Raw))
			assert.Equal(t, bad, string(vm.Raw))
			indexes = append(indexes, item.Index)
		}
	}
	assert.Equal(t, []string{"a", "bad", "b", "bad", "c"}, names(got))
	assert.Equal(t, []int{1, 3}, indexes, "positions in the whole list")
}

// large is a page of more than All reads ahead.
func large() (string, []string) {
	var items, names []string
	for i := range 100 {
		names = append(names, "vm"+strconv.Itoa(i))
		items = append(items, object(names[i], `,"spec":{"x":"`+strings.Repeat("-", 60_000)+`"}`))
	}
	return page("", items...), names
}

func TestAllYieldsOfALargePageWhileItIsRead(t *testing.T) {
	body, want := large()
	rest := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(body[:5<<20]))
		w.(http.Flusher).Flush()
		<-rest
		_, _ = w.Write([]byte(body[5<<20:]))
	})
	var got []*client.VMI
	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		require.NoError(t, err)
		if len(got) == 0 {
			close(rest)
		}
		got = append(got, vm)
	}
	assert.Equal(t, want, names(got))
	assert.Equal(t, object("vm99", `,"spec":{"x":"`+strings.Repeat("-", 60_000)+`"}`), string(got[99].Raw))
}

func TestAllOfALargePageMayEndInTheMiddle(t *testing.T) {
	body, want := large()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write([]byte(body[:5<<20]))
	})
	var got []*client.VMI
	var last error
	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		if last = err; err == nil {
			got = append(got, vm)
		}
	}
	require.ErrorIs(t, last, io.ErrUnexpectedEOF)
	assert.Equal(t, want[:len(got)], names(got))
	assert.Greater(t, len(got), 60)

	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		require.NoError(t, err)
		assert.Equal(t, "vm0", vm.Name())
		break
	}

	c = serve(t, answer(200, "application/json", strings.Replace(body, "InstanceList", "List", 1)))
	for _, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		last = err
	}
	assert.EqualError(t, last, "list vmis in vms: answer is a VirtualMachineList, not a VirtualMachineInstanceList (200)")
}

// A page of an ordinary size is looked at before the loop sees anything of it.
func TestAllChecksASmallPageFirst(t *testing.T) {
	for _, body := range []string{
		`{"kind":"Status","message":"no!","items":[` + object("a", "") + `]}`,
		`{"kind":"VirtualMachineInstanceList","items":[` + object("a", ""),
	} {
		c := serve(t, answer(200, "application/json", body))
		for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
			require.Error(t, err)
			assert.Nil(t, vm)
		}
	}
}

func TestAllDoesNotGoInCircles(t *testing.T) {
	requests := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		_, _ = w.Write([]byte(page("same", object("a", ""))))
	})
	var last error
	for _, err := range c.All(t.Context(), "", client.ListOptions{}) {
		last = err
	}
	assert.EqualError(t, last, "list vmis in all namespaces: the server's continue token leads back to the same page")
	assert.Equal(t, 2, requests)
}

func TestAllEndsWithTheContext(t *testing.T) {
	var queries []string
	c := serve(t, pages(&queries, []string{object("a", "")}, []string{object("b", "")}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range c.All(ctx, "", client.ListOptions{}) {
		cancel()
		last = err
	}
	assert.ErrorIs(t, last, context.Canceled)
	assert.Len(t, queries, 1)
}

// Pages that a server has forgotten in the middle of a range.
func TestAllGoesOnInThePresentIfItMay(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running"), machine("b", "Running"), machine("c", "Running"), machine("e", "Running")))
	for _, allow := range []bool{false, true} {
		s.Reset()
		var got []string
		var last error
		for vm, err := range s.Client.All(t.Context(), "vms", client.ListOptions{Limit: 2, AllowInconsistent: allow}) {
			if last = err; err != nil {
				break
			}
			if got = append(got, vm.Name()); vm.Name() == "b" {
				s.Create(machine("aa", "Running"), machine("d", "Running"))
				s.Delete("vms", "c")
				s.Expire()
			}
		}
		if allow {
			assert.NoError(t, last)
			assert.Equal(t, []string{"a", "b", "d", "e"}, got)
		} else {
			assert.ErrorIs(t, last, client.ErrGone)
			assert.Equal(t, []string{"a", "b"}, got)
		}
	}
}

func TestAllGivesUpOnServersThatOnlyForget(t *testing.T) {
	for name, token := range map[string]string{"without a token": "", "with one": "fresh"} {
		requests := 0
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if requests++; r.URL.Query().Has("continue") {
				answer(http.StatusGone, "application/json", `{"kind":"Status","metadata":{"continue":"`+token+`"}}`)(w, r)
				return
			}
			_, _ = w.Write([]byte(page("old", object("a", ""))))
		})
		var last error
		for _, err := range c.All(t.Context(), "vms", client.ListOptions{AllowInconsistent: true}) {
			last = err
		}
		assert.ErrorIs(t, last, client.ErrGone)
		assert.Equal(t, map[string]int{"": 2, "fresh": 3}[token], requests, name)
	}
}
