// Package kubeconfig reads Kubernetes credentials the way kubectl does and turns
// them into a base URL and an [http.Client].
//
// The common case: [Load] what kubectl would use, then make a client of it.
//
//	access, err := kubeconfig.Load()
//	if err != nil {
//		return err
//	}
//	hc, err := access.HTTPClient()
//	if err != nil {
//		return err
//	}
//	c, err := client.New(access.URL, client.WithHTTPClient(hc))
//
// # What is read
//
// [WithFile]'s file; or else the files of the environment variable KUBECONFIG,
// merged: the first file that has a cluster, user, context or current-context
// wins, entries are taken whole, files that do not exist are passed over; or else
// .kube/config in the home directory. Paths in a file are relative to that file.
// Where none of it names a server, the service account of the pod is used, if the
// program runs in one.
//
// # Credentials
//
// Tokens, token files, client certificates, user name with password, and plugins
// of client.authentication.k8s.io/v1 and v1beta1, together with impersonation.
// Files are read again as they change: tokens within a minute and when the server
// answers 401, certificates at each handshake, certificate authorities within a
// minute. Plugins run when they are first needed, when what they gave has expired,
// and once when the server answers 401. A request that met a 401 is repeated with
// the new credential if its body allows.
//
// As in kubectl, credentials go over https only: with an http server requests are
// anonymous, which [Config.Credential] tells. They go to the server of the
// configuration only; see [Config.Authorize].
//
// # Parts
//
// Who needs requests without the credential, or with another one, takes
// [Config.AnonymousTransport], and [Config.Transport], [Config.Authorize] and
// [Config.Token] for the rest.
//
// # Secrets
//
// No token, password or key stands in an error of this package or in what fmt and
// log/slog print of its types.
package kubeconfig
