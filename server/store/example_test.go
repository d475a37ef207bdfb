package store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vmikit/vmikit/server/store"
)

// Pages of one list show one state, whatever is written meanwhile.
func Example() {
	ctx := context.Background()
	s := store.NewMemory()
	for _, name := range []string{"db", "mail", "web"} {
		if _, err := s.Create(ctx, draft("prod", name)); err != nil {
			log.Fatal(err)
		}
	}

	opts := store.ListOptions{Namespace: "prod", Limit: 2}
	for {
		page, err := s.List(ctx, opts)
		if err != nil {
			log.Fatal(err)
		}
		for _, o := range page.Objects {
			fmt.Println(o.Key)
		}
		if !page.More {
			break
		}
		fmt.Println("and", page.Remaining, "more")
		opts.Revision = page.Revision
		opts.Start = page.Objects[len(page.Objects)-1].Key.After()

		if _, err := s.Delete(ctx, store.Key{Namespace: "prod", Name: "web"}, 0); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// prod/db
	// prod/mail
	// and 1 more
	// prod/web
}

func draft(namespace, name string) store.Draft {
	head := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"resourceVersion":"`, name, namespace)
	return store.Draft{
		Key:        store.Key{Namespace: namespace, Name: name},
		JSON:       []byte(head + `"}}`),
		RevisionAt: len(head),
	}
}
