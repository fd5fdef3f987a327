package device

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

type null struct{}

// Null is the pointer to nothing, for a kernel that takes one.
var Null any = null{}

// layOutOther lays out what is neither pointer nor number of C: a struct, from a Go
// struct with the same members in the same order, or an array of bytes; or a half.
func layOutOther(p Param, arg any) (Value, error) {
	if v := reflect.ValueOf(arg); p.Elem != "" && v.IsValid() && v.CanFloat() {
		more := binary.LittleEndian.AppendUint16(nil, narrowBits(p.Elem, v.Float()))
		return Value{Size: p.Size, More: more}, nil
	}
	var l layout
	if err := l.add(reflect.ValueOf(arg)); err != nil {
		return Value{}, fmt.Errorf("%w, want %s", err, wanted(p))
	}
	l.pad(l.align)
	if len(l.bytes) != p.Size {
		return Value{}, fmt.Errorf("got a %T of %d bytes, and the kernel's %s has %d", arg, len(l.bytes), p.Type, p.Size)
	}
	return Value{Size: p.Size, More: l.bytes}, nil
}

// layout writes values as C lays out a struct.
type layout struct {
	bytes []byte
	align int
}

func (l *layout) pad(to int) {
	for to > 0 && len(l.bytes)%to != 0 {
		l.bytes = append(l.bytes, 0)
	}
}

func (l *layout) put(n uint64, size int) {
	l.pad(size)
	l.align = max(l.align, size)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	l.bytes = append(l.bytes, b[:size]...)
}

// pointed is a Buffer.
type pointed interface{ devicePointer() (Memory, string) }

func (l *layout) add(v reflect.Value) error {
	if !v.IsValid() {
		return fmt.Errorf("got nil")
	}
	if v.CanInterface() {
		if b, ok := v.Interface().(pointed); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
			m, _ := b.devicePointer()
			l.put(m.Addr, 8)
			return nil
		}
		if v.Interface() == Null {
			l.put(0, 8)
			return nil
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		l.put(n, 1)
	case reflect.Float32:
		l.put(uint64(math.Float32bits(float32(v.Float()))), 4)
	case reflect.Float64:
		l.put(math.Float64bits(v.Float()), 8)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		l.put(uint64(v.Int()), int(v.Type().Size()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		l.put(v.Uint(), int(v.Type().Size()))
	case reflect.Array:
		for i := range v.Len() {
			if err := l.add(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		inner := layout{}
		for i := range v.NumField() {
			if err := inner.add(v.Field(i)); err != nil {
				return fmt.Errorf("%w in the member %s", err, v.Type().Field(i).Name)
			}
		}
		inner.pad(inner.align)
		l.pad(inner.align)
		l.align = max(l.align, inner.align)
		l.bytes = append(l.bytes, inner.bytes...)
	default:
		return fmt.Errorf("got a %s, whose size C does not share", v.Type())
	}
	return nil
}

// narrowBits rounds to the nearest half or bfloat16.
func narrowBits(elem string, f float64) uint16 {
	// From float64 at once, for rounding twice may differ.
	exponent, fraction := 5, 10
	if elem == "__nv_bfloat16" {
		exponent, fraction = 8, 7
	}
	bias := 1<<(exponent-1) - 1
	sign := uint16(0)
	if math.Signbit(f) {
		sign, f = 1<<15, -f
	}
	top := uint16(1<<exponent-1) << fraction
	switch {
	case math.IsNaN(f):
		return top | 1<<(fraction-1)
	case math.IsInf(f, 0):
		return sign | top
	case f == 0:
		return sign
	}
	_, e := math.Frexp(f) // f = m × 2^e, m in [0.5, 1)
	e = max(e-1, 1-bias)
	n := uint64(math.RoundToEven(math.Ldexp(f, fraction-e)))
	bits := uint64(e+bias-1)<<fraction + n // a carry goes on into the exponent
	if e == 1-bias && n < 1<<fraction {
		bits = n
	}
	return sign | uint16(min(bits, uint64(top)))
}
