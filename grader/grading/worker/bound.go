package worker

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
)

// Order puts a case's tensors into the order in which a method takes them.
type Order func(out, in Places) Places

// Bound is a method of a submission, bound to what an operation declares.
type Bound struct {
	file, name string
	method     reflect.Value
	sizes      []string
	order      Order
	values     []reflect.Value // functions of a problem
}

// Method binds a method expression, such as (*halves.Halves).Float16, that a file holds; "" leaves a stub's error as
// it is. Buffers, and structs of them, take the outputs and then the inputs, each tensor once: a field takes the
// tensor of its name, if there is one, or the next. Shapes are made of the case's sizes; fields of structs have the
// names of sizes. What else there is says more: strings name the sizes that ints take, functions of a problem.Problem
// give values of their result's type, and an Order is another order of tensors.
func Method(file string, method any, more ...any) Bound {
	m := reflect.ValueOf(method)
	name := runtime.FuncForPC(m.Pointer()).Name()
	b := Bound{file: file, name: name[strings.LastIndex(name, ".")+1:], method: m,
		order: func(out, in Places) Places { return slices.Concat(out, in) }}
	for _, x := range more {
		switch x := x.(type) {
		case string:
			b.sizes = append(b.sizes, x)
		case Order:
			b.order = x
		default:
			b.values = append(b.values, reflect.ValueOf(x))
		}
	}
	return b
}

// Calls is the operation that calls a method once.
func Calls[T any](m *Made[T], file string, method any, more ...any) Op {
	b := Method(file, method, more...)
	return Each(m, "lengths", func(it T, c problem.Problem, out, in Places, each attn.PerSequence) error {
		return b.Call(it, c, out, in, each)
	})
}

// Each is OnDevice for what takes a number for each sequence, which are on the device before the call. name is what
// reports call them.
func Each[T any, B Places | Buffers](
	m *Made[T], name string, call func(it T, c problem.Problem, out, in B, each attn.PerSequence) error,
) Op {
	return func(j *Job) (*problem.Answer, error) {
		var each attn.PerSequence
		if j.Each != nil {
			var err error
			if each, err = PerSequence(j.Device, name, j.Each); err != nil {
				return nil, err
			}
			defer func() { _ = each.Device.Free(j.Device) }()
		}
		return OnDevice(m, func(it T, c problem.Problem, out, in B) error { return call(it, c, out, in, each) })(j)
	}
}

// PerSequence puts one number for each sequence on the device, too.
func PerSequence(d device.Device, name string, numbers []int) (attn.PerSequence, error) {
	b, err := device.Upload(d, name, Int32s(numbers))
	return attn.PerSequence{Host: numbers, Device: b}, err
}

// Int32s are numbers as a device has them.
func Int32s(numbers []int) []int32 {
	n := make([]int32, len(numbers))
	for i, x := range numbers {
		n[i] = int32(x)
	}
	return n
}

// Call calls the method of it, on a case's tensors.
func (b Bound) Call(it any, c problem.Problem, out, in Places, each attn.PerSequence) error {
	a := arguments{Bound: b, c: c, each: each, left: b.order(out, in)}
	args := []reflect.Value{reflect.ValueOf(it)}
	for i := 1; i < b.method.Type().NumIn(); i++ {
		v := reflect.New(b.method.Type().In(i)).Elem()
		if err := a.fill(v, ""); err != nil {
			return fmt.Errorf("%s, argument %d: %w", b.name, i, err)
		}
		args = append(args, v)
	}
	err, _ := b.method.Call(args)[0].Interface().(error)
	if b.file == "" {
		return err
	}
	return StubIn(b.file, b.name, err)
}

// arguments are those of one call, and what is left for the next of them.
type arguments struct {
	Bound
	c    problem.Problem
	each attn.PerSequence
	left Places
}

// fill gives an argument, or a field of that name, its value. A buffer for which no tensor is left stays empty: that
// is how a method is told that there is none.
func (a *arguments) fill(to reflect.Value, field string) error {
	for _, f := range a.values {
		if f.Type().Out(0) == to.Type() {
			to.Set(f.Call([]reflect.Value{reflect.ValueOf(a.c)})[0])
			return nil
		}
	}
	switch p := to.Addr().Interface().(type) {
	case *attn.Shape:
		*p = a.c.Attention()
	case *attn.DecodeShape:
		*p = a.c.Decode()
	case *attn.CacheShape:
		*p = a.c.Cache()
	case *attn.PerSequence:
		*p = a.each
	case *device.Buffer[float32]:
		return next(a, p, field)
	case *device.Buffer[device.Float16]:
		return next(a, p, field)
	case *device.Buffer[device.BFloat16]:
		return next(a, p, field)
	case *device.Buffer[int8]:
		return next(a, p, field)
	case *device.Buffer[uint8]:
		return next(a, p, field)
	case *int:
		*p = a.size(field)
	default:
		if to.Kind() != reflect.Struct {
			return fmt.Errorf("a case tells no %v", to.Type())
		}
		for i := range to.NumField() {
			if err := a.fill(to.Field(i), to.Type().Field(i).Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// size is that of a field, or the next one that was named. What an operation has none of is 1.
func (a *arguments) size(field string) int {
	if field == "" && len(a.sizes) > 0 {
		field, a.sizes = a.sizes[0], a.sizes[1:]
	}
	return max(a.c.Sizes[strings.ToLower(field)], 1)
}

// next takes the tensor of a field's name, or the next that is left.
func next[T device.Scalar](a *arguments, to *device.Buffer[T], field string) (err error) {
	if len(a.left) == 0 {
		return nil
	}
	i := max(slices.IndexFunc(a.left, func(m device.Memory) bool { return m.Name == field }), 0)
	*to, err = device.BufferOf[T](a.left[i])
	a.left = slices.Delete(slices.Clone(a.left), i, i+1)
	return err
}
