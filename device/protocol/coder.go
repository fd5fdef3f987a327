package protocol

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// write appends a value, and read below is its mirror.
func write(b []byte, v reflect.Value) []byte {
	number := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(b, n) }
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return number(1)
		}
		return number(0)
	case reflect.Int, reflect.Int64:
		return number(uint64(v.Int()))
	case reflect.Uint8, reflect.Uint64:
		return number(v.Uint())
	case reflect.String:
		b = number(uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return number(0)
		}
		b = number(1)
		return write(b, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			b = write(b, v.Field(i))
		}
		return b
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice {
			b = number(uint64(v.Len()))
		}
		for i := range v.Len() {
			b = write(b, v.Index(i))
		}
		return b
	case reflect.Map:
		if texts, ok := v.Interface().(map[string]string); ok {
			b = number(uint64(len(texts)))
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				b = write(write(b, reflect.ValueOf(name)), reflect.ValueOf(texts[name]))
			}
			return b
		}
	}
	panic(fmt.Sprintf("protocol: a %s in a message", v.Type()))
}

// reader takes a body apart; once that has broken off, all is zero.
type reader struct {
	rest   []byte
	broken bool
}

// take is the next n bytes, or nil.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.broken = nil, true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) number() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count is a number of items, each of which has one number at least: no more of
// them than there can be.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest))/8 {
		r.rest, r.broken = nil, true
		return 0
	}
	return int(n)
}

// read fills in a value. Whoever wants a number checks its range.
func (r *reader) read(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number() != 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.number()))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.String:
		v.SetString(string(r.take(r.number())))
	case reflect.Pointer:
		if r.number() != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.read(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.read(v.Field(i))
		}
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice {
			v.SetZero()
			if n := r.count(); n > 0 {
				v.Set(reflect.MakeSlice(v.Type(), n, n))
			}
		}
		for i := range v.Len() {
			r.read(v.Index(i))
		}
	case reflect.Map:
		texts := map[string]string{}
		for n := r.count(); n > 0 && !r.broken; n-- {
			name := string(r.take(r.number()))
			texts[name] = string(r.take(r.number()))
		}
		v.Set(reflect.ValueOf(texts))
	default:
		panic(fmt.Sprintf("protocol: a %s in a message", v.Type()))
	}
}
