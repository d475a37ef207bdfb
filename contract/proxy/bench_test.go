package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/proxy"
)

// Goal: a get takes at most a millisecond longer through the proxy, p50. Direct and
// proxied gets take turns, so that both see the same machine.
func BenchmarkProxyGet(b *testing.B) {
	for _, mode := range benchModes {
		b.Run(mode.name, func(b *testing.B) {
			direct, through := benchServers(b, mode.options...)
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			var plain, proxied []time.Duration
			for b.Loop() {
				plain = append(plain, timedGet(b, client, direct))
				proxied = append(proxied, timedGet(b, client, through))
			}
			b.ReportMetric(median(plain).Seconds()*1e3, "direct-p50-ms")
			b.ReportMetric(median(proxied).Seconds()*1e3, "proxied-p50-ms")
			b.ReportMetric((median(proxied)-median(plain)).Seconds()*1e3, "added-p50-ms")
		})
	}
}

func timedGet(b *testing.B, client *http.Client, url string) time.Duration {
	begin := time.Now()
	resp, err := client.Get(url)
	require.NoError(b, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(b, err)
	resp.Body.Close()
	return time.Since(begin)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

var benchModes = []struct {
	name    string
	options []proxy.Option
}{{"observe", nil}, {"enforce", []proxy.Option{proxy.Enforce()}}}

// benchServers are the URLs of a machine of some 4 KB that changes with each get, so
// that nothing about it is known beforehand, and of the same through a proxy.
func benchServers(b *testing.B, options ...proxy.Option) (direct, through string) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answering(largeMachine(n))(w, r)
	}))
	b.Cleanup(s.Close)
	upstream, err := url.Parse(s.URL)
	require.NoError(b, err)
	observer, err := contract.NewObserver(s.URL)
	require.NoError(b, err)
	p, err := proxy.New(upstream, observer, options...)
	require.NoError(b, err)
	front := httptest.NewServer(p)
	b.Cleanup(front.Close)
	b.Cleanup(p.Wait)
	return s.URL + inProd + "/a", front.URL + inProd + "/a"
}

func largeMachine(version int) string {
	var disks, volumes []string
	for d := range 15 {
		disks = append(disks, fmt.Sprintf(`{"name":"disk%d","bootOrder":%d,"disk":{"bus":"virtio"},"cache":"none","serial":"WD-%08d"}`, d, d+1, d))
		volumes = append(volumes, fmt.Sprintf(`{"name":"disk%d","persistentVolumeClaim":{"claimName":"web-disk%d","readOnly":false}}`, d, d))
	}
	return strings.Replace(machine("a", strconv.Itoa(version)), `"devices":{}}}`,
		`"devices":{"disks":[`+strings.Join(disks, ",")+`]}},"volumes":[`+strings.Join(volumes, ",")+`]}`, 1)
}
