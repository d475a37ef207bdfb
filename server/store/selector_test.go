package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

const (
	nameRule = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueRule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

func TestSelectorMatches(t *testing.T) {
	objects := map[string]map[string]string{
		"none":   {},
		"web":    {"app": "web", "tier": "gold", "n": "2"},
		"db":     {"app": "db", "n": "-7", "in": "notin"},
		"empty":  {"app": "", "n": "x"},
		"prefix": {"example.com/app": "web", "n": "9223372036854775808"},
	}
	for selector, want := range map[string]string{
		"":                             "db empty none prefix web",
		" \t\r\n":                      "db empty none prefix web",
		"app=web":                      "web",
		"app==web":                     "web",
		" app = web ":                  "web",
		"app!=web":                     "db empty none prefix",
		"app in (web,db)":              "db web",
		"app in(web)":                  "web",
		"app notin (web)":              "db empty none prefix",
		"app":                          "db empty web",
		"!app":                         "none prefix",
		"! app":                        "none prefix",
		"app=web,tier=gold":            "web",
		"app=web,tier=silver":          "",
		"app=web,app=db":               "",
		"app,app=web":                  "web",
		"app=":                         "empty",
		"app=,n":                       "empty",
		"app in ()":                    "empty",
		"app in (,)":                   "empty",
		"app in (,web)":                "empty web",
		"app in (web,,db)":             "db empty web",
		"app notin ()":                 "db none prefix web",
		"nosuch=1":                     "",
		"tier in (gold),app!=db":       "web",
		"example.com/app in (web, db)": "prefix",
		"n>1":                          "web",
		"n>2":                          "",
		"n<2":                          "db",
		"n<9223372036854775807":        "db web",
		"in=notin":                     "db",
		"in in (in,notin)":             "db",
		"!notin,in":                    "db",
		"app\x00":                      "db empty web",
		"app=web \x00 anything (":      "web",
	} {
		parsed, err := store.ParseSelector(selector)
		require.NoError(t, err, "%q", selector)
		var got []string
		for _, name := range []string{"db", "empty", "none", "prefix", "web"} {
			if parsed.Matches(lookup(objects[name])) {
				got = append(got, name)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), "%q", selector)
		assert.Equal(t, strings.Trim(selector, " \t\r\n") == "", parsed.Empty(), "%q", selector)
	}
}

func lookup(labels map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		value, ok := labels[key]
		return value, ok
	}
}

