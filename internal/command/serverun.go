package command

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/vmikit/vmikit/internal/certs"
	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// run starts the server and returns when it has ended.
func (o *serveOptions) run(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	at, err := o.check()
	if err != nil {
		return err
	}
	// The document is compiled once a process; the rest of the start need not wait.
	go func() { _, _ = openapi.LoadServer(o.profile.profile()) }()
	c := newConsole(stderr, o.logFormat.value, o.quiet)
	hosts := slices.Concat(at.hosts(), o.allowedHosts)
	serving, err := o.certificate(at, slices.Concat(hosts, o.adminAt.hosts()), c)
	if err != nil {
		return err
	}
	who, err := o.access(ctx, stdin, c)
	if err != nil {
		return err
	}
	// A taken port is told before a large load, and clients wait from here on.
	l, err := at.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	objects := store.NewMemory(store.WithHistory(store.History{Bytes: int64(o.historyBytes)}))
	second, err := o.openAdmin(who, objects)
	if err != nil {
		return err
	}
	defer second.close()
	options := slices.Concat(o.serverOptions(hosts, c), who.options, second.options())
	if err := o.fill(ctx, objects, options, stdin, c); err != nil {
		return err
	}
	// A load leaves as much garbage as objects, which would stay with the process.
	debug.FreeOSMemory()
	handler, err := server.New(objects, append(options, server.WithLifetime(ctx))...)
	if err != nil {
		return err
	}
	defer second.serve(serving, c)()
	if err := o.announce(at.url(serving != nil, l)+o.pathPrefix, serving, who.token, c); err != nil {
		return err
	}
	s := newHTTPServer(handler, serving, o.requestTimeout, c.log)
	if serving != nil {
		who.askForCertificates(s.TLSConfig)
	}
	// Comparing two documents takes half as long as all of the above: requests need
	// not wait for it.
	told := make(chan struct{})
	go func() {
		defer close(told)
		tellProfile(o.profile.profile(), c)
	}()
	defer func() { <-told }()
	return serveUntil(ctx, s, server.Gather(s, l))
}

func (o *serveOptions) serverOptions(hosts []string, c *console) []server.Option {
	enumUnknown := map[string]server.EnumUnknown{"fail": server.EnumFail, "warn": server.EnumWarn}
	admission := map[string]server.Admission{"none": server.AdmissionNone, "kubevirt": server.AdmissionKubeVirt}
	validation := map[string]server.ResponseValidation{
		"envelope": server.ValidateEnvelope, "full": server.ValidateFull, "off": server.ValidateOff,
	}
	options := []server.Option{
		server.WithProfile(o.profile.profile()),
		server.WithEnumUnknown(enumUnknown[o.enumUnknown.value]),
		server.WithAdmission(admission[o.admission.value]),
		server.WithResponseValidation(validation[o.validateResponses.value]),
		server.WithHosts(hosts...),
		server.WithCORS(o.corsOrigins...),
		server.WithLogger(c.log),
		server.WithRequestTimeout(o.requestTimeout),
		server.WithMaxInFlight(o.maxInFlight, o.maxMutatingInFlight),
		server.WithMaxBodyBytes(int64(o.maxBodyBytes)),
		server.WithVersion(readVersion().Version),
	}
	if o.strictNamespaces {
		options = append(options, server.WithStrictNamespaces())
	}
	if o.pathPrefix != "" {
		options = append(options, server.WithPathPrefix(o.pathPrefix))
	}
	return options
}

// certificate makes or reads the serving certificate; nil for plain HTTP.
func (o *serveOptions) certificate(at *endpoint, hosts []string, c *console) (*servingCertificate, error) {
	switch {
	case o.tlsCertFile != "":
		pair, err := certs.Reload(func() (*certs.Pair, error) { return certs.Load(o.tlsCertFile, o.tlsKeyFile, time.Now()) },
			c.tellReload("--tls-cert-file", o.tlsCertFile), o.tlsCertFile, o.tlsKeyFile)
		if err != nil {
			return nil, err
		}
		for _, w := range pair.Get().Warnings {
			c.warn("%s", w)
		}
		if pair.Get().Certificate.Leaf.VerifyHostname(at.host) != nil {
			c.warn("--tls-cert-file %s is not for the host %s, so clients will refuse it there", o.tlsCertFile, at.host)
		}
		return &servingCertificate{pair.Get}, nil
	case o.tls:
		pair, err := certs.Ensure(o.tlsDir, certificateHosts(hosts), time.Now())
		if err != nil {
			return nil, err
		}
		return lasting(pair), nil
	}
	return nil, nil
}

// tellReload logs what became of a file that has changed.
func (c *console) tellReload(flag, path string) func(error) {
	return func(err error) {
		if err != nil {
			c.log.Error("a file has changed, and what it held before stays in force", "flag", flag, "path", path, "error", err)
			return
		}
		c.log.Info("a file has changed and is in force", "flag", flag, "path", path)
	}
}

// fill puts the objects of --load, or the sample, into the store.
func (o *serveOptions) fill(ctx context.Context, objects store.Store, options []server.Option, stdin io.Reader, c *console) error {
	l, err := newLoader(objects, options, c)
	if err != nil {
		return err
	}
	if len(o.load) == 0 {
		if err := l.load(ctx, sample()); err != nil {
			return err
		}
		c.say("%s, the built-in sample; --load PATH serves your own", l.counts)
		return nil
	}
	if err := l.load(ctx, manifest.Walk(o.load, stdin)); err != nil {
		return err
	}
	c.say("%s", l.counts)
	if o.strictLoad && l.counts.bad() {
		return fmt.Errorf("--strict-load: refused %d and could not read %d", l.counts.refused, l.counts.unreadable)
	}
	return nil
}
