package mutant

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonMutants break a body before any schema is asked, or the transport of it.
func jsonMutants() []Mutant {
	const kind = `"kind":"VirtualMachineInstance"`
	lastBrace := func(b string) string { return b[:strings.LastIndex(b, "}")] }
	return of(JSON,
		// keys
		Mutant{Name: "key-twice-same-value", Fault: edit("prod/vm04", `"nodeName":"node-1"`, `"nodeName":"node-1","nodeName":"node-1"`)},
		Mutant{Name: "key-twice-other-value", Fault: edit("stage/vm14", `"nodeName":"node-1"`, `"nodeName":"node-2","nodeName":"node-1"`)},
		Mutant{Name: "key-twice-one-escaped", Fault: edit("prod/vm09", kind, kind+`,"k\u0069nd":"VirtualMachineInstance"`)},
		Mutant{Name: "key-twice-other-case", Fault: edit("prod/vm03", `"phase":"Running","phaseT`, `"phase":"Running","Phase":"Failed","phaseT`)},
		Mutant{Name: "metadata-twice-in-get", Fault: func(s *Server) {
			s.InGet = editEach(`"metadata":{`, `"metadata":{},"metadata":{`)
		}},
		Mutant{Name: "items-twice-in-list", Fault: replace(isList, `"items":`, `"items":[],"items":`)},
		Mutant{Name: "label-twice", Fault: edit("prod/vm01", `"app":"web"`, `"app":"db","app":"web"`)},

		// encoding
		Mutant{Name: "latin-1-in-annotation", Fault: add("stage/vm11", `"metadata":{`, "\"annotations\":{\"owner\":\"Andr\xe9\"}")},
		Mutant{Name: "surrogate-in-utf-8", Fault: add("prod/vm06", `"metadata":{`, "\"annotations\":{\"owner\":\"\xed\xa0\xbd\xed\xb8\x80\"}")},
		Mutant{Name: "overlong-utf-8-in-get", Fault: func(s *Server) { s.InGet = editEach(`"nodeName":"node-1"`, "\"nodeName\":\"node\xc0\xaf1\"") }},
		Mutant{Name: "rune-cut-in-half", Fault: add("prod/vm02", `"metadata":{`, "\"annotations\":{\"owner\":\"Zo\xc3\"}")},
		Mutant{Name: "byte-order-mark", Fault: body(isList, func(b string) string { return "\ufeff" + b })},
		Mutant{Name: "byte-order-mark-in-get", Fault: body(isGet, func(b string) string { return "\ufeff" + b })},
		Mutant{Name: "utf-16", Fault: body(isGet, func(b string) string {
			var out []byte
			for _, u := range utf16.Encode([]rune("\ufeff" + b)) {
				out = append(out, byte(u), byte(u>>8))
			}
			return string(out)
		})},
		Mutant{Name: "newline-in-string", Fault: add("stage/vm15", `"metadata":{`, "\"annotations\":{\"note\":\"two\nlines\"}")},
		Mutant{Name: "unknown-escape", Fault: add("test/alone", `"metadata":{`, `"annotations":{"path":"C:\images"}`)},

		// one value and no more, no less
		Mutant{Name: "empty-body-of-get", Fault: body(isGet, func(string) string { return "" })},
		Mutant{Name: "empty-body-of-empty-list", Fault: body(isList, func(b string) string {
			if strings.Contains(b, `"items":[]`) {
				return ""
			}
			return b
		})},
		Mutant{Name: "body-twice", Fault: body(isGet, func(b string) string { return b + b })},
		Mutant{Name: "list-with-trailing-null", Fault: body(isList, func(b string) string { return b + "null" })},
		Mutant{Name: "trailing-brace", Fault: body(isList, func(b string) string { return b + "}" })},
		Mutant{Name: "trailing-nul", Fault: body(isGet, func(b string) string { return b + "\x00" })},
		Mutant{Name: "log-line-behind-the-body", Fault: body(isAll, func(b string) string { return b + "W0501 08:00:00 slow request\n" })},
		Mutant{Name: "script-guard-in-front", Fault: body(anything, func(b string) string { return ")]}',\n" + b })},
		Mutant{Name: "one-object-a-line", Fault: func(s *Server) {
			s.Envelope = func(items, _ string) string {
				return strings.ReplaceAll(items, `},{"apiVersion"`, "}\n{\"apiVersion\"") + "\n"
			}
		}},
		Mutant{Name: "object-in-a-string", Fault: body(isGet, func(b string) string { return strconv.Quote(strings.TrimSpace(b)) })},

		// syntax
		Mutant{Name: "trailing-comma-in-items", Fault: func(s *Server) {
			envelope := s.Envelope
			s.Envelope = func(items, meta string) string {
				if items != "" {
					items += ","
				}
				return envelope(items, meta)
			}
		}},
		Mutant{Name: "trailing-comma-in-object", Fault: edit("prod/vm00", `"pod":{}}`, `"pod":{},}`)},
		Mutant{Name: "comment-in-body", Fault: body(isList, func(b string) string { return "/* cached */" + b })},
		Mutant{Name: "single-quotes", Fault: body(isGet, func(b string) string { return strings.ReplaceAll(b, `"`, `'`) })},
		Mutant{Name: "not-a-number", Fault: edit("prod/vm11", `"cores":2`, `"cores":NaN`)},
		Mutant{Name: "leading-zero", Fault: edit("stage/vm10", `"cores":2`, `"cores":02`)},
		Mutant{Name: "python-literals", Fault: edit("prod/vm10", `"lastProbeTime":null`, `"lastProbeTime":None`)},

		// truncation, length, encoding
		Mutant{Name: "list-truncated", Fault: body(isList, func(b string) string { return b[:len(b)*2/3] })},
		Mutant{Name: "get-without-last-brace", Fault: body(isGet, lastBrace)},
		Mutant{Name: "second-page-truncated", Fault: body(isPage, func(b string) string { return b[:len(b)-20] })},
		Mutant{Name: "cut-at-4096-bytes", Fault: body(anything, func(b string) string { return b[:min(len(b), 4096)] })},
		Mutant{Name: "content-length-too-long", Fault: length(isGet, func(n int) int { return n + 7 })},
		Mutant{Name: "content-length-too-short", Fault: length(isList, func(n int) int { return n - 7 })},
		Mutant{Name: "connection-closed-in-the-middle", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if !isAll(r) || code != http.StatusOK || isHead(r) {
					send(w, r, code, body)
					return
				}
				s.Headers(w.Header(), r, code)
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body[:len(body)/2]))
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}},
		Mutant{Name: "gzip-named-but-not-done", Fault: header(isList, http.StatusOK, "Content-Encoding", "gzip")},
		Mutant{Name: "gzip-done-but-not-named", Fault: body(isList, func(b string) string {
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			_, _ = z.Write([]byte(b))
			_ = z.Close()
			return out.String()
		})},
		Mutant{Name: "encoding-utf-8", Fault: header(anything, http.StatusOK, "Content-Encoding", "utf-8")},
		Mutant{Name: "encoding-brotli-not-done", Fault: header(isGet, http.StatusOK, "Content-Encoding", "br")},
	)
}

// length lets good answers announce another length than they have. What is longer
// than announced is cut, as on any wire.
func length(when func(*http.Request) bool, change func(int) int) func(*Server) {
	return func(s *Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if !when(r) || code != http.StatusOK || isHead(r) {
				send(w, r, code, body)
				return
			}
			s.Headers(w.Header(), r, code)
			n := change(len(body))
			w.Header().Set("Content-Length", strconv.Itoa(n))
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body[:min(n, len(body))]))
		}
	}
}