// The messages of a real API server, k8s.io/apimachinery v0.37.2.
func TestSelectorErrors(t *testing.T) {
	for selector, want := range map[string]string{
		"app in web":    "unable to parse requirement: found 'web' expected: '('",
		"app=web,,tier": "found ',', expected: identifier after ','",
		"app=web,":      "found '', expected: identifier after ','",
		"=web":          "found '=', expected: !, identifier, or 'end of string'",
		",app":          "found ',', expected: !, identifier, or 'end of string'",
		"app=web db":    "found 'db', expected: ',' or 'end of string'",
		"a b c":         "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
		"a\x00b":        "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
		"app=web!":      "found '!', expected: ',' or 'end of string'",
		"!app=web":      "found '=', expected: ',' or 'end of string'",
		"!app in (web)": "found 'in', expected: ',' or 'end of string'",
		"!!app":         "unable to parse requirement: found '!', expected: identifier",
		"!":             "unable to parse requirement: found '', expected: identifier",
		"app===web":     "unable to parse requirement: found '=', expected: identifier",
		"app>=1":        "unable to parse requirement: found '=', expected: identifier",
		"app=(web)":     "unable to parse requirement: found '(', expected: identifier",
		"app in (web":   "unable to parse requirement: found '', expected: ',' or ')'",
		"app in (web a": "unable to parse requirement: found 'a', expected: ',' or ')'",
		"app in (web,":  "unable to parse requirement: found '', expected: ',', or identifier",
		"app in (web,!": "unable to parse requirement: found '!', expected: ',', or identifier",
		"app in (":      "unable to parse requirement: found '', expected: ',', ')' or identifier",
		"app in (!":     "unable to parse requirement: found '!', expected: ',', ')' or identifier",
		"-bad=1":        `unable to parse requirement: <nil>: Invalid value: "-bad": ` + nameRule,
		"Ünicode=1":     `unable to parse requirement: <nil>: Invalid value: "Ünicode": ` + nameRule,
		"x/":            `unable to parse requirement: <nil>: Invalid value: "x/": name part must be non-empty; ` + nameRule,
		"/x":            `unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty`,
		"a..b/x": `unable to parse requirement: <nil>: Invalid value: "a..b/x": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',` +
			` and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		"bad/key/x=1": `unable to parse requirement: <nil>: Invalid value: "bad/key/x": a valid label key ` + strings.TrimPrefix(nameRule, "name part ") +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
		strings.Repeat("n", 64): `unable to parse requirement: <nil>: Invalid value: "` + strings.Repeat("n", 64) + `": name part must be no more than 63 bytes`,
		strings.Repeat("n.", 127) + "/x": `unable to parse requirement: <nil>: Invalid value: "` + strings.Repeat("n.", 127) + `/x": prefix part must be no more than 253 bytes; ` +
			"prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
			` (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		"app=-bad":                       `unable to parse requirement: values[0][app]: Invalid value: "-bad": ` + valueRule,
		"app=" + strings.Repeat("x", 64): `unable to parse requirement: values[0][app]: Invalid value: "` + strings.Repeat("x", 64) + `": must be no more than 63 bytes`,
		"app in (b-,a,c-)":               `unable to parse requirement: [values[1][app]: Invalid value: "b-": ` + valueRule + `, values[2][app]: Invalid value: "c-": ` + valueRule + `]`,
		"tier>gold":                      `unable to parse requirement: values[0]: Invalid value: "gold": for 'Gt', 'Lt' operators, the value must be an integer`,
		"tier>":                          `unable to parse requirement: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer`,
		"tier<-5":                        `unable to parse requirement: values[0][tier]: Invalid value: "-5": ` + valueRule,
		"n>9223372036854775808":          `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
	} {
		_, err := store.ParseSelector(selector)
		assert.EqualError(t, err, want, "%q", selector)
	}
}

func TestSelectorString(t *testing.T) {
	for selector, want := range map[string]string{
		"":                                "",
		"b = 1 ,a":                        "a,b=1",
		"app==web":                        "app==web",
		"app in (web,db,,web)":            "app in (,db,web)",
		"app notin ( db )":                "app notin (db)",
		"!z,n>1,n<5,app!=":                "app!=,n>1,n<5,!z",
		"example.com/x=y,example.com/a=b": "example.com/a=b,example.com/x=y",
	} {
		parsed, err := store.ParseSelector(selector)
		require.NoError(t, err)
		assert.Equal(t, want, parsed.String())
	}
}

func TestSelectorRequirements(t *testing.T) {
	parsed, err := store.ParseSelector("b in (y,x),a,c>3")
	require.NoError(t, err)
	requirements := parsed.Requirements()
	require.Len(t, requirements, 3)
	assert.Equal(t, "a", requirements[0].Key)
	assert.Equal(t, store.Exists, requirements[0].Operator)
	assert.Empty(t, requirements[0].Values)
	assert.Equal(t, store.In, requirements[1].Operator)
	assert.Equal(t, []string{"x", "y"}, requirements[1].Values)
	assert.Equal(t, store.GreaterThan, requirements[2].Operator)
	assert.Equal(t, []string{"3"}, requirements[2].Values)

	requirements[0].Key = "changed"
	assert.Equal(t, "a,b in (x,y),c>3", parsed.String())
}

// A hundred kilobytes of anything are read in the time that a hundred
// kilobytes take, and answered in a few lines.
func TestSelectorHuge(t *testing.T) {
	const size = 100_000
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var distinct strings.Builder
	for i := 0; distinct.Len() < size; i++ {
		fmt.Fprintf(&distinct, "v%d,", i)
	}
	began := time.Now()
	for _, selector := range []string{
		repeat("a"), repeat("a,"), repeat("a,") + "a", repeat(" "), repeat("("), repeat("!"), repeat("="), repeat(","), repeat("a=b,") + "a",
		"a in (" + repeat("x,") + ")", "a in (" + distinct.String() + ")", "a in (" + repeat(",") + ")", "a in (" + repeat("x ") + ")",
		"a in (" + strings.ReplaceAll(distinct.String(), "v", "-") + ")", repeat("/"), repeat("a."), repeat("a.") + "/b", repeat("\x00"), repeat("\xff"),
	} {
		parsed, err := store.ParseSelector(selector)
		if err != nil {
			assert.Less(t, len(err.Error()), 6*size)
			continue
		}
		assert.LessOrEqual(t, len(parsed.String()), len(selector)+1)
	}
	// All of it takes some 50 ms; an algorithm of quadratic time takes minutes.
	assert.Less(t, time.Since(began), 20*time.Second)
}

func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{
		"", "app=web", "app==web,tier!=gold", "x in (foo,,baz),y,z notin ()", "!a,b>1,c<22", "example.com/a=b", "in in (in)", "notin notin (notin)",
		"a\x00b", "a=b c", "app in (web", "-bad=1", "app=-bad", "n>x", "\xff", "Ü", " a = b , c ",
	} {
		f.Add(s, "a", "b")
	}
	f.Fuzz(func(t *testing.T, s, key, value string) {
		parsed, err := store.ParseSelector(s)
		if err != nil {
			return
		}
		again, err := store.ParseSelector(parsed.String())
		require.NoError(t, err, "%q", parsed)
		require.Equal(t, parsed, again)
		for _, r := range parsed.Requirements() {
			labels := map[string]string{key: value}
			require.Equal(t, parsed.Matches(lookup(labels)), again.Matches(lookup(labels)))
			for _, v := range append(r.Values, value) {
				labels[r.Key] = v
				require.Equal(t, parsed.Matches(lookup(labels)), again.Matches(lookup(labels)))
			}
		}
	})
}
