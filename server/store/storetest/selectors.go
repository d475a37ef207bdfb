package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// population is a store with random labels, and what is in it.
type population struct {
	store.Store
	random *rand.Rand
	labels map[string]map[string]string // by key
}

var (
	labelKeys   = []string{"app", "tier", "n", "example.com/zone"}
	labelValues = []string{"", "web", "db", "gold", "1", "2", "30", "-5"}
)

// manyValues is a list that is long enough for another way of looking it up.
var manyValues = "web,gold" + strings.Repeat(",nosuch", 3) + numbers(100, 200)

func numbers(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&b, ",%d", n)
	}
	return b.String()
}

// populate makes enough objects for an index to be worth asking. Some are
// updated and some deleted, so that an index has had to follow.
func populate(t *testing.T, s store.Store) population {
	t.Helper()
	p := population{s, rand.New(rand.NewPCG(1, 2)), map[string]map[string]string{}}
	for i := range 600 {
		namespace := fmt.Sprintf("ns-%d", i%3)
		name := fmt.Sprintf("vm-%d", i/3)
		d := draft(namespace, name, i, p.someLabels())
		mustCreate(t, s, d)
		if i%4 == 0 {
			d = draft(namespace, name, i, p.someLabels())
			_, err := s.Update(t.Context(), d, 0)
			require.NoError(t, err)
		}
		if i%7 == 0 {
			_, err := s.Delete(t.Context(), d.Key, 0)
			require.NoError(t, err)
			continue
		}
		p.labels[d.Key.String()] = d.Labels
	}
	return p
}

func (p population) someLabels() map[string]string {
	labels := map[string]string{}
	for _, key := range labelKeys {
		if p.random.IntN(3) > 0 {
			labels[key] = p.someValue()
		}
	}
	if p.random.IntN(20) == 0 {
		labels["rare"] = p.someValue()
	}
	return labels
}

func (p population) someValue() string {
	return labelValues[p.random.IntN(len(labelValues))]
}

// someSelector draws one to three requirements.
func (p population) someSelector() string {
	terms := make([]string, 1+p.random.IntN(3))
	for i := range terms {
		key := append(labelKeys, "rare", "none")[p.random.IntN(len(labelKeys)+2)]
		switch p.random.IntN(11) {
		case 0:
			terms[i] = key
		case 1:
			terms[i] = "!" + key
		case 2:
			terms[i] = key + "!=" + "web"
		case 3:
			terms[i] = fmt.Sprintf("%s notin (web,db)", key)
		case 4:
			terms[i] = fmt.Sprintf("%s>%d", key, p.random.IntN(4))
		case 5:
			terms[i] = fmt.Sprintf("%s<%d", key, p.random.IntN(4))
		case 6:
			terms[i] = fmt.Sprintf("%s in (%s,nosuch,gold)", key, labelValues[1+p.random.IntN(3)])
		case 7:
			terms[i] = key + "=="
		case 8:
			terms[i] = fmt.Sprintf("%s in (%s)", key, manyValues)
		case 9:
			terms[i] = fmt.Sprintf("%s notin (%s)", key, manyValues)
		default:
			terms[i] = key + "=" + labelValues[p.random.IntN(7)]
		}
	}
	return strings.Join(terms, ",")
}

// filter is the naive way: everything, and then what matches.
func (p population) filter(t *testing.T, selector store.Selector, opts store.ListOptions) []string {
	t.Helper()
	opts.Labels, opts.Limit = store.Selector{}, 0
	matching := []string{}
	for _, o := range list(t, p, opts).Objects {
		labels, ok := p.labels[o.Key.String()]
		require.True(t, ok)
		if selector.Matches(func(key string) (string, bool) { v, ok := labels[key]; return v, ok }) {
			matching = append(matching, o.Key.String())
		}
	}
	return matching
}

func labelSelectors(t *testing.T, h Harness) {
	p := populate(t, h.Store)
	found := 0
	for range 400 {
		text := p.someSelector()
		selector, err := store.ParseSelector(text)
		require.NoError(t, err)
		opts := store.ListOptions{Labels: selector}
		if p.random.IntN(2) == 0 {
			opts.Namespace = "ns-1"
		}
		if p.random.IntN(2) == 0 {
			opts.Start = fmt.Sprintf("ns-1/vm-%d", p.random.IntN(200))
		}
		page := list(t, p, opts)
		require.Equal(t, p.filter(t, selector, opts), keys(page.Objects), "%s, %+v", text, opts)
		require.False(t, page.More)
		require.Zero(t, page.Remaining)
		found += len(page.Objects)
	}
	require.Greater(t, found, 1000, "the selectors were too narrow to prove anything")
}

