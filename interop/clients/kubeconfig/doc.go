// Package kubeconfig has no code of its own: its tests hold client/kubeconfig to
// k8s.io/client-go/tools/clientcmd, which reads kubeconfig files for kubectl.
package kubeconfig
