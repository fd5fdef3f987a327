//go:build cuda

package cuda

// #include <cuda.h>
// int flashlabGraphInstantiate(CUgraphExec *started, CUgraph graph);
// int flashlabGraphUpdate(CUgraphExec started, CUgraph graph);
// int flashlabGraphLaunch(CUgraphExec started, CUstream stream);
// int flashlabGraphExecDestroy(CUgraphExec started);
import "C"

import (
	"fmt"
	"strings"

	"flashlab/device"
)

// graph is a recording that the driver has made ready.
type graph struct {
	gpu     *gpu
	handle  C.CUgraphExec
	kernels []string
	used    []uint64
	lost    string // a buffer it uses that was freed
	closed  bool
}

// Record captures what work queues, by the driver's own means.
func (g *gpu) Record(work func(q device.Queue) error) (device.Graph, error) {
	r, err := g.record(work)
	if err != nil {
		return nil, err
	}
	defer r.destroy(g)
	made := &graph{gpu: g}
	err = g.do(func() error {
		if err := made.take(r); err != nil {
			return err
		}
		g.graphs[made] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// take makes a recording ready in place of what there was.
func (made *graph) take(r *recording) error {
	var handle C.CUgraphExec
	if err := check(C.CUresult(C.flashlabGraphInstantiate(&handle, r.graph))); err != nil {
		return made.gpu.failed(fmt.Sprintf("cuGraphInstantiate(%s)", strings.Join(r.kernels, ", ")), needsGraphs(err))
	}
	if made.handle != nil {
		C.flashlabGraphExecDestroy(made.handle) // what is still running goes on
	}
	made.handle = handle
	made.describe(r)
	return nil
}

func (made *graph) describe(r *recording) {
	made.kernels, made.used, made.lost = r.kernels, r.used, ""
}

// Launch queues the graph.
func (made *graph) Launch() error {
	return made.gpu.now("launch a graph", func() error { return made.launch(nil) })
}

// launch starts the graph on a stream; nil is the queue's.
func (made *graph) launch(stream C.CUstream) error {
	switch {
	case made.closed:
		return device.ErrGraphClosed
	case made.lost != "":
		return device.Refuse("a graph", "the buffer %q, which it uses, was freed after it was recorded: Update the graph", made.lost)
	}
	if err := check(C.CUresult(C.flashlabGraphLaunch(made.handle, stream))); err != nil {
		return made.gpu.failed(fmt.Sprintf("cuGraphLaunch(%s)", strings.Join(made.kernels, ", ")), err)
	}
	for _, name := range made.kernels {
		made.gpu.launched(name)
	}
	return nil
}

// Update records again. If the launches are alike, the driver exchanges their
// arguments; if it refuses, the graph is prepared from scratch.
func (made *graph) Update(work func(q device.Queue) error) error {
	g := made.gpu
	if made.isClosed() {
		return device.ErrGraphClosed
	}
	r, err := g.record(work)
	if err != nil {
		return err
	}
	defer r.destroy(g)
	return g.do(func() error {
		if made.closed {
			return device.ErrGraphClosed
		}
		if check(C.CUresult(C.flashlabGraphUpdate(made.handle, r.graph))) == nil {
			made.describe(r)
			return nil
		}
		return made.take(r)
	})
}

func (made *graph) isClosed() bool {
	made.gpu.mu.Lock()
	defer made.gpu.mu.Unlock()
	return made.closed
}

// lose marks the graph where it uses memory that was freed: the same address
// may soon be another buffer's.
func (made *graph) lose(m device.Memory) {
	for _, at := range made.used {
		if at >= m.Addr && at-m.Addr < uint64(m.Bytes) {
			made.lost = m.Name
			return
		}
	}
}

// Close gives the graph back.
func (made *graph) Close() error {
	if made.isClosed() {
		return nil // also where the device was closed first
	}
	return made.gpu.do(func() error {
		delete(made.gpu.graphs, made)
		return made.destroy()
	})
}

func (made *graph) destroy() error {
	if made.closed {
		return nil
	}
	made.closed = true
	if err := check(C.CUresult(C.flashlabGraphExecDestroy(made.handle))); err != nil {
		return made.gpu.failed("cuGraphExecDestroy()", err)
	}
	return nil
}
