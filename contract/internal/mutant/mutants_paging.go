package mutant

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// tokenDigits is a continue token that is a number.
func tokenDigits(next int) string { return strconv.Itoa(next) }

func digitsToken(token string) (int, error) { return strconv.Atoi(token) }

// pagingMutants get limit and continue wrong. A page may be shorter than its limit,
// and even empty, as long as it has a token and nothing is lost; that is no fault.
func pagingMutants() []Mutant {
	paged := func(change func(items []Object, start, limit int) ([]Object, int)) func(*Server) {
		return func(s *Server) { s.Page = change }
	}
	// number is that of a page, from 1.
	number := func(start, limit int) int {
		if limit == 0 {
			return 1
		}
		return start/limit + 1
	}
	cut := func(s *Server) func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
		return func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
			kept, next := s.Page(items, start, limit)
			return slices.DeleteFunc(slices.Clone(kept), func(o Object) bool { return !selected(o) }), next
		}
	}
	meta := func(change func(namespace string, q url.Values, meta map[string]any)) func(*Server) {
		return func(s *Server) { s.Meta = change }
	}
	query := func(change func(namespace string, q url.Values)) func(*Server) {
		return func(s *Server) { s.Query = change }
	}
	selects := func(q url.Values) bool { return q.Has("labelSelector") || q.Has("fieldSelector") }
	return of(Paging,
		// the limit
		Mutant{Name: "limit-ignored", Fault: query(func(_ string, q url.Values) { q.Del("limit") })},
		Mutant{Name: "limit-ignored-for-all-namespaces", Fault: query(func(namespace string, q url.Values) {
			if namespace == "" {
				q.Del("limit")
			}
		})},
		Mutant{Name: "limit-ignored-with-selector", Fault: query(func(_ string, q url.Values) {
			if selects(q) {
				q.Del("limit")
			}
		})},
		Mutant{Name: "limit-one-ignored", Fault: query(func(_ string, q url.Values) {
			if q.Get("limit") == "1" {
				q.Del("limit")
			}
		})},
		Mutant{Name: "limit-one-more", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			if limit > 0 {
				limit++
			}
			return page(items, start, limit)
		})},
		Mutant{Name: "limit-one-more-on-the-last-page", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			if limit > 0 && len(items)-start == limit+1 {
				limit++
			}
			return page(items, start, limit)
		})},
		Mutant{Name: "limit-at-n-loses-the-last", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if limit == len(items) && len(kept) > 1 {
				kept = kept[:len(kept)-1]
			}
			return kept, next
		})},
		Mutant{Name: "limit-above-n-is-nothing", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			if limit > len(items) {
				return nil, -1
			}
			return page(items, start, limit)
		})},
		Mutant{Name: "limit-above-n-400", Fault: func(s *Server) {
			s.ParseLimit = func(text string) (int64, error) {
				n, err := strconv.ParseInt(text, 10, 64)
				if err == nil && n > int64(len(s.Objects)) {
					err = errors.New("limit is too high")
				}
				return n, err
			}
		}},
		Mutant{Name: "limit-before-selector", Fault: func(s *Server) {
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				kept, _ := cut(s)(items, selected, start, limit)
				return kept, -1
			}
		}},
		Mutant{Name: "limit-before-field-selector", Fault: func(s *Server) {
			right := s.SelectThenLimit
			fields := false
			s.Query = func(_ string, q url.Values) { fields = q.Has("fieldSelector") }
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				if !fields {
					return right(items, selected, start, limit)
				}
				kept, _ := cut(s)(items, selected, start, limit)
				return kept, -1
			}
		}},
		Mutant{Name: "limit-before-namespace", Fault: func(s *Server) {
			var namespace string
			s.Query = func(ns string, _ url.Values) { namespace = ns }
			right := s.SelectThenLimit
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				if namespace == "" || limit == 0 {
					return right(items, selected, start, limit)
				}
				first, _ := page(s.Objects, start, limit)
				kept := slices.DeleteFunc(slices.Clone(first), func(o Object) bool { return o.Namespace != namespace || !selected(o) })
				return kept, -1
			}
		}},
		Mutant{Name: "limit-for-each-namespace", Fault: func(s *Server) {
			var namespace string
			s.Query = func(ns string, _ url.Values) { namespace = ns }
			right := s.SelectThenLimit
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				if namespace != "" || limit == 0 {
					return right(items, selected, start, limit)
				}
				count := map[string]int{}
				kept := slices.DeleteFunc(slices.Clone(items), func(o Object) bool {
					if !selected(o) {
						return true
					}
					count[o.Namespace]++
					return count[o.Namespace] > limit
				})
				return kept, -1
			}
		}},
		Mutant{Name: "silent-cap-of-fifteen", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			if start == 0 && limit == 0 && len(items) > 15 {
				return items[:15], -1
			}
			return page(items, start, limit)
		})},

		// what joined pages are
		Mutant{Name: "continue-empty-though-more", Fault: meta(func(_ string, _ url.Values, meta map[string]any) {
			meta["continue"] = ""
			delete(meta, "remainingItemCount")
		})},
		Mutant{Name: "continue-empty-with-selector", Fault: meta(func(_ string, q url.Values, meta map[string]any) {
			if selects(q) {
				meta["continue"] = ""
			}
		})},
		Mutant{Name: "continue-ignored", Fault: query(func(_ string, q url.Values) { q.Del("continue") })},
		Mutant{Name: "continue-ignored-for-all-namespaces", Fault: query(func(namespace string, q url.Values) {
			if namespace == "" {
				q.Del("continue")
			}
		})},
		Mutant{Name: "token-never-moves", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if next > 0 && start > 0 {
				next = start
			}
			return kept, next
		})},
		Mutant{Name: "last-page-leads-to-the-first-again", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if start > 0 && next < 0 && limit > 0 {
				next = limit
			}
			return kept, next
		})},
		Mutant{Name: "empty-pages-for-ever", Fault: func(s *Server) {
			s.Page = func(items []Object, start, limit int) ([]Object, int) {
				kept, next := page(items, start, limit)
				if next < 0 && limit > 0 {
					next = start + limit
				}
				return kept, next
			}
		}},
		Mutant{Name: "pages-overlap", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if limit > 1 && next > 0 {
				next--
			}
			return kept, next
		})},
		Mutant{Name: "pages-skip-one", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if next > 0 {
				next++
			}
			return kept, next
		})},
		Mutant{Name: "last-page-lost", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if next > 0 && next+limit >= len(items) {
				next = -1
			}
			return kept, next
		})},
		Mutant{Name: "last-page-of-one-lost", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if next > 0 && next == len(items)-1 {
				next = -1
			}
			return kept, next
		})},
		Mutant{Name: "third-page-repeats-the-second", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if number(start, limit) == 3 {
				again, _ := page(items, start-limit, limit)
				kept = again
			}
			return kept, next
		})},
		Mutant{Name: "third-page-empty", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			kept, next := page(items, start, limit)
			if number(start, limit) == 3 {
				kept = nil
			}
			return kept, next
		})},
		Mutant{Name: "second-page-other-order", Fault: paged(func(items []Object, start, limit int) ([]Object, int) {
			if start > 0 {
				items = slices.Clone(items)
				slices.Reverse(items)
			}
			return page(items, start, limit)
		})},
		Mutant{Name: "second-page-is-the-rest", Fault: query(func(_ string, q url.Values) {
			if q.Has("continue") {
				q.Del("limit")
			}
		})},
		Mutant{Name: "second-page-without-selector", Fault: query(func(_ string, q url.Values) {
			if q.Has("continue") {
				q.Del("labelSelector")
				q.Del("fieldSelector")
			}
		})},
		Mutant{Name: "second-page-without-field-selector", Fault: query(func(_ string, q url.Values) {
			if q.Has("continue") {
				q.Del("fieldSelector")
			}
		})},
		Mutant{Name: "second-page-without-selector-for-all-namespaces", Fault: query(func(namespace string, q url.Values) {
			if namespace == "" && q.Has("continue") {
				q.Del("labelSelector")
			}
		})},
		Mutant{Name: "second-page-of-every-namespace", Fault: func(s *Server) {
			follows := false
			s.Query = func(_ string, q url.Values) { follows = q.Has("continue") }
			s.InNamespace = func(namespace string, o Object) bool { return follows || namespace == "" || o.Namespace == namespace }
		}},
		Mutant{Name: "second-page-items-without-status", Fault: body(isPage, func(b string) string { return withoutStatus(b) })},
		Mutant{Name: "second-page-500", Fault: answer(func(r *http.Request) bool { return isList(r) && isPage(r) }, func(code int, b string) (int, string) {
			if code != 200 {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "no"}.status()
		})},
		Mutant{Name: "own-token-refused", Fault: func(s *Server) {
			s.Start = func(string) (int, error) { return 0, errors.New("invalid continue token") }
		}},
		Mutant{Name: "own-token-refused-from-position-ten", Fault: func(s *Server) {
			s.Start = func(text string) (int, error) {
				start, err := decodeToken(text)
				if start >= 10 {
					err = errors.New("invalid continue token")
				}
				return start, err
			}
		}},

		// tokens nobody gave
		Mutant{Name: "bad-token-starts-again", Fault: func(s *Server) {
			s.Start = func(text string) (int, error) {
				start, err := decodeToken(text)
				if err != nil {
					return 0, nil
				}
				return start, nil
			}
		}},
		Mutant{Name: "bad-token-is-an-empty-page", Fault: func(s *Server) {
			s.Start = func(text string) (int, error) {
				start, err := decodeToken(text)
				if err != nil {
					return 1 << 20, nil
				}
				return start, nil
			}
		}},
		Mutant{Name: "bad-token-500", Fault: answer(isList, func(code int, b string) (int, string) {
			if code != 400 || !strings.Contains(b, "continue token") {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "illegal base64 data"}.status()
		})},

		// the metadata of pages
		Mutant{Name: "remaining-count-with-selector", Warns: true, Fault: meta(func(_ string, q url.Values, meta map[string]any) {
			if selects(q) && meta["continue"] != "" {
				meta["remainingItemCount"] = 7
			}
		})},
		Mutant{Name: "remaining-count-on-the-last-page", Warns: true, Fault: meta(func(_ string, q url.Values, meta map[string]any) {
			if q.Has("limit") && meta["continue"] == "" {
				meta["remainingItemCount"] = 3
			}
		})},
		Mutant{Name: "remaining-count-negative", Fault: meta(func(_ string, _ url.Values, meta map[string]any) {
			if n, has := meta["remainingItemCount"].(int); has {
				meta["remainingItemCount"] = -n
			}
		})},
		Mutant{Name: "page-version-goes-back", Fault: func(s *Server) {
			s.Meta = func(_ string, q url.Values, meta map[string]any) {
				if q.Has("continue") {
					meta["resourceVersion"] = strconv.FormatInt(s.Revision-1, 10)
				}
			}
		}},
		Mutant{Name: "second-page-twice-the-limit", Fault: query(func(_ string, q url.Values) {
			if q.Has("continue") && q.Has("limit") {
				n, _ := strconv.Atoi(q.Get("limit"))
				q.Set("limit", fmt.Sprint(n*2))
			}
		})},
	)
}

// withoutStatus drops the status of every machine in a body.
func withoutStatus(b string) string {
	for {
		from := strings.Index(b, `,"status":{"conditions"`)
		if from < 0 {
			return b
		}
		b = b[:from] + b[from+strings.Index(b[from:], `"}]}}`)+len(`"}]}`):]
	}
}
