package browser_test

import (
	"context"
	_ "embed"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
)

// look.js has the functions with which the tests look at a page.
//
//go:embed look.js
var look string

// unfolded opens everything that can be opened.
const unfolded = `document.querySelectorAll("details").forEach((d) => { d.open = true })`

// reports are pages of all kinds.
func reports(t *testing.T) map[string]*contract.Report {
	t.Helper()
	return map[string]*contract.Report{
		"passing": passing(t), "failing": failing(t), "huge": huge(t), "hostile": hostile(t, trap(t)),
	}
}

// trap is the address of a server that must not be asked for anything.
func trap(t *testing.T) string {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(func() {
		s.Close()
		assert.Zero(t, asked.Load(), "the page asked the trap for something")
	})
	return s.URL
}

// A page needs no network and breaks no rule of its own policy, whatever the
// target said; in light and in dark all text has the contrast that WCAG 2 asks for
// (AA), and it fits a narrow screen.
func TestPages(t *testing.T) {
	for name, report := range reports(t) {
		t.Run(name, func(t *testing.T) {
			b := open(t, report, width(1280), prefer("light", "screen"))
			eval[any](b, unfolded)
			b.do(chromedp.Evaluate[chromedp.Void](look))

			light := eval[looks](b, "look()")
			assert.Empty(t, light.Faint, "light")
			assert.Greater(t, light.Texts, 30)
			b.do(prefer("dark", "screen"))
			dark := eval[looks](b, "look()")
			assert.Empty(t, dark.Faint, "dark")
			assert.Equal(t, light.Texts, dark.Texts)
			assert.NotEqual(t, light.Page, dark.Page)
			assert.NotEqual(t, light.Text, dark.Text)

			b.do(width(360))
			assert.LessOrEqual(t, eval[int](b, "document.documentElement.scrollWidth"), 360, "the page is wider than the screen")
			assert.Empty(t, eval[[]string](b, "beyond()"))

			assert.False(t, eval[bool](b, "'pwned' in window"), "a text of the target was run")
			assert.Equal(t, 1, eval[int](b, "document.scripts.length"))
			complaints, requests := b.heard()
			assert.Empty(t, complaints)
			assert.Empty(t, requests)
		})
	}
}

// looks is what look() of look.js returns.
type looks struct {
	Page, Text string
	Texts      int
	Faint      []string
}

// Who uses a keyboard alone comes to the first failure at once, sees where the focus
// is, and can fold and unfold.
func TestKeyboard(t *testing.T) {
	report := huge(t)
	b := open(t, report, width(1280))
	focused := func() string { return eval[string](b, "document.activeElement.textContent.trim()") }

	b.do(chromedp.KeyEvent(kb.Tab))
	assert.Equal(t, "Skip to the results", focused())
	assert.True(t, eval[bool](b, "document.activeElement.getBoundingClientRect().top >= 0"), "the link is not seen")
	b.do(chromedp.KeyEvent(kb.Tab))
	first := focused()
	assert.Equal(t, firstFailure(report), first)
	assert.NotEqual(t, "none", eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"))

	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`location.hash === "#` + first + `"`)
	b.wait(`document.getElementById("` + first + `").getBoundingClientRect().top < innerHeight`)
	// The next stop is in the check, a finding that folds.
	b.do(chromedp.KeyEvent(kb.Tab))
	assert.Equal(t, "SUMMARY", eval[string](b, "document.activeElement.tagName"))
	assert.Equal(t, first, eval[string](b, "document.activeElement.closest('article').id"))
	before := eval[bool](b, "document.activeElement.parentElement.open")
	b.do(chromedp.KeyEvent(kb.Enter))
	assert.Equal(t, !before, eval[bool](b, "document.activeElement.parentElement.open"))

	// Everything that can be used is reached, in the order of the page.
	eval[any](b, unfolded)
	assert.Empty(t, eval[[]string](b, `[...document.querySelectorAll("[tabindex]")].filter((e) => e.tabIndex > 0).map((e) => e.outerHTML)`))
}

func firstFailure(report *contract.Report) string {
	for _, r := range report.Results {
		if r.Outcome == contract.Fail {
			return r.ID
		}
	}
	return ""
}

