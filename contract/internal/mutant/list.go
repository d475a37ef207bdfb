package mutant

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// selection is the query of a list, understood. Of a repeated parameter the first
// counts, one that is unknown is left alone.
type selection struct {
	labels, fields []Term
	limit, start   int
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, namespace string) {
	q := r.URL.Query()
	s.Query(namespace, q)
	sel, err := s.selection(q)
	if err != nil {
		f := Failure{Code: http.StatusBadRequest, Reason: "BadRequest", Message: err.Error()}
		if errors.Is(err, errLowLimit) {
			f.Code = s.ZeroLimit
		}
		s.fail(w, r, f)
		return
	}
	items := slices.DeleteFunc(slices.Clone(s.Objects), func(o Object) bool { return !s.InNamespace(namespace, o) })
	page, next := s.SelectThenLimit(items, func(o Object) bool { return s.selected(sel, o) }, sel.start, sel.limit)

	meta := map[string]any{"resourceVersion": strconv.FormatInt(s.Revision, 10), "continue": ""}
	if next >= 0 {
		meta["continue"] = s.Token(next)
		if len(sel.labels)+len(sel.fields) == 0 {
			meta["remainingItemCount"] = max(0, len(items)-next)
		}
	}
	s.Meta(namespace, q, meta)
	text, err := json.Marshal(meta)
	if err != nil {
		panic(err)
	}
	bodies := make([]string, len(page))
	for i, o := range page {
		bodies[i] = s.InList(o)
	}
	s.Send(w, r, http.StatusOK, s.Envelope(strings.Join(bodies, ","), string(text)))
}

var errLowLimit = errors.New("limit must be at least 1")

func (s *Server) selection(q url.Values) (sel selection, err error) {
	if q.Has("limit") {
		n, err := s.ParseLimit(q.Get("limit"))
		if err != nil {
			return sel, err
		}
		if n < 1 && s.ZeroLimit != http.StatusOK {
			return sel, errLowLimit
		}
		sel.limit = int(min(max(n, 0), 1<<30))
	}
	if token := q.Get("continue"); token != "" && !s.Minimal {
		if sel.start, err = s.Start(token); err != nil {
			return sel, err
		}
	}
	if sel.labels, err = s.ParseLabels(q.Get("labelSelector")); err != nil {
		return sel, err
	}
	sel.fields, err = s.ParseFields(q.Get("fieldSelector"))
	return sel, err
}

func (s *Server) selected(sel selection, o Object) bool {
	var met []bool
	for _, t := range sel.labels {
		met = append(met, s.MatchLabel(t, o.Labels))
	}
	if len(met) > 0 && !s.All(met) {
		return false
	}
	return !slices.ContainsFunc(sel.fields, func(t Term) bool { return !s.MatchField(t, o) })
}

func page(items []Object, start, limit int) ([]Object, int) {
	start = min(start, len(items))
	if limit == 0 || limit >= len(items)-start {
		return items[start:], -1
	}
	return items[start : start+limit], start + limit
}

// token is what is inside a continue token; clients must not look.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    int    `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

func (s *Server) encodeToken(next int) string {
	text, err := json.Marshal(token{tokenVersion, s.Revision, next})
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func decodeToken(text string) (int, error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, fmt.Errorf("invalid continue token: continue key is not valid: %w", err)
	}
	var t token
	if err := json.Unmarshal(data, &t); err != nil {
		return 0, fmt.Errorf("invalid continue token: continue key is not valid: %w", err)
	}
	if t.Version != tokenVersion || t.Start < 1 {
		return 0, errors.New("invalid continue token: server does not recognize this encoded version or position")
	}
	return t.Start, nil
}
