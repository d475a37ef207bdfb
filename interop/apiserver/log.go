package apiserver

import (
	"flag"
	"fmt"
	"io"

	"k8s.io/klog/v2"
)

// logTo sends the log of the process' Kubernetes code to w. Without it klog writes
// to standard error.
func logTo(w io.Writer) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("redirect the log: %w", err)
		}
	}
	klog.SetOutput(w)
	return nil
}
