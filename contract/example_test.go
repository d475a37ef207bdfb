package contract_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// A server that shows everybody everything, whatever their token.
func ExampleRun() {
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(string) int { return 0 }
	hs := httptest.NewServer(s)
	defer hs.Close()

	report, err := contract.Run(context.Background(), contract.Target{URL: hs.URL, Token: "secret"}, contract.WithOnly("auth"))
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range report.Results {
		if result.Outcome == contract.Fail {
			fmt.Printf("%s: %s, want %s\n", result.ID, result.Findings[0].Message, result.Findings[0].Expected)
		}
	}
	// Output:
	// auth.no-token: somebody is let in who must not be, want status 401
	// auth.wrong-token: somebody is let in who must not be, want status 401
	// auth.wrong-scheme: somebody is let in who must not be, want status 401
	// auth.near-token: somebody is let in who must not be, want status 401
}
