package supervise

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/preprocess"
	"flashlab/device/remote"
	"flashlab/grader/grading/gate"
	"flashlab/internal/jail"
)

// GPU is a Backend that only compiles: the worker drives the GPU itself, because
// timing a launch through a socket would be unfair. A kernel that faults ends
// with its worker.
type GPU struct {
	// Compile tells vetted what the file comes to, unless it has been compiled before.
	Compile func(src device.Source, arch string, vetted func(preprocess.Text)) ([]byte, error)
	Own     *modules.Own // where that is kept, if not for everybody
	Rules   gate.Rules
	// Probe looks whether the GPU is still there; nil where nobody can tell.
	Probe func() error

	mu     sync.Mutex
	seen   expansions
	broken error // a sandbox that did not start: our failure, which a worker would report as its own
	lacks  string
}

func (g *GPU) compile(src device.Source, arch string) ([]byte, error) {
	machine, err := g.Compile(src, arch, func(p preprocess.Text) { g.seen.add(src, p.Lines) })
	g.mu.Lock()
	defer g.mu.Unlock()
	var refused *device.CompileError
	switch {
	case errors.As(err, new(*jail.Error)):
		g.broken = err
	case errors.As(err, &refused) && refused.Needs != "":
		g.lacks = fmt.Sprintf("needs %s, and this GPU is %s", refused.Needs, arch)
	}
	return machine, err
}

// Lacks says which GPU it takes to run what this one was given; "" if it is this one.
func (g *GPU) Lacks() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lacks
}

// Kind is CUDA.
func (g *GPU) Kind() device.Kind { return device.CUDA }

// Serve compiles for a worker until it hangs up.
func (g *GPU) Serve(conn net.Conn, kernels Kernels) {
	server := remote.Server{Cubin: g.compile, Find: kernels.vetted(g.Rules)}
	go func() { _ = server.Serve(conn) }()
}

// Observe tells nothing of kernels: a GPU does not look at what they do.
func (g *GPU) Observe() (Observed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Observed{}, g.broken
}

// Usable tells whether the GPU is still there.
func (g *GPU) Usable() error {
	if g.Probe == nil {
		return nil
	}
	return g.Probe()
}

// Expanded is what was vetted of the files that were compiled, but not of one whose machine code was kept.
func (g *GPU) Expanded() []Expanded { return g.seen.list() }

// Renew has nothing to do: the GPU forgets a process that ends.
func (g *GPU) Renew() error { return nil }

// Close removes what was compiled for this submission alone.
func (g *GPU) Close() error {
	g.Own.Remove()
	return nil
}