// selectedPages follows pages of a selection while its objects lose the label.
func selectedPages(t *testing.T, h Harness) {
	p := populate(t, h.Store)
	for _, text := range []string{"rare", "rare=web", "app in (web,db)", "app=web,tier!=gold", "!rare", "none=1"} {
		selector, err := store.ParseSelector(text)
		require.NoError(t, err)
		opts := store.ListOptions{Labels: selector, Limit: 3}
		want := p.filter(t, selector, opts)
		first := list(t, p, opts)
		require.LessOrEqual(t, len(first.Objects), 3)
		if first.More {
			require.EqualValues(t, -1, first.Remaining)
		}
		changes := 0
		got := walk(t, p, opts, func() {
			for _, key := range want[len(want)/2:] {
				if changes++; changes > 20 {
					return
				}
				namespace, name, _ := strings.Cut(key, "/")
				_, err := p.Update(t.Context(), draft(namespace, name, -1, nil), 0)
				require.NoError(t, err)
				p.labels[key] = nil
			}
		})
		require.Equal(t, want, keys(got), text)
	}
}

func fieldSelectors(t *testing.T, h Harness) {
	fill(t, h.Store)
	mustCreate(t, h.Store, draft("a", "labelled", 1, map[string]string{"app": "web"}))
	for _, c := range []struct {
		fields string
		opts   store.ListOptions
		want   []string
	}{
		{"metadata.name=vm", store.ListOptions{Namespace: "a"}, []string{"a/vm"}},
		{"metadata.name=vm", store.ListOptions{}, []string{"a-b/vm", "a.b/vm", "a/vm", "a0/vm", "ab/vm", "b/vm"}},
		{"metadata.name=vm", store.ListOptions{Start: "a/vm\x00"}, []string{"a0/vm", "ab/vm", "b/vm"}},
		{"metadata.name=vm,metadata.namespace=a", store.ListOptions{}, []string{"a/vm"}},
		{"metadata.name=vm,metadata.namespace=a", store.ListOptions{Namespace: "b"}, []string{}},
		{"metadata.name=vm,metadata.namespace!=a", store.ListOptions{Start: "a.b/zz"}, []string{"a0/vm", "ab/vm", "b/vm"}},
		{"metadata.name=vm,metadata.name=x", store.ListOptions{}, []string{}},
		{"metadata.name=vm,metadata.name!=vm", store.ListOptions{}, []string{}},
		{"metadata.name=", store.ListOptions{}, []string{}},
		{"metadata.namespace=", store.ListOptions{}, []string{}},
		{"metadata.name=vm", store.ListOptions{Namespace: "a", Start: "a/vm\x00"}, []string{}},
		{"metadata.name!=vm,metadata.name!=vm-10", store.ListOptions{Namespace: "a.b"}, []string{"a.b/0", "a.b/vm1", "a.b/x"}},
		{"metadata.namespace=a-b,metadata.name!=0", store.ListOptions{}, []string{"a-b/vm", "a-b/vm-10", "a-b/vm1", "a-b/x"}},
		{"=", store.ListOptions{Namespace: "b"}, []string{"b/0", "b/vm", "b/vm-10", "b/vm1", "b/x"}},
	} {
		fields, err := store.ParseFieldSelector(c.fields)
		require.NoError(t, err)
		c.opts.Fields = fields
		require.Equal(t, c.want, keys(list(t, h.Store, c.opts).Objects), "%s in %q", c.fields, c.opts.Namespace)
		c.opts.Limit = 2
		require.Equal(t, c.want, append([]string{}, keys(walk(t, h.Store, c.opts, func() {}))...), "%s in pages", c.fields)
	}

	labels, err := store.ParseSelector("app=web")
	require.NoError(t, err)
	fields, err := store.ParseFieldSelector("metadata.name=labelled")
	require.NoError(t, err)
	require.Equal(t, []string{"a/labelled"}, keys(list(t, h.Store, store.ListOptions{Labels: labels, Fields: fields}).Objects))
	fields, err = store.ParseFieldSelector("metadata.name!=labelled")
	require.NoError(t, err)
	require.Empty(t, list(t, h.Store, store.ListOptions{Labels: labels, Fields: fields}).Objects)
}
