package apiserver

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
)

// requestTimeout is long enough to measure with.
const requestTimeout = 10 * time.Minute

// configure puts the parts of apiextensions-apiserver together with its own
// defaults, save what has no meaning without a cluster around it. It also returns
// the server's certificate in PEM.
func configure(etcd string, listener net.Listener, users *access, allowAnonymous bool) (*apiserver.Config, []byte, error) {
	opts := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	recommended := opts.RecommendedOptions
	recommended.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	recommended.SecureServing.Listener = listener
	recommended.SecureServing.ServerCert.CertDirectory = "" // in memory
	// These ask another API server: who a user is and what they may do, which
	// namespaces there are, and how requests are to be queued.
	recommended.Authentication, recommended.Authorization = nil, nil
	recommended.CoreAPI, recommended.Admission = nil, nil
	recommended.Features.EnablePriorityAndFairness = false

	// Sixteen lists of 60 MB at once take more than its minute.
	opts.ServerRunOptions.RequestTimeout = requestTimeout
	if err := opts.Complete(); err != nil {
		return nil, nil, fmt.Errorf("complete the options: %w", err)
	}
	loopback := listener.Addr().(*net.TCPAddr).IP
	if err := recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{loopback}); err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	certificate, _ := recommended.SecureServing.ServerCert.GeneratedCert.CurrentCertKeyContent()

	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := opts.ServerRunOptions.ApplyTo(&generic.Config); err != nil {
		return nil, nil, fmt.Errorf("apply the run options: %w", err)
	}
	if err := recommended.ApplyTo(generic); err != nil {
		return nil, nil, fmt.Errorf("apply the recommended options: %w", err)
	}
	if err := opts.APIEnablement.ApplyTo(&generic.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme); err != nil {
		return nil, nil, fmt.Errorf("apply the API groups: %w", err)
	}
	generic.Authentication.Authenticator = users.authenticator(allowAnonymous)
	generic.Authorization.Authorizer = authorizer.AuthorizerFunc(authorize)
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)

	return &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*recommended.Etcd, generic.ResourceTransformers, generic.StorageObjectCountTracker),
			ServiceResolver:      noServices{},
			AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, generic.LoopbackClientConfig, noop.NewTracerProvider()),
		},
	}, certificate, nil
}

// noServices stands for a cluster's services. Only conversion webhooks would ask
// for one, and KubeVirt's CRD has none.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, _ int32) (*url.URL, error) {
	return nil, fmt.Errorf("no service %s/%s", namespace, name)
}
