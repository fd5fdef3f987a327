package host

import (
	"net"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/gate"
)

// GPU is a Backend that only compiles: the worker drives the GPU itself, for a
// launch through a socket would be no fair one. A kernel that faults ends with
// its worker.
type GPU struct {
	Compile func(src device.Source, arch string) ([]byte, error)
}

// Kind is CUDA.
func (g *GPU) Kind() device.Kind { return device.CUDA }

// Serve compiles for a worker until it hangs up.
func (g *GPU) Serve(conn net.Conn) {
	server := remote.Server{Cubin: g.Compile, Vet: gate.VetSource}
	go func() { _ = server.Serve(conn) }()
}

// Observe: a GPU does not look at what kernels do.
func (g *GPU) Observe() (Observed, error) { return Observed{}, nil }

// Renew has nothing to do: the GPU forgets a process that ends.
func (g *GPU) Renew() error { return nil }

// Close has nothing to close.
func (g *GPU) Close() error { return nil }
