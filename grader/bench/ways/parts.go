package ways

import (
	"errors"
	"sync"

	halves "flashlab/bonus/b2_halves"
	decode "flashlab/bonus/b6_decode"
	kvcache "flashlab/bonus/b7_kvcache"
	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
)

// parts are what models are put together from, compiled.
type parts struct {
	half      *half.Layers
	nn        *nn.Layers
	attention *halves.Halves
	decode    *decode.Decode
	cache     *kvcache.Cache
	four      *w4a16.W4A16
}

// newParts compiles them: on a GPU side by side, for that takes the compiler most of a minute.
func newParts(q device.Queue) (*parts, error) {
	p := &parts{}
	makers := []func() error{
		func() (err error) { p.half, err = half.New(q); return err },
		func() (err error) { p.nn, err = nn.New(q); return err },
		func() (err error) { p.attention, err = halves.New(q); return err },
		func() (err error) { p.decode, err = decode.New(q); return err },
		func() (err error) { p.cache, err = kvcache.New(q); return err },
		func() (err error) { p.four, err = w4a16.New(q); return err },
	}
	if q.Info().Kind != device.CUDA {
		for _, build := range makers {
			if err := build(); err != nil {
				return nil, err
			}
		}
		return p, nil
	}
	failed := make([]error, len(makers))
	var all sync.WaitGroup
	for i, build := range makers {
		all.Go(func() { failed[i] = build() })
	}
	all.Wait()
	return p, errors.Join(failed...)
}

// arena is the memory of one way: all of it is given back before the next way begins.
type arena struct {
	device *counting
	memory map[uint64]device.Memory
}

func alloc[T device.Scalar](a *arena, name string, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](a.device, name, n)
	if err == nil {
		a.memory[b.Memory().Addr] = b.Memory()
	}
	return b, err
}

func (a *arena) free(all ...device.Memory) error {
	var failed error
	for _, m := range all {
		delete(a.memory, m.Addr)
		if err := a.device.Free(m); failed == nil {
			failed = err
		}
	}
	return failed
}

func (a *arena) close() error {
	var all []device.Memory
	for _, m := range a.memory {
		all = append(all, m)
	}
	return a.free(all...)
}

// model puts one way's together.
func (a *arena) model(p *parts, w Workload, way Way) (*decoder.Model, error) {
	weights, err := a.weights(p, w, way)
	if err != nil {
		return nil, err
	}
	attention, cache, err := a.attention(p, w, way)
	if err != nil {
		return nil, err
	}
	m, err := decoder.New(a.device, p.half, p.nn, w.Config, w.Room(), weights, attention)
	if err != nil || !way.One {
		return m, err
	}
	if err := m.Persist(cache, decoder.Persistent{}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// attention is a way's, and its cache where that is in halves.
func (a *arena) attention(p *parts, w Workload, way Way) (decoder.Attention, *decoder.Cache, error) {
	if way.Kivi {
		k, err := a.kivi(p, w)
		return k, nil, err
	}
	cache, memory, err := decoder.NewCache(a.device, p.half, w.Config, w.Room())
	for _, m := range memory {
		a.memory[m.Addr] = m
	}
	plain := decoder.Plain{Cache: cache}
	if err != nil || !way.Ours {
		return plain, cache, err
	}
	return ours{plain, p.decode}, cache, nil
}
