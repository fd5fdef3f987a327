package device

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// LayOut checks arguments against a kernel's parameters and lays them out.
func LayOut(sig Signature, args []any) ([]Value, error) {
	if len(args) != len(sig.Params) {
		return nil, Refuse(sig.Name, "got %d arguments, the kernel takes %d: %s", len(args), len(sig.Params), sig)
	}
	values := make([]Value, len(args))
	for i, arg := range args {
		v, err := layOutOne(sig.Params[i], arg)
		if err != nil {
			return nil, Refuse(sig.Name, "argument %d (%s %s): %v", i+1, sig.Params[i].Type, sig.Params[i].Name, err)
		}
		values[i] = v
	}
	return values, nil
}

func layOutOne(p Param, arg any) (Value, error) {
	if v, ok := arg.(Value); ok { // already laid out at the other end of a connection
		if p.Size == 0 || v.Size != p.Size || len(v.More) != 0 && len(v.More) != v.Size || (p.Kind == Other) != (len(v.More) != 0) {
			return Value{}, fmt.Errorf("got %d bytes, want %s", v.Size, wanted(p))
		}
		if (p.Kind == Map) != (v.Map != nil) {
			return Value{}, fmt.Errorf("want %s", wanted(p))
		}
		if v.Map != nil {
			return layOutMap(p, *v.Map)
		}
		return v, nil
	}
	if n, ok := arg.(interface{ Float32() float32 }); ok { // its bits are no number
		return Value{}, fmt.Errorf("got a %T, want %s: Go passes no numbers of 16 bits, so pass x.Float32()", n, wanted(p))
	}
	if m, ok := arg.(TensorMap); ok {
		return layOutMap(p, m)
	}
	if t, ok := arg.(Texture); ok {
		return layOutTexture(p, t)
	}
	if arg == Null && p.Kind == Pointer {
		return Value{Size: 8}, nil
	}
	if p.Kind == Other && p.Size > 0 {
		return layOutOther(p, arg)
	}
	v := reflect.ValueOf(arg) // reflect, so that named types pass too: type Scale float32
	switch {
	case !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil():
		return Value{}, fmt.Errorf("got nil, want %s", wanted(p))
	case v.CanInt():
		return layOutInt(p, big{v.Int() < 0, uint64(v.Int())})
	case v.CanUint():
		return layOutInt(p, big{false, v.Uint()})
	case v.CanFloat():
		return layOutFloat(p, v.Float())
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return layOutInt(p, big{false, 1})
		}
		return layOutInt(p, big{false, 0})
	}
	if b, ok := arg.(interface{ devicePointer() (Memory, string) }); ok {
		mem, elem := b.devicePointer()
		return layOutPointer(p, mem, elem)
	}
	return Value{}, fmt.Errorf("got a %T, want %s", arg, wanted(p))
}

func layOutMap(p Param, m TensorMap) (Value, error) {
	if p.Kind != Map {
		return Value{}, fmt.Errorf("got a TensorMap of %q, want %s", m.Memory.Name, wanted(p))
	}
	if !strings.Contains(p.Type, "__grid_constant__") || !strings.Contains(p.Type, "const ") {
		return Value{}, fmt.Errorf("write the parameter as const __grid_constant__ CUtensorMap: the copy engine cannot read a thread's own copy")
	}
	return Value{Size: 128, Map: &m}, m.Check()
}

func layOutPointer(p Param, mem Memory, elem string) (Value, error) {
	if p.Kind != Pointer {
		return Value{}, fmt.Errorf("got the buffer %q, want %s", mem.Name, wanted(p))
	}
	if mem.Addr == 0 {
		return Value{}, fmt.Errorf("the buffer was never allocated")
	}
	if p.Elem != "" && elem != "" && p.Elem != elem {
		return Value{}, fmt.Errorf("the buffer %q holds %s, want %s", mem.Name, elem, p.Elem)
	}
	return Value{Size: 8, Bits: mem.Addr}, nil
}

func layOutFloat(p Param, f float64) (Value, error) {
	if p.Kind != Float {
		return Value{}, fmt.Errorf("got the float %v, want %s", f, wanted(p))
	}
	if p.Size == 8 {
		return Value{Size: 8, Bits: math.Float64bits(f)}, nil
	}
	narrow := float32(f)
	if math.IsInf(float64(narrow), 0) && !math.IsInf(f, 0) {
		return Value{}, fmt.Errorf("%v does not fit in a float", f)
	}
	return Value{Size: 4, Bits: uint64(math.Float32bits(narrow))}, nil
}