// The boxes hide the checks of an outcome or a subject, and say how many are left; a
// link to a hidden check shows it again.
func TestFilter(t *testing.T) {
	report := failing(t)
	b := open(t, report, width(1280))
	box := func(name, value string) string {
		return `document.querySelector("input[name=` + name + `][value=` + value + `]")`
	}
	visible := func(id string) bool {
		return eval[bool](b, `document.getElementById("`+id+`").checkVisibility()`)
	}
	require.True(t, visible("schema.object"))
	require.False(t, visible("consistency.list"), "passes are folded")

	// With the keyboard: focus the box and press space.
	eval[any](b, box("subject", "schema")+`.focus()`)
	b.do(chromedp.KeyEvent(" "))
	assert.False(t, visible("schema.object"))
	assert.True(t, visible("auth.no-token"))
	assert.Regexp(t, `^\d+ of \d+ checks are shown below$`, eval[string](b, `document.getElementById("filtered").textContent`))

	eval[any](b, box("outcome", "pass")+`.click()`)
	assert.False(t, eval[bool](b, `[...document.querySelectorAll("h2")].find((h) => h.textContent === "Passes").checkVisibility()`), "a group with nothing in it is shown")
	eval[any](b, box("outcome", "fail")+`.click()`)
	assert.False(t, visible("auth.no-token"))

	eval[any](b, `document.querySelector(".cells a[href='#schema.object']").click()`)
	b.wait(`document.getElementById("schema.object").checkVisibility()`)
	assert.True(t, eval[bool](b, box("subject", "schema")+`.checked`))

	eval[any](b, `document.querySelector(".cells a[href='#consistency.list']").click()`)
	b.wait(`document.getElementById("consistency.list").checkVisibility()`)
	assert.Empty(t, eval[string](b, `document.getElementById("filtered").textContent`))
}

// A command line is copied as it stands, with the keyboard, without network.
func TestCopy(t *testing.T) {
	report := failing(t)
	b := open(t, report, width(1280), call(browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted,
	}))
	eval[any](b, `document.querySelector("article .finding .copy").focus()`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.textContent === "Copied"`)
	want := ""
	for _, r := range report.Results {
		if r.ID == firstFailure(report) {
			want = r.Findings[0].Curl
		}
	}
	assert.Equal(t, want, eval[string](b, "navigator.clipboard.readText()"))
}

// Without scripts everything can be read, and what does not work is not there.
func TestWithoutScripts(t *testing.T) {
	report := failing(t)
	b := open(t, report, call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), width(1280))
	b.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}))
	assert.False(t, eval[bool](b, `[...document.querySelectorAll("button, input")].some((e) => e.checkVisibility())`))
	text := eval[string](b, "document.body.innerText")
	for _, r := range report.Results {
		for _, f := range r.Findings {
			assert.Contains(t, text, f.Message)
		}
	}
	// A link into what is folded unfolds it.
	require.False(t, eval[bool](b, `document.getElementById("consistency.list").checkVisibility()`))
	b.do(chromedp.Click(chromedp.CSS(".cells a[href='#consistency.list']")))
	b.wait(`document.getElementById("consistency.list").checkVisibility()`)
}

// On paper the findings are unfolded.
func TestPrint(t *testing.T) {
	b := open(t, huge(t), width(1280), prefer("light", "print"))
	assert.Equal(t, 0, eval[int](b, `[...document.querySelectorAll(".finding > .field")].filter((e) => !e.checkVisibility()).length`))
	assert.False(t, eval[bool](b, `document.querySelector(".copy").checkVisibility()`))
}

// What a screen reader is told: landmarks, headings without gaps, and a name for all
// that can be used.
func TestAccessibilityTree(t *testing.T) {
	for name, report := range map[string]*contract.Report{"passing": passing(t), "failing": failing(t)} {
		t.Run(name, func(t *testing.T) {
			b := open(t, report, width(1280))
			eval[any](b, unfolded)
			tree := run(b, func(ctx context.Context, target *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
				return cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
			})
			roles := make(map[string]int)
			var names []string
			for _, node := range tree.Nodes {
				if node.Ignored || node.Role == nil {
					continue
				}
				role, called := text(node.Role), text(node.Name)
				roles[role]++
				switch role {
				case "link", "button", "checkbox", "heading", "DisclosureTriangle", "RootWebArea":
					assert.NotEmpty(t, called, "a %s without a name", role)
				}
				if role == "link" {
					names = append(names, called)
				}
			}
			for _, role := range []string{"banner", "main", "heading", "link", "checkbox", "list", "listitem", "DisclosureTriangle", "status"} {
				assert.Positive(t, roles[role], role)
			}
			for _, r := range report.Results {
				assert.Contains(t, names, r.ID+": "+string(r.Outcome), "the picture says it in words")
			}
			levels := eval[[]int](b, `[...document.querySelectorAll("h1,h2,h3,h4")].map((h) => +h.tagName[1])`)
			assert.Equal(t, 1, levels[0])
			for i := range levels[1:] {
				assert.LessOrEqual(t, levels[i+1], levels[i]+1, "a level of headings is left out")
				assert.Greater(t, levels[i+1], 1, "there is one heading of the first level")
			}
			assert.Equal(t, "en", eval[string](b, "document.documentElement.lang"))
		})
	}
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}
