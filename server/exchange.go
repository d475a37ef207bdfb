package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/openapi"
)

// exchange is one request on its way through the server, and its answer.
type exchange struct {
	id       string
	w        http.ResponseWriter
	r        *http.Request
	base     context.Context // of the request, without the server's time-out
	info     requestInfo
	user     User
	op       *openapi.Operation // nil until routed
	resource *resource          // nil for what is no resource
	answer   answer
	err      error
	status   int
	warned   map[string]bool
	written  int64

	// impersonator is who asked to be taken for the user, "" for the user itself.
	impersonator string
	// body is that of a write, as far as it came, and bodyErr why it did not come further.
	body    []byte
	bodyErr error
	// place is the one that the request takes among those in flight, nil for none.
	place chan struct{}
	// observed is what the observer is told of the request, once it has begun.
	observed RequestInfo
	begun    bool
}

// warn tells the client of something that it may not have meant, once.
func (x *exchange) warn(text string) {
	if x.warned[text] || len(x.warned) == maxWarnings {
		return
	}
	if x.warned == nil {
		x.warned = make(map[string]bool)
	}
	x.warned[text] = true
	x.w.Header().Add("Warning", "299 - "+strconv.Quote(text))
}

// kind is that of the objects that the exchange is about, "" for none.
func (x *exchange) kind() string {
	if x.resource == nil {
		return ""
	}
	return x.resource.kind()
}

// maxWarnings keeps the head of an answer at a size that clients read.
const maxWarnings = 50

type exchangeKey struct{}

// exchangeOf returns the exchange that an echo handler works on.
func exchangeOf(c echo.Context) *exchange {
	return c.Request().Context().Value(exchangeKey{}).(*exchange)
}

// routed is the request as the router sees it: its path in the one spelling that
// is routed, HEAD as GET. The request that the answer is written for stays as it is.
func (x *exchange) routed() *http.Request {
	r := x.r.WithContext(context.WithValue(x.r.Context(), exchangeKey{}, x))
	u := *x.r.URL
	u.Path, u.RawPath = x.info.route(x.resource), ""
	if x.info.legacyWatch {
		u.RawQuery = x.info.watchQuery(u.Query())
	}
	r.URL = &u
	if r.Method == http.MethodHead {
		r.Method = http.MethodGet
	}
	return r
}
