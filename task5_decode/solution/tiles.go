package decode

import (
	"fmt"
	"strconv"

	"flashlab/device"
)

// NewTiled compiles the kernels for tiles of so many keys: each group of threads loads its share of them at a time.
func NewTiled(q device.Queue, keys int) (*Decode, error) {
	d, err := New(q)
	if err != nil {
		return nil, err
	}
	for i, k := range d.kernels {
		lanes := k.dim / 4
		groups := threads / lanes
		if keys < groups || keys%groups != 0 {
			return nil, fmt.Errorf("tiles of %d keys: %d groups of %d lanes share them, want a multiple", keys, groups, lanes)
		}
		source := Source
		source.Defines = map[string]string{"KEYS": strconv.Itoa(keys / groups)}
		module, err := q.Compile(source)
		if err != nil {
			return nil, err
		}
		if d.kernels[i].kernel, err = module.Kernel(fmt.Sprintf("decode_%d_%d", lanes, k.heads)); err != nil {
			return nil, err
		}
	}
	return d, nil
}
