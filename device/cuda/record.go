//go:build cuda

package cuda

// #include <cuda.h>
// int flashlabBeginCapture(CUstream stream);
// int flashlabEndCapture(CUstream stream, CUgraph *graph);
// int flashlabGraphDestroy(CUgraph graph);
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"flashlab/device"
)

// recording is a graph that is being recorded. What is queued goes to a separate
// stream, where the driver records it instead of running it.
type recording struct {
	stream  cu.Stream
	refused error    // the first call that cannot be part of a graph
	kernels []string // without repetition
	used    []uint64 // addresses in all buffers that the graph uses
	graph   C.CUgraph
}

// rawStream is the driver's handle in a cu.Stream, whose only field it is.
func rawStream(s cu.Stream) C.CUstream { return *(*C.CUstream)(unsafe.Pointer(&s)) }

// stream is where work goes.
func (g *gpu) stream() cu.Stream {
	if g.recording != nil {
		return g.recording.stream
	}
	return cu.NoStream
}

// refuse is an error while a graph is recorded, which then fails as a whole.
func (r *recording) refuse(call string) error {
	if r == nil {
		return nil
	}
	err := device.NotRecordable(call)
	if r.refused == nil {
		r.refused = err
	}
	return err
}

func (r *recording) launched(sig device.Signature, values []device.Value) {
	r.kernels = addName(r.kernels, sig.Name)
	for i, p := range sig.Params {
		if m := values[i].Map; m != nil {
			r.used = append(r.used, m.Memory.Addr)
		}
		if p.Kind == device.Pointer && values[i].Bits != 0 {
			r.used = append(r.used, values[i].Bits)
		}
	}
}

func (r *recording) filled(m device.Memory) { r.used = append(r.used, m.Addr) }

// record captures what work queues. The caller destroys the result's graph.
func (g *gpu) record(work func(q device.Queue) error) (*recording, error) {
	r := &recording{}
	if err := g.now("record a graph", func() error { return g.begin(r) }); err != nil {
		return nil, err
	}
	ended := false
	end := func() error {
		ended = true
		return g.do(func() error { return g.end(r) })
	}
	defer func() {
		if !ended { // work panicked
			_ = end()
			r.destroy(g)
		}
	}()
	err := work(device.QueueOf(g))
	failure := end()
	switch {
	case err != nil:
	case r.refused != nil:
		err = r.refused
	case failure != nil:
		err = failure
	case len(r.used) == 0 && len(r.kernels) == 0:
		err = device.ErrGraphEmpty
	}
	if err != nil {
		r.destroy(g)
		return nil, err
	}
	return r, nil
}

func (g *gpu) begin(r *recording) error {
	var err error
	if r.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return g.failed("cuStreamCreate(NON_BLOCKING)", err)
	}
	if err := check(C.CUresult(C.flashlabBeginCapture(rawStream(r.stream)))); err != nil {
		_ = r.stream.Destroy()
		return g.failed("cuStreamBeginCapture()", needsGraphs(err))
	}
	g.recording = r
	return nil
}

// end makes the device run what is queued again, instead of recording it.
func (g *gpu) end(r *recording) error {
	g.recording = nil
	err := check(C.CUresult(C.flashlabEndCapture(rawStream(r.stream), &r.graph)))
	_ = r.stream.Destroy()
	if err != nil {
		return g.failed("cuStreamEndCapture()", err)
	}
	return nil
}

// destroy gives back what was captured.
func (r *recording) destroy(g *gpu) {
	_ = g.do(func() error {
		if r.graph != nil {
			C.flashlabGraphDestroy(r.graph)
			r.graph = nil
		}
		return nil
	})
}

// needsGraphs explains a driver without graphs.
func needsGraphs(err error) error {
	if errors.Is(err, result(C.CUDA_ERROR_NOT_SUPPORTED)) {
		return fmt.Errorf("%w: graphs need a driver for CUDA 11.4 or newer: see nvidia-smi", err)
	}
	return err
}
