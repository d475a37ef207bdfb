// Package contract tells a right implementation of the KubeVirt
// VirtualMachineInstance API from a wrong one, by asking it.
//
//	report, err := contract.Run(ctx, contract.Target{URL: "https://localhost:6443", Token: token})
//	if err != nil {
//		return err
//	}
//	report.WriteText(os.Stdout)
//	os.Exit(report.ExitCode())
//
// In a Go test, [Test] makes a subtest of every check.
//
// A run needs no fixture: it lists what the target has, works out from the
// labels and names it finds what every other request must be answered with, and
// compares. Bodies are judged by package openapi, by one of its profiles. What
// there is nothing to tell by is reported as not exercised, never as passed.
//
// A run reads and, without [WithWrite], never writes: it sends GET and HEAD, one
// request at a time, no more than it is allowed to ([WithMaxRequests], [WithRate]),
// and it ends early when the target seems to suffer. Objects may change while it
// runs.
//
// No report has a token or what looks secret in a body in it: exchanges are shown
// without. [Observer] holds the exchanges of others against the same checks; package
// contract/proxy puts it between any client and any implementation.
//
// IDs of checks, the flags of the command and the JSON of a report (report.schema.json)
// are stable: what is added does not change what is there. CHECKS.md lists the checks.
package contract
