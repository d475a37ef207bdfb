package contract_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// fullLists changes what the nth full list of a namespace shows, from 1 on.
func fullLists(change func(n int, o object) string) func(*server) {
	return func(s *server) {
		seen := make(map[string]int)
		n := 0
		s.query = func(namespace string, q url.Values) {
			n = 0
			if q.Get("limit") == "500" && !q.Has("labelSelector") && !q.Has("fieldSelector") {
				seen[namespace]++
				n = seen[namespace]
			}
		}
		inList := s.inList
		s.inList = func(o object) string {
			if n > 1 {
				return change(n, o)
			}
			return inList(o)
		}
	}
}

var (
	uid             = regexp.MustCompile(`"uid":"00000000-0000`)
	resourceVersion = regexp.MustCompile(`"resourceVersion":"(\d+)"`)
)

var repeatMutants = []mutant{
	{name: "creationTimestamp of a get changes", fault: func(s *server) {
		asked := make(map[string]int)
		s.inGet = func(o object) string {
			key := o.namespace + "/" + o.name
			asked[key]++
			return strings.Replace(o.body, "2026-05-01T08:00:", fmt.Sprintf("2026-05-01T08:%02d:", (asked[key]-1)%60), 1)
		}
	}, fails: []string{"consistency.repeat"}},
	{name: "creationTimestamp of a list changes", fault: fullLists(func(n int, o object) string {
		return strings.Replace(o.body, "2026-05-01T08:00:", fmt.Sprintf("2026-05-01T09:%02d:", n), 1)
	}), fails: []string{"consistency.repeat"}},
	{name: "an object is listed every second time", fault: func(s *server) {
		objects := s.objects
		n := 0
		s.query = func(namespace string, q url.Values) {
			s.objects = objects
			if namespace == "prod" && q.Get("limit") == "500" && len(q) == 1 {
				if n++; n%2 == 0 {
					s.objects = append(objects[:3:3], objects[4:]...)
				}
			}
		}
	}, fails: []string{"consistency.repeat"}},
	{name: "the resourceVersion of lists goes back", fault: func(s *server) {
		envelope, n := s.envelope, 1000
		s.envelope = func(items, meta string) string {
			n--
			return envelope(items, strings.Replace(meta, `"1000"`, fmt.Sprintf(`"%d"`, n), 1))
		}
	}, fails: []string{"consistency.repeat"}},
	{name: "the resourceVersion of objects goes back", fault: fullLists(func(_ int, o object) string {
		return resourceVersion.ReplaceAllString(o.body, `"resourceVersion":"1"`)
	}), fails: []string{"consistency.repeat"}},
	{name: "a uid is made for every answer", fault: func(s *server) {
		n := 0
		fresh := func(o object) string {
			n++
			return uid.ReplaceAllString(o.body, fmt.Sprintf(`"uid":"%08d-0000`, n))
		}
		s.inList, s.inGet = fresh, fresh
	}, fails: []string{"consistency.repeat"}},
}
