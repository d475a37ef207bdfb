package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vmikit/vmikit/contract"
)

// Reasons for which an answer is not judged.
const (
	tooLarge   = "answers that are too large to be judged"
	tooFast    = "answers that came faster than they could be judged"
	compressed = "answers in an encoding that cannot be read"
	hungUp     = "answers that the client did not wait for"
)

// answer sees every answer before it is passed on.
func (p *Proxy) answer(resp *http.Response) error {
	on := passageOf(resp.Request)
	ob := contract.Observation{
		Method: on.method, URL: on.url, RequestHeader: on.header,
		Status: resp.StatusCode, Header: resp.Header.Clone(), Started: on.started, Ended: time.Now(),
	}
	if !on.judged || resp.StatusCode == http.StatusSwitchingProtocols {
		inTime(resp.Request)
		p.observe(ob, 0)
		return nil
	}
	if w := p.observer.Watch(ob); w != nil {
		inTime(resp.Request)
		return p.watch(w, resp)
	}
	if p.config.enforce {
		return p.enforce(ob, resp)
	}
	inTime(resp.Request)
	if on.watch && resp.StatusCode == http.StatusOK {
		ob.Untold = "watches in a form that is not judged"
		p.observe(ob, 0)
		return nil
	}
	if on.method == http.MethodHead {
		p.observe(ob, 0)
		return nil
	}
	resp.Body = &tee{ReadCloser: resp.Body, max: p.config.maxBody, done: func(body []byte, untold string, err error) {
		ob.Ended, ob.Body, ob.Untold = time.Now(), body, untold
		if err != nil && resp.Request.Context().Err() != nil {
			ob.Untold = hungUp
		} else if err != nil {
			ob.Cut = cut(err)
		}
		p.observe(ob, int64(len(body)))
	}}
	return nil
}

// observe has an exchange judged, beside everything else.
func (p *Proxy) observe(ob contract.Observation, size int64) {
	judge := func() { p.observer.Observe(decoded(ob, p.config.maxBody)) }
	if p.queue.add(size, judge) {
		return
	}
	ob.Body, ob.Untold = nil, tooFast
	p.observer.Observe(ob)
}

// decoded undoes the encoding of a body. The answer itself keeps it.
func decoded(ob contract.Observation, limit int64) contract.Observation {
	encoding := strings.ToLower(strings.TrimSpace(ob.Header.Get("Content-Encoding")))
	if encoding == "" || encoding == "identity" || ob.Untold != "" || ob.Method == http.MethodHead {
		return ob
	}
	if encoding != "gzip" && encoding != "x-gzip" {
		if strings.Contains(strings.ToLower(ob.RequestHeader.Get("Accept-Encoding")), encoding) {
			ob.Body, ob.Untold = nil, compressed
		} else if ob.Cut == "" {
			ob.Body, ob.Cut = nil, "the body has an encoding that the client does not take"
		}
		return ob
	}
	plain, err := gunzip(ob.Body, limit)
	switch {
	case errors.Is(err, errTooLarge):
		ob.Body, ob.Untold = nil, tooLarge
	case err != nil && ob.Cut == "":
		ob.Body, ob.Cut = plain, "the body is not the gzip that its header says"
	default:
		ob.Body = plain
	}
	return ob
}

var errTooLarge = errors.New("too large")

func gunzip(body []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, limit+1))
	if int64(len(plain)) > limit {
		return nil, errTooLarge
	}
	return plain, err
}

// cut says how an answer broke off.
func cut(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the body ends before its length"
	}
	return "the connection breaks off within the body"
}

// tee keeps what is read, up to a bound, and tells when it ends.
type tee struct {
	io.ReadCloser
	max  int64
	kept bytes.Buffer
	over bool
	done func(body []byte, untold string, err error)
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	if int64(t.kept.Len()+n) > t.max && !t.over {
		t.over, t.kept = true, bytes.Buffer{}
	}
	if !t.over {
		t.kept.Write(b[:n])
	}
	if err != nil {
		t.end(err)
	}
	return n, err
}

func (t *tee) Close() error {
	t.end(io.ErrClosedPipe)
	return t.ReadCloser.Close()
}

func (t *tee) end(err error) {
	if t.done == nil {
		return
	}
	done := t.done
	t.done = nil
	switch {
	case errors.Is(err, io.ErrClosedPipe):
		done(nil, hungUp, nil)
	case t.over:
		done(nil, tooLarge, nil)
	case errors.Is(err, io.EOF):
		done(t.kept.Bytes(), "", nil)
	default:
		done(nil, "", err)
	}
}

// enforce reads an answer whole and passes it on when it is right.
func (p *Proxy) enforce(ob contract.Observation, resp *http.Response) error {
	limit := p.config.maxBody
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if int64(len(body)) > limit {
		// It cannot be held, so it cannot be held back.
		inTime(resp.Request)
		ob.Ended, ob.Untold = time.Now(), tooLarge
		p.observer.Observe(ob)
		resp.Body = &joined{Reader: io.MultiReader(bytes.NewReader(body), resp.Body), Closer: resp.Body}
		return nil
	}
	inTime(resp.Request)
	resp.Body.Close()
	ob.Ended, ob.Body = time.Now(), body
	if err != nil {
		if resp.Request.Context().Err() != nil {
			return err // the client is gone, or has waited long enough
		}
		ob.Cut = cut(err)
	}
	failures := failed(p.observer.Observe(decoded(ob, limit)))
	if err != nil && len(failures) == 0 {
		return err
	}
	if len(failures) > 0 {
		replace(resp, broken("answer", failures))
		return nil
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// joined is a body of which a part was read already.
type joined struct {
	io.Reader
	io.Closer
}

// failed are the violations that are failures.
func failed(violations []contract.Violation) []contract.Violation {
	var failures []contract.Violation
	for _, v := range violations {
		if v.Outcome == contract.Fail {
			failures = append(failures, v)
		}
	}
	return failures
}

// replace puts a Status in place of an answer.
func replace(resp *http.Response, s status) {
	body := s.json()
	resp.StatusCode, resp.Status = s.Code, strconv.Itoa(s.Code)+" "+http.StatusText(s.Code)
	resp.Header = http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}}
	resp.Trailer, resp.TransferEncoding = nil, nil
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
}
