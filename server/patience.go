package server

import (
	"net/http"
	"sync"
	"time"
)

// patience bounds how long a client may take to read what it is sent. A deadline that
// is set ahead would do over HTTP/1.1 alone: over HTTP/2 one that passes ends the
// stream also when nothing is being written, and each is a message to the goroutine
// of the connection.
type patience struct {
	control *http.ResponseController
	timer   *time.Timer

	mu   sync.Mutex
	over bool
}

// newPatience also lifts the limits that the server has for ordinary requests. Where
// limits cannot be set there are none.
func newPatience(control *http.ResponseController) *patience {
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
	p := &patience{control: control}
	p.timer = time.AfterFunc(eventWait, p.lose)
	p.timer.Stop()
	return p
}

// while writes, and cuts the client off when that takes too long.
func (p *patience) while(write func() error) error {
	p.timer.Reset(eventWait)
	defer p.timer.Stop()
	return write()
}

// lose ends whatever is being written: its deadline has passed.
func (p *patience) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		_ = p.control.SetWriteDeadline(time.Unix(1, 0))
	}
}

// close is for the end of the answer, after which its controller is not to be used.
func (p *patience) close() {
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