// big is a Go integer of any type: its low 64 bits, and whether it is below 0.
type big struct {
	negative bool
	bits     uint64
}

func (b big) String() string {
	if b.negative {
		return fmt.Sprint(int64(b.bits))
	}
	return fmt.Sprint(b.bits)
}

// layOutInt refuses an integer that does not fit: CUDA would cut it off silently.
func layOutInt(p Param, n big) (Value, error) {
	if p.Kind != Int {
		return Value{}, fmt.Errorf("got the integer %v, want %s", n, wanted(p))
	}
	bits := 8 * p.Size
	most := uint64(math.MaxUint64) >> (64 - bits)
	if !p.Unsigned {
		most >>= 1
	}
	fits := n.bits <= most
	if n.negative {
		fits = !p.Unsigned && ^n.bits <= most // -1 - n: as far below 0 as most is above
	}
	if !fits {
		sign := "signed"
		if p.Unsigned {
			sign = "unsigned"
		}
		return Value{}, fmt.Errorf("%v does not fit in %d bits, %s", n, bits, sign)
	}
	return Value{Size: p.Size, Bits: n.bits & (math.MaxUint64 >> (64 - bits))}, nil
}

// wanted says what may be passed for a parameter.
func wanted(p Param) string {
	switch {
	case p.Kind == Pointer && p.Elem != "":
		return "a Buffer of " + p.Elem
	case p.Kind == Pointer:
		return "a Buffer"
	case p.Kind == Int:
		return "an integer"
	case p.Kind == Float:
		return "a float, such as float32(1)"
	case p.Kind == Map:
		return "a TensorMap"
	case p.Elem != "":
		return "a float, or the 16 bits as an integer"
	case p.Size > 0:
		return fmt.Sprintf("a Go struct of %d bytes with the members of %s", p.Size, p.Type)
	}
	return "its size, which is not known: write the type out"
}

// mostInCluster is how many blocks a portable cluster has at most.
const mostInCluster = 8

// divides tells whether a grid is a whole number of clusters.
func (d Dim) divides(grid Dim) bool {
	return d.X > 0 && d.Y > 0 && d.Z > 0 && grid.X%d.X == 0 && grid.Y%d.Y == 0 && grid.Z%d.Z == 0
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
	if l.Cluster != (Dim{}) {
		l.Cluster = fill(l.Cluster)
	}
	g, b := l.Grid, l.Block
	threads := int64(b.X) * int64(b.Y) * int64(b.Z)
	switch {
	case g.X < 1 || g.Y < 1 || g.Z < 1:
		return l, Refuse(kernel, "grid %d×%d×%d has no blocks: a division rounds down. Round up, (n + size - 1) / size, so that a last, partial block counts", g.X, g.Y, g.Z)
	case g.X > math.MaxInt32 || g.Y > 65535 || g.Z > 65535:
		return l, Refuse(kernel, "grid %d×%d×%d: CUDA allows 2147483647×65535×65535 at most", g.X, g.Y, g.Z)
	case b.X < 1 || b.Y < 1 || b.Z < 1:
		return l, Refuse(kernel, "block %d×%d×%d has no threads", b.X, b.Y, b.Z)
	case b.X > 1024 || b.Y > 1024 || b.Z > 64 || threads > int64(info.MaxThreads):
		return l, Refuse(kernel, "block %d×%d×%d has %d threads: a block holds %d at most (64 in z)", b.X, b.Y, b.Z, threads, info.MaxThreads)
	case l.Cluster != (Dim{}) && !l.Cluster.divides(g):
		return l, Refuse(kernel, "grid %d×%d×%d is no whole number of clusters of %d×%d×%d blocks", g.X, g.Y, g.Z, l.Cluster.X, l.Cluster.Y, l.Cluster.Z)
	case l.Cluster.X*l.Cluster.Y*l.Cluster.Z > mostInCluster:
		return l, Refuse(kernel, "a cluster of %d×%d×%d blocks: %d in all is the most that every GPU with clusters holds", l.Cluster.X, l.Cluster.Y, l.Cluster.Z, mostInCluster)
	case l.Shared < 0 || l.Shared > info.MaxShared:
		return l, Refuse(kernel, "%d bytes of dynamic shared memory: a block may have %d at most", l.Shared, info.MaxShared)
	}
	return l, nil
}
