package worker

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
)

// timedCase is a case that is timed: its buffers, the code to time, and what it is compared with.
// Each run has its own inputs at separate addresses, outputs that hold NaN, and a
// second-level cache that holds none of them.
type timedCase struct {
	*Job
	conn    io.ReadWriter
	ready   wire.Ready
	gauge   *gauge
	bench   device.Bench // nil where the device is none
	in, out arenas
	ours    func(out, in Places) error // makes the submission's code first, if need be
	guard   func() *guarded            // of the submission's queue; nil before there is one
	base    baseline
	wide    baseline                   // made when it is first asked for
	own     func(out, in Places) error // the operation's own baseline, if it has one
	flush   device.Memory              // is written before each call, and
	clean   device.Memory              // is read then, and never written again; both empty without a bench
	events  [3]device.Event            // before the call, behind what it queued, and when all is idle
	zeros   device.Memory              // are read alone; made when they are first asked for
	held    []device.Memory
	now     placed // of the run that is going on, or that was last
}

// placed are the buffers of one run.
type placed struct{ in, out Places }

// turns serves a timed case until the grader ends it. An error is the connection's: all
// others have been told.
// base is the operation's own baseline, nil where it goes through the vendor's library.
func (j *Job) turns(ours, base func(out, in Places) error, guard func() *guarded) error {
	if j.Talk == nil {
		return errors.New("this worker cannot be timed here")
	}
	s := &timedCase{Job: j, conn: j.Talk, ours: ours, own: base, guard: guard}
	defer s.close()
	if err := s.prepare(); err != nil {
		return frame.Write(s.conn, wire.Ready{Error: wire.ErrorOf(err)}, nil)
	}
	if err := frame.Write(s.conn, s.ready, nil); err != nil {
		return err
	}
	for {
		var t wire.Turn
		if _, err := frame.Read(s.conn, &t); err != nil {
			return err
		}
		if t.End {
			return nil
		}
		if err := s.answer(t); err != nil {
			return err
		}
	}
}

func (s *timedCase) answer(t wire.Turn) error {
	if t.Size > 0 {
		values, err := s.pieces(t)
		return wire.WritePieces(s.conn, wire.Pieces{Error: wire.ErrorOf(err)}, values)
	}
	return frame.Write(s.conn, s.run(t), nil)
}

// pieces fetches parts of an output.
func (s *timedCase) pieces(t wire.Turn) ([]float32, error) {
	if len(s.now.out) == 0 {
		return nil, errors.New("nothing has run yet")
	}
	if t.Of < 0 || t.Of >= len(s.now.out) {
		return nil, fmt.Errorf("output %d: there are %d", t.Of, len(s.now.out))
	}
	var all []float32
	whole, kind, count := s.now.out[t.Of], s.Outputs[t.Of].Type, s.Outputs[t.Of].Elements()
	for _, from := range t.Rows {
		if from < 0 || from > count-t.Size || from*kind.Bits()%8 != 0 {
			return nil, fmt.Errorf("%s[%d:%d]: it holds %d elements of %v", whole.Name, from, from+t.Size, count, kind)
		}
		raw := make([]byte, kind.Bytes(t.Size))
		part := device.Memory{Addr: whole.Addr + uint64(kind.Bytes(from)), Bytes: int64(len(raw)), Name: whole.Name}
		if err := s.Device.CopyOut(raw, part); err != nil {
			return nil, err
		}
		all = append(all, kind.Decode(raw)[:t.Size]...)
	}
	return all, nil
}

// run does one run. A panic of student code is its error.
func (s *timedCase) run(t wire.Turn) (took wire.Took) {
	defer func() {
		if p := recover(); p != nil {
			took.Error = panicked(p)
		}
		if g := s.guard(); g != nil {
			g.set(true)
			took.Outside = g.noted()
		}
	}()
	call, err := s.call(t)
	if err == nil {
		took, err = s.measure(t, call)
	}
	if err == nil {
		took.Bad, err = s.gauge.bad(s.now.out, s.Outputs)
	}
	if err != nil {
		took.Error = wire.ErrorOf(err)
	}
	return took
}

