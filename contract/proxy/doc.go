// Package proxy stands between clients of the KubeVirt VirtualMachineInstance API
// and an implementation of it, and has a [contract.Observer] judge what passes by.
//
//	observer, err := contract.NewObserver("https://cluster.example.com:6443")
//	if err != nil {
//		return err
//	}
//	p, err := proxy.New(upstream, observer)
//	if err != nil {
//		return err
//	}
//	err = http.Serve(listener, p)
//	p.Wait()
//	observer.Report().WriteText(os.Stdout)
//
// Answers pass on as they come, watches event by event, and are judged beside
// that. [Enforce] has broken answers held back.
package proxy
