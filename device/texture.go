package device

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Outside says what a texture has beyond its edges, numbered as cudaTextureAddressMode is. Wrap
// and Mirror need coordinates from 0 to 1 (Texels.Normalized); with others they are Clamp.
type Outside uint8

// The ways.
const (
	Wrap   Outside = iota // the texture again
	Clamp                 // its last texel
	Mirror                // the texture backwards
	Border                // zeros
)

// Texels says how a texture or a surface lies in a buffer: rows without gaps, then layers or
// slices without gaps.
type Texels struct {
	Width         int // texels
	Height, Depth int // of a plane and a volume; otherwise 0
	Layers        int // of a line or a plane; six squares make a cube
	Numbers       int // of a texel: 1, 2 or 4; 0 is 1
	Normalized    bool
	Linear        bool // floating-point numbers and fractions: a mean of the neighbours
	Fractions     bool // integers of 8 and 16 bits are read as 0 to 1, or -1 to 1
	Outside       Outside
}

// Texture is what a kernel takes for a cudaTextureObject_t or a cudaSurfaceObject_t. Textures
// are the simulator's alone so far.
type Texture struct{ object Buffer[uint64] }

// textureMark begins every texture (device/sim/runtime/texture.h).
const textureMark = 0x65727574786574ff

// NewTexture describes a buffer as a texture; it shares the buffer's memory.
func NewTexture[T Scalar](q Queue, b Buffer[T], t Texels) (Texture, error) {
	wrong := func(format string, args ...any) (Texture, error) {
		return Texture{}, fmt.Errorf("a texture of %q: %s", b.Name(), fmt.Sprintf(format, args...))
	}
	t.Numbers = max(t.Numbers, 1)
	kind, ok := textureKinds[elemName[T]()]
	switch {
	case q.Info().Kind != Sim:
		return wrong("textures are the simulator's alone so far; on a GPU read the buffer itself")
	case !ok && sizeOf[T]() > 2 || sizeOf[T]() > 4 || elemName[T]() == "__nv_bfloat16":
		return wrong("its numbers are integers of 8, 16 and 32 bits, float or half")
	case t.Numbers > 4 || t.Numbers == 3:
		return wrong("%d numbers a texel: 1, 2 and 4 are possible", t.Numbers)
	case t.Width < 1 || t.Height < 0 || t.Depth < 0 || t.Layers < 0 || t.Depth > 0 && t.Height == 0:
		return wrong("%d×%d×%d texels: want at least one; a volume has a height", t.Width, t.Height, t.Depth)
	case t.Depth > 0 && t.Layers > 0:
		return wrong("a volume has no layers")
	case t.Fractions && (kind == floatTexels || sizeOf[T]() > 2):
		return wrong("fractions are made of integers of 8 and 16 bits")
	case t.Outside > Border:
		return wrong("no way %d to go beyond its edges", t.Outside)
	}
	if t.Depth >= 1<<16 || t.Layers >= 1<<16 {
		return wrong("%d slices: 65535 are possible", max(t.Depth, t.Layers))
	}
	n, most := t.Numbers, b.Len()
	for _, size := range []int{t.Width, max(t.Height, 1), max(t.Depth, t.Layers, 1)} {
		if size > math.MaxInt32 || n > most/size {
			return wrong("%d×%d×%d texels of %d numbers do not fit: the buffer has %d", t.Width, max(t.Height, 1), max(t.Depth, t.Layers, 1), t.Numbers, most)
		}
		n *= size
	}
	object, err := Upload(q, b.Name()+"'s texture", t.words(b.mem.Addr, uint8(sizeOf[T]()), kind))
	return Texture{object}, err
}

// Kinds of numbers, as the simulator has them.
const (
	unsignedTexels = iota
	signedTexels
	floatTexels
)

// textureKinds are those of types with one name: plain words of 8 and 16 bits are unsigned.
var textureKinds = map[string]uint8{"float": floatTexels, "half": floatTexels, "int": signedTexels, "char": signedTexels, "unsigned int": unsignedTexels}

// words are the texture as texture.h has it.
func (t Texels) words(address uint64, bytes, kind uint8) []uint64 {
	flag := func(b bool) byte {
		if b {
			return 1
		}
		return 0
	}
	dimensions := 1
	if t.Height > 0 {
		dimensions++
	}
	if t.Depth > 0 {
		dimensions++
	}
	last := []byte{bytes, byte(t.Numbers), kind, byte(t.Outside), flag(t.Normalized), flag(t.Linear), flag(t.Fractions), flag(t.Layers > 0)}
	return []uint64{textureMark, address, uint64(t.Width) | uint64(t.Height)<<32, uint64(max(t.Depth, t.Layers)) | uint64(dimensions)<<32,
		binary.LittleEndian.Uint64(last), 0, 0, 0}
}

// Free gives back the texture, and leaves its buffer.
func (t Texture) Free(q Queue) error { return t.object.Free(q) }

// layOutTexture passes a texture by its address, which is the object's number.
func layOutTexture(p Param, t Texture) (Value, error) {
	if p.Kind != Int || p.Size != 8 {
		return Value{}, fmt.Errorf("got a Texture, want %s", wanted(p))
	}
	if t.object.mem.Addr == 0 {
		return Value{}, fmt.Errorf("the texture was never made: see NewTexture")
	}
	return Value{Size: 8, Bits: t.object.mem.Addr}, nil
}
