package device

import (
	"fmt"
	"math"
)

// Pack checks arguments against a kernel's parameters and lays them out.
func Pack(sig Signature, args []any) ([]Value, error) {
	if len(args) != len(sig.Params) {
		return nil, Refuse(sig.Name, "got %d arguments, the kernel takes %d: %s", len(args), len(sig.Params), sig)
	}
	values := make([]Value, len(args))
	for i, arg := range args {
		v, err := packOne(sig.Params[i], arg)
		if err != nil {
			return nil, Refuse(sig.Name, "argument %d (%s %s): %v", i+1, sig.Params[i].Type, sig.Params[i].Name, err)
		}
		values[i] = v
	}
	return values, nil
}

func packOne(p Param, arg any) (Value, error) {
	switch a := arg.(type) {
	case interface{ devicePointer() (Memory, string) }:
		mem, elem := a.devicePointer()
		if p.Kind != Pointer {
			return Value{}, fmt.Errorf("got the buffer %q, want a number", mem.Name)
		}
		if mem.Addr == 0 {
			return Value{}, fmt.Errorf("the buffer was never allocated")
		}
		if p.Elem != "" && elem != "" && p.Elem != elem {
			return Value{}, fmt.Errorf("the buffer %q holds %s", mem.Name, elem)
		}
		return Value{8, mem.Addr}, nil
	case float32:
		return packFloat(p, float64(a), a)
	case float64:
		return packFloat(p, a, float32(a))
	case int:
		return packInt(p, int64(a))
	case int32:
		return packInt(p, int64(a))
	case int64:
		return packInt(p, a)
	case uint32:
		return packInt(p, int64(a))
	case uint64:
		if p.Kind == Int && p.Size == 8 {
			return Value{8, a}, nil
		}
		return Value{}, fmt.Errorf("got the uint64 %d", a)
	case bool:
		if a {
			return packInt(p, 1)
		}
		return packInt(p, 0)
	}
	return Value{}, fmt.Errorf("got a %T: pass a Buffer, an integer or a float", arg)
}

func packFloat(p Param, wide float64, narrow float32) (Value, error) {
	if p.Kind != Float {
		return Value{}, fmt.Errorf("got the float %v", wide)
	}
	if p.Size == 8 {
		return Value{8, math.Float64bits(wide)}, nil
	}
	return Value{4, uint64(math.Float32bits(narrow))}, nil
}

func packInt(p Param, n int64) (Value, error) {
	if p.Kind != Int {
		return Value{}, fmt.Errorf("got the integer %d", n)
	}
	if p.Size < 8 {
		// An int that does not fit would be cut off silently in CUDA.
		bits := uint(8 * p.Size)
		if n < -(1<<(bits-1)) || n >= 1<<bits {
			return Value{}, fmt.Errorf("%d does not fit in %d bits", n, bits)
		}
		return Value{p.Size, uint64(n) & (1<<bits - 1)}, nil
	}
	return Value{8, uint64(n)}, nil
}

// CheckLaunch checks a launch's shape against a device's limits, and returns
// it with zeros replaced by ones in Y and Z.
func CheckLaunch(kernel string, l Launch, info Info) (Launch, error) {
	fill := func(d Dim) Dim {
		if d.Y == 0 {
			d.Y = 1
		}
		if d.Z == 0 {
			d.Z = 1
		}
		return d
	}
	l.Grid, l.Block = fill(l.Grid), fill(l.Block)
	g, b := l.Grid, l.Block
	threads := int64(b.X) * int64(b.Y) * int64(b.Z)
	switch {
	case g.X < 1 || g.Y < 1 || g.Z < 1:
		return l, Refuse(kernel, "grid %d×%d×%d has no blocks", g.X, g.Y, g.Z)
	case g.X > math.MaxInt32 || g.Y > 65535 || g.Z > 65535:
		return l, Refuse(kernel, "grid %d×%d×%d: CUDA allows 2147483647×65535×65535 at most", g.X, g.Y, g.Z)
	case b.X < 1 || b.Y < 1 || b.Z < 1:
		return l, Refuse(kernel, "block %d×%d×%d has no threads", b.X, b.Y, b.Z)
	case b.X > 1024 || b.Y > 1024 || b.Z > 64 || threads > int64(info.MaxThreads):
		return l, Refuse(kernel, "block %d×%d×%d has %d threads: a block holds %d at most (64 in z)", b.X, b.Y, b.Z, threads, info.MaxThreads)
	case l.Shared < 0 || l.Shared > info.MaxShared:
		return l, Refuse(kernel, "%d bytes of dynamic shared memory: a block may have %d at most", l.Shared, info.MaxShared)
	}
	return l, nil
}
