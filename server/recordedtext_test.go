package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recording is one question to a Kubernetes API server and its answer, as a file of
// testdata/recorded has it.
type recording struct {
	id    string // file and position, e.g. 02-paging/8
	title string

	method, target string
	headers        []string // "Name: value", in the order they were sent
	body           string

	status int
	header http.Header
	// bare says that of the answer only the status was written down.
	bare bool

	// text is what was written down of the body. The recorder wrote JSON again,
	// indented, left parts out ("<trimmed>") and stopped after some lines.
	text string
	// raw says that text is as it was on the wire, as far as it goes.
	raw bool
	// more is how many lines were left out at the end, size the bytes on the wire,
	// -1 where it was not written down.
	more, size int
	// newline and indented are how JSON ended and looked on the wire; nil when the
	// body is none, or raw.
	newline, indented *bool

	// stream is set for a watch: text is a line for each event then, cut where it
	// is long, lines how many came, and closed says that the server ended it.
	stream bool
	lines  int
	closed bool
}

var (
	requestLine = regexp.MustCompile(`^> (\S+) (\S+) HTTP/1\.1$`)
	statusLine  = regexp.MustCompile(`^< HTTP/1\.1 (\d+)`)
	moreLines   = regexp.MustCompile(`^\[\.\.\. (\d+) more lines\]$`)
	rawBytes    = regexp.MustCompile(`^\[\.\.\. (\d+) bytes on the wire in all\]$`)
	wireBody    = regexp.MustCompile(`^\[wire body (\d+) bytes(?:; ends with newline: (True|False); pretty: (True|False); \d+ ms)?\]$`)
	eventLine   = regexp.MustCompile(`^\[\+[\d.]+s \d+B\] `)
	streamEnd   = regexp.MustCompile(`^\[stream ended after [\d.]+s: (.*); (\d+) lines\]$`)
)

const recordedDir = "testdata/recorded"

// readRecordings reads a file of exchanges.
func readRecordings(t *testing.T, name string) []*recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordedDir, name+".txt"))
	require.NoError(t, err)
	var all []*recording
	for i, text := range strings.Split("\n"+string(data), "\n################ ")[1:] {
		r := readRecording(t, text)
		r.id = name + "/" + strconv.Itoa(i+1)
		if whole, err := os.ReadFile(filepath.Join(recordedDir, name+"."+strconv.Itoa(i+1)+".json")); err == nil {
			require.True(t, strings.HasPrefix(string(whole), r.body), "%s: another body", r.id)
			r.body = string(whole)
		}
		r.complete(t)
		all = append(all, r)
	}
	return all
}

func readRecording(t *testing.T, text string) *recording {
	t.Helper()
	r := &recording{header: http.Header{}, size: -1}
	r.title, text, _ = strings.Cut(text, "\n")
	head, answer, found := strings.Cut(text, "\n< HTTP/1.1 ")
	require.True(t, found, "%s: no answer", r.title)
	r.readRequest(t, head)
	head, body, found := strings.Cut("< HTTP/1.1 "+answer, "\n<\n")
	require.True(t, found, "%s: no body", r.title)
	for i, line := range strings.Split(head, "\n") {
		if i == 0 {
			r.status = number(t, statusLine.FindStringSubmatch(line)[1])
			continue
		}
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "< "), ": ")
		r.header.Add(name, value)
	}
	r.readAnswer(t, body)
	return r
}

func (r *recording) readRequest(t *testing.T, text string) {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n> \n> ")
	r.body = body
	for i, line := range strings.Split(head, "\n") {
		if i == 0 {
			m := requestLine.FindStringSubmatch(line)
			require.NotNil(t, m, "%s: %s", r.title, line)
			r.method, r.target = m[1], m[2]
			continue
		}
		r.headers = append(r.headers, strings.TrimPrefix(line, "> "))
	}
}

func (r *recording) readAnswer(t *testing.T, text string) {
	t.Helper()
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if m := moreLines.FindStringSubmatch(line); m != nil {
			r.more = number(t, m[1])
		} else if m := rawBytes.FindStringSubmatch(line); m != nil {
			r.raw, r.size = true, number(t, m[1])
			break
		} else if m := wireBody.FindStringSubmatch(line); m != nil {
			r.size = number(t, m[1])
			if m[2] != "" {
				newline, indented := m[2] == "True", m[3] == "True"
				r.newline, r.indented = &newline, &indented
			}
			// A watch that was recorded as if it were no stream.
			if len(kept) > 0 && strings.HasPrefix(kept[0], `{"type":`) {
				kept = slices.DeleteFunc(kept, func(line string) bool { return line == "" })
				r.stream, r.lines, r.closed = true, len(kept), true
			}
			break
		} else if m := streamEnd.FindStringSubmatch(line); m != nil {
			r.stream, r.lines, r.closed = r.status == http.StatusOK, number(t, m[2]), m[1] == "server closed the stream"
			break
		} else {
			kept = append(kept, eventLine.ReplaceAllString(line, ""))
		}
	}
	r.text = strings.Join(kept, "\n")
}

// complete makes the body of the one request whole that was too long to write down.
func (r *recording) complete(t *testing.T) {
	t.Helper()
	length := number(t, r.sent("Content-Length", "0"))
	switch missing := length - len(r.body); {
	case missing > 0 && strings.HasSuffix(r.body, "xxx"):
		r.body += strings.Repeat("x", missing)
	default:
		require.Zero(t, missing, "%s: bytes of the request that are not there", r.id)
	}
}

// sent is a header of the request.
func (r *recording) sent(name, otherwise string) string {
	for _, h := range r.headers {
		if n, v, _ := strings.Cut(h, ": "); strings.EqualFold(n, name) {
			return v
		}
	}
	return otherwise
}

func (r *recording) String() string {
	return r.id + " " + r.title + ": " + r.method + " " + r.target
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