// call is what is timed, on buffers that are filled for this run alone.
func (s *timedCase) call(t wire.Turn) (func() error, error) {
	random := rand.New(rand.NewPCG(t.Seed, 0x666c617368)) // places need not be secret, only others each time
	s.now = placed{in: s.in.place(random), out: s.out.place(random)}
	for i, m := range s.now.in {
		if err := s.gauge.fill.FillAs(s.Inputs[i].Type, m, s.Inputs[i].Dist, t.Seed, s.Inputs[i].Stream); err != nil {
			return nil, err
		}
	}
	for _, m := range s.now.out {
		if err := s.Device.Set(m, 0xFF); err != nil { // a NaN
			return nil, err
		}
	}
	now := s.now
	switch t.Who {
	case wire.Ours:
		return func() error { return s.ours(now.out, now.in) }, nil
	case wire.Baseline:
		if s.base == nil {
			return nil, errors.New(s.ready.NoBaseline)
		}
		return s.base(now.out, now.in)
	case wire.Wide:
		if s.wide == nil {
			var err error
			if s.wide, err = s.findWide(); err != nil {
				return nil, err
			}
		}
		return s.wide(now.out, now.in)
	case wire.Copying, wire.Adding, wire.Reading, wire.Tensors:
		s.now.out = nil // what they leave there is no output
		return s.self(t.Who, now)
	}
	return nil, fmt.Errorf("nobody here is called %q", t.Who)
}

// measure times one call. Filling the cache keeps the device busy while the host
// queues the call, so that the device's clock sees no host in between; whether it was
// busy for long enough is looked at when all is queued.
func (s *timedCase) measure(t wire.Turn, call func() error) (took wire.Took, err error) {
	if err := s.Device.Sync(); err != nil {
		return took, err
	}
	if err := s.occupy(t); err != nil {
		return took, err
	}
	if t.Slip.ByHost() { // who times by the host's clock has an idle device before
		if err := s.Device.Sync(); err != nil {
			return took, err
		}
	}
	if t.Who == wire.Ours {
		if g := s.guard(); g != nil {
			g.set(false)
		}
	}
	start := time.Now()
	if err := s.record(0); err != nil {
		return took, err
	}
	err = call()
	took.Slipped = time.Since(start).Nanoseconds()
	if g := s.guard(); g != nil {
		g.set(true) // from here on nothing of the submission's is queued
	}
	if err != nil {
		return took, err
	}
	if err := s.record(1); err != nil {
		return took, err
	}
	took.Queued = time.Since(start).Nanoseconds()
	if took.Began, err = s.began(); err != nil {
		return took, err
	}
	if err := s.Device.Sync(); err != nil {
		return took, err
	}
	took.Host = time.Since(start).Nanoseconds()
	if t.Slip == wire.HostClock {
		took.Slipped = took.Host
	}
	if err := s.record(2); err != nil || !s.ready.Clock {
		return took, err
	}
	end, err := s.events[2].Since(s.events[0])
	if err != nil {
		return took, err
	}
	queued, err := s.events[1].Since(s.events[0])
	took.Device, took.Late = queued.Nanoseconds(), (end - queued).Nanoseconds()
	return took, err
}

// began tells whether the device has come to the call.
func (s *timedCase) began() (bool, error) {
	if start, ok := s.events[0].(device.Asked); ok {
		return start.Passed()
	}
	return false, nil
}

// occupy empties the cache, or leaves it as it is and does something that touches no
// memory: either keeps the device busy for a while. What fills the cache is written,
// and would be written back at the call's expense: so as much is read last, which
// leaves nothing behind that must be.
func (s *timedCase) occupy(t wire.Turn) error {
	switch {
	case s.flush.Bytes == 0:
		return nil
	case t.Slip == wire.HotCache:
		return s.gauge.multiplyAdd(s.ready.Device.Processors)
	}
	for range min(max(t.Fills, 1), wire.MostFills) {
		if err := s.Device.Set(s.flush, byte(t.Seed)); err != nil {
			return err
		}
	}
	if t.Slip == wire.DirtyCache {
		return nil
	}
	return s.gauge.read(s.clean)
}

func (s *timedCase) record(i int) error {
	if !s.ready.Clock {
		return nil
	}
	return s.events[i].Record()
}

func (s *timedCase) malloc(name string, bytes int64) (device.Memory, error) {
	m, err := s.Device.Malloc(name, bytes)
	if err == nil {
		s.held = append(s.held, m)
	}
	return m, err
}

func (s *timedCase) close() {
	for _, e := range s.events {
		if e != nil {
			_ = e.Close()
		}
	}
	if s.gauge != nil {
		s.gauge.close()
	}
	for _, m := range s.held {
		_ = s.Device.Free(m)
	}
}
