package contract

import "testing"

// Test runs all checks against a target, each as a subtest with the check's ID as
// its name. A failed check fails its subtest; what could not be told is skipped,
// with the reason; warnings are logged. A run that told too little fails, see
// [Report.TooLittle].
func Test(t *testing.T, target Target, options ...Option) {
	t.Helper()
	report, err := Run(t.Context(), target, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		t.Run(result.ID, func(t *testing.T) {
			switch result.Outcome {
			case Pass:
			case Warning:
				t.Log(result.text())
			case Fail, Error:
				t.Error(result.text())
			default:
				t.Skip(result.text())
			}
		})
	}
	if why := report.TooLittle(); why != "" {
		t.Errorf("too little was told: %s", why)
	}
}
