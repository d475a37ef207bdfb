package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
)

// healthCheck is one of the things that must be well for the server to be.
type healthCheck struct {
	name  string
	check func(context.Context) error
}

// healthChecks are those of /healthz, /livez and /readyz.
func (s *server) healthChecks() []healthCheck {
	return []healthCheck{
		{"ping", func(context.Context) error { return nil }},
		{"store", func(ctx context.Context) error {
			_, err := s.machines.store.Revision(ctx)
			return err
		}},
	}
}

// GetHealthz, GetLivez and GetReadyz answer ok once all checks do.
func (s *server) GetHealthz(c echo.Context, _ vmi.GetHealthzParams) error {
	return s.health(exchangeOf(c), "healthz")
}

// GetLivez answers as GetHealthz.
func (s *server) GetLivez(c echo.Context, _ vmi.GetLivezParams) error {
	return s.health(exchangeOf(c), "livez")
}

// GetReadyz answers as GetHealthz.
func (s *server) GetReadyz(c echo.Context, _ vmi.GetReadyzParams) error {
	return s.health(exchangeOf(c), "readyz")
}

// health answers with all checks that are not excluded, a line for each where the
// client wants that or something is wrong.
func (s *server) health(x *exchange, of string) error {
	query := x.r.URL.Query()
	excluded := slices.Compact(slices.Sorted(slices.Values(query["exclude"])))
	var lines strings.Builder
	well := true
	for _, c := range s.healthChecks() {
		switch {
		case slices.Contains(excluded, c.name):
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == c.name })
			fmt.Fprintf(&lines, "[+]%s excluded: ok\n", c.name)
		case s.isWell(x, c):
			fmt.Fprintf(&lines, "[+]%s ok\n", c.name)
		default:
			well = false
			fmt.Fprintf(&lines, "[-]%s failed: reason withheld\n", c.name)
		}
	}
	if len(excluded) > 0 {
		for i, name := range excluded {
			excluded[i] = quote(name)
		}
		fmt.Fprintf(&lines, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(excluded, ","))
	}
	x.w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !well:
		x.answer = plainText(http.StatusInternalServerError, lines.String()+of+" check failed\n")
	case query.Has("verbose"):
		x.answer = plainText(http.StatusOK, lines.String()+of+" check passed\n")
	default:
		x.answer = plainText(http.StatusOK, "ok")
	}
	return nil
}

// GetHealthzCheck, GetLivezCheck and GetReadyzCheck answer with one check.
func (s *server) GetHealthzCheck(c echo.Context, name string) error {
	return s.oneCheck(exchangeOf(c), name)
}

// GetLivezCheck answers as GetHealthzCheck.
func (s *server) GetLivezCheck(c echo.Context, name string) error {
	return s.oneCheck(exchangeOf(c), name)
}

// GetReadyzCheck answers as GetHealthzCheck.
func (s *server) GetReadyzCheck(c echo.Context, name string) error {
	return s.oneCheck(exchangeOf(c), name)
}

func (s *server) oneCheck(x *exchange, name string) error {
	for _, c := range s.healthChecks() {
		switch {
		case c.name != name:
			continue
		case s.isWell(x, c):
			x.answer = plainText(http.StatusOK, "ok")
		default:
			x.w.Header().Set("X-Content-Type-Options", "nosniff")
			x.answer = plainText(http.StatusInternalServerError, "internal server error: "+name+" failed: reason withheld\n")
		}
		return nil
	}
	return errNoSuchPath
}

// isWell does a check. Why one fails is for the log.
func (s *server) isWell(x *exchange, c healthCheck) bool {
	err := c.check(x.r.Context())
	if err != nil {
		s.log.Error("a health check fails", "id", x.id, "operation", operationID(x), "check", c.name, "error", err)
	}
	return err == nil
}

func plainText(status int, text string) answer {
	return answer{status: status, form: openapi.FormDeclared, contentType: "text/plain; charset=utf-8", head: []byte(text)}
}
