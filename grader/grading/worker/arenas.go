package worker

import (
	"math/rand/v2"

	"flashlab/device"
	"flashlab/grader/grading/problem"
)

// arenas hold one tensor each, with room to move it.
type arenas []struct {
	memory device.Memory
	bytes  int64
}

// Tensors move by multiples of step bytes, as far from each other as allocations are:
// no kernel may rely on less than their alignment.
const (
	step = 256
	room = 1 << 20
)

// place puts each tensor somewhere in its arena.
func (a arenas) place(random *rand.Rand) (all Places) {
	for _, one := range a {
		m := one.memory
		m.Addr += uint64(step * random.Int64N((m.Bytes-one.bytes)/step+1))
		m.Bytes = one.bytes
		all = append(all, m)
	}
	return all
}

func (s *timedCase) arenas(tensors []problem.Tensor) (all arenas, err error) {
	spare := int64(room)
	if s.Device.Info().Kind == device.Sim {
		spare = 4 * step
	}
	for _, t := range tensors {
		bytes := int64(t.Bytes())
		m, err := s.malloc(t.Name, bytes+spare)
		if err != nil {
			return all, err
		}
		all = append(all, struct {
			memory device.Memory
			bytes  int64
		}{m, bytes})
	}
	return all, nil
}
