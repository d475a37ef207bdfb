package apiserver

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// startEtcd starts a cluster of one member that keeps its data in dir. It returns
// when the member takes requests.
func startEtcd(ctx context.Context, dir string, log zapcore.WriteSyncer) (*embed.Etcd, error) {
	random := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{random}, []url.URL{random}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{random}, []url.URL{random}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// Nobody reads the data after the process, and nobody competes in elections.
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 10, 100
	encoder := zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewCore(encoder, log, zap.WarnLevel)))

	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, fmt.Errorf("start etcd: %w", err)
	case <-ctx.Done():
		etcd.Close()
		return nil, fmt.Errorf("start etcd: %w", context.Cause(ctx))
	}
}

// endpoint is where clients reach the member.
func endpoint(etcd *embed.Etcd) string { return "http://" + etcd.Clients[0].Addr().String() }
