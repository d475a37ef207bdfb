package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// endpoint is where to listen.
type endpoint struct {
	// flag is the one on the command line, and given the address as it stands there.
	flag, given string
	// host is the name or address to reach the server by.
	host string
	addr *net.TCPAddr
}

// resolve reads HOST:PORT. A name is looked up once, so that the address that is
// listened on is the one that the protecting rules looked at.
func resolve(flag, address string) (*endpoint, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("%s %q: must be HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443", flag, address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return nil, usagef("%s %q: the port must be a number from 0 to 65535, 0 for any free one", flag, address)
	}
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s %q: the host cannot be looked up: %w", flag, address, err)
	}
	e := &endpoint{flag: flag, given: address, host: host, addr: addr}
	if e.wildcard() {
		e.host = "localhost"
	}
	return e, nil
}

func (e *endpoint) wildcard() bool { return e.addr.IP == nil || e.addr.IP.IsUnspecified() }

func (e *endpoint) loopback() bool { return e.addr.IP.IsLoopback() }

// hosts are the names and addresses that the server goes by, loopback aside; none for
// no address.
func (e *endpoint) hosts() []string {
	if e == nil {
		return nil
	}
	if !e.wildcard() {
		return []string{e.host}
	}
	var hosts []string
	if name, err := os.Hostname(); err == nil && name != "" {
		hosts = append(hosts, name)
	}
	// Without the addresses the server is still reached by its name.
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts
}

// certificateHosts are the names and addresses that a certificate is made for.
func certificateHosts(hosts []string) []string {
	all := append([]string{"localhost", "127.0.0.1", "::1"}, hosts...)
	slices.Sort(all)
	return slices.Compact(all)
}

// listen opens the port.
func (e *endpoint) listen() (net.Listener, error) {
	network := "tcp"
	if ip4 := e.addr.IP.To4(); ip4 != nil {
		network = "tcp4" // 0.0.0.0 means no IPv6
	}
	l, err := net.ListenTCP(network, e.addr)
	if err == nil {
		return l, nil
	}
	if isAddressInUse(err) {
		return nil, fmt.Errorf("%s is taken by another process; choose another address with %s, port 0 for any free one", e.given, e.flag)
	}
	return nil, fmt.Errorf("listen on %s: %w", e.given, withoutOp(err))
}

// url is the base URL of a listener.
func (e *endpoint) url(secure bool, l net.Listener) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	port := e.addr.Port
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		port = a.Port
	}
	return scheme + "://" + net.JoinHostPort(e.host, strconv.Itoa(port))
}

func isAddressInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || windowsAddressInUse(err)
}

// windowsAddressInUse knows the code that Windows has for it (WSAEADDRINUSE),
// which package syscall names on that system only.
func windowsAddressInUse(err error) bool {
	e, ok := errors.AsType[*os.SyscallError](err)
	if !ok {
		return false
	}
	errno, ok := e.Err.(syscall.Errno)
	return ok && errno == 10048
}

// withoutOp is the reason alone of an error of package net.
func withoutOp(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return errors.New(strings.TrimPrefix(e.Err.Error(), "bind: "))
	}
	return err
}
