package contract

import (
	"context"
	"fmt"
	"net/http"
)

func notFoundChecks() []Check {
	return []Check{{
		ID: "notfound.name", Clause: Clause{66, "description: VirtualMachineInstance not found"},
		Explain: "A name that no object has is answered with 404.",
		run:     notFoundName,
	}}
}

func notFoundName(ctx context.Context, r *run) (verdict, error) {
	names := []string{r.nobody()}
	if items := r.latest[r.primary].all(); len(items) > 0 {
		// A name that begins like that of an object is still another one.
		names = append(names, items[0].name+"-"+r.nobody())
	}
	v := passed("%d names", len(names))
	for _, name := range names {
		ex, err := r.read(ctx, string(r.primary), name, withToken)
		if err != nil {
			return v, err
		}
		if ex.status != http.StatusNotFound {
			v.add(r, fault(ex, Fail, "a name that does not exist is not answered with 404", "status 404", fmt.Sprintf("status %d", ex.status)))
		}
	}
	return v, nil
}
