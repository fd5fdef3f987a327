package estimate

import (
	"fmt"
	"strings"
)

// GPU is what an estimate needs to know of a card.
type GPU struct {
	Name       string
	Processors int
	Clock      float64 // a second, of a multiprocessor under load
	Device     float64 // bytes a second of device memory, as its maker tells them
	L2         float64 // bytes a second of the L2 cache, for reads that all of it serves
	Cache      float64 // bytes of the L2 cache
	Shared     float64 // bytes a clock and multiprocessor, of shared memory and the L1 cache
	Lanes      float64 // single-precision multiply-adds a clock and multiprocessor
	Special    float64 // special functions a clock and multiprocessor
	Tensor     float64 // products of 16 × 8 by 32 bytes a clock and multiprocessor: mma.m16n8k16 of halves, m16n8k32 of bytes
	Warps      float64 // that a multiprocessor holds
	Blocks     float64
	Registers  float64 // of 4 bytes
	Memory     float64 // bytes of shared memory that a multiprocessor's blocks may have
	Bytes      float64 // of device memory
	Launch     float64 // seconds that an empty launch takes among others
	Validated  bool    // times that were measured on it have been held against estimates
}

// GPUs are those that there are estimates for. What makers tell is in their papers on each architecture; the bytes of the
// L2 cache a second are what was measured and published of each.
var GPUs = []GPU{
	{Name: "H200", Processors: 132, Clock: 1.755e9, Device: 4.8e12, L2: 5.6e12, Cache: 60e6, Shared: 128, Lanes: 128, Special: 16, Tensor: 1, Warps: 64,
		Blocks: 32, Registers: 65536, Memory: 228 << 10, Bytes: 141e9, Launch: 2.5e-6, Validated: true},
	{Name: "H100", Processors: 132, Clock: 1.755e9, Device: 3.35e12, L2: 5.6e12, Cache: 50e6, Shared: 128, Lanes: 128, Special: 16, Tensor: 1, Warps: 64,
		Blocks: 32, Registers: 65536, Memory: 228 << 10, Bytes: 80e9, Launch: 2.5e-6},
	{Name: "A100", Processors: 108, Clock: 1.41e9, Device: 2.039e12, L2: 4.0e12, Cache: 40e6, Shared: 128, Lanes: 64, Special: 16, Tensor: 0.5, Warps: 64,
		Blocks: 32, Registers: 65536, Memory: 164 << 10, Bytes: 80e9, Launch: 2.5e-6},
	{Name: "RTX 4090", Processors: 128, Clock: 2.52e9, Device: 1.008e12, L2: 5.0e12, Cache: 72e6, Shared: 128, Lanes: 128, Special: 16, Tensor: 0.125,
		Warps: 48, Blocks: 24, Registers: 65536, Memory: 100 << 10, Bytes: 24e9, Launch: 2.5e-6},
}

// Names are those of all GPUs.
func Names() (all []string) {
	for _, g := range GPUs {
		all = append(all, g.Name)
	}
	return all
}

// Find finds a card by its name, or by how a driver calls it: 'NVIDIA H100 80GB HBM3'.
func Find(name string) (GPU, error) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, g := range GPUs {
		if strings.Contains(plain(name), strings.TrimPrefix(plain(g.Name), "rtx")) {
			return g, nil
		}
	}
	return GPU{}, fmt.Errorf("no GPU of the name %q is known: there are %s", name, strings.Join(Names(), ", "))
}
