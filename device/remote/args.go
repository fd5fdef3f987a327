package remote

import (
	"math"

	"flashlab/device"
)

// unpack turns bare values back into what Launch takes, by the kernel's own
// signature: a client's word on types is not needed.
func (h *heap) unpack(sig device.Signature, values []device.Value) ([]any, error) {
	if len(values) != len(sig.Params) {
		return nil, device.Refuse(sig.Name, "got %d arguments, the kernel takes %d", len(values), len(sig.Params))
	}
	args := make([]any, len(values))
	for i, v := range values {
		p := sig.Params[i]
		switch {
		case p.Kind == device.Pointer:
			block, ok := h.find(v.Bits)
			if !ok {
				return nil, device.Refuse(sig.Name, "argument %d (%s %s): the buffer is not allocated, or was freed", i+1, p.Type, p.Name)
			}
			rest := device.Memory{Addr: v.Bits, Bytes: block.Bytes - int64(v.Bits-block.Addr), Name: block.Name}
			args[i] = pointer(p.Elem, rest)
		case p.Kind == device.Float && p.Size == 4:
			args[i] = math.Float32frombits(uint32(v.Bits))
		case p.Kind == device.Float:
			args[i] = math.Float64frombits(v.Bits)
		case p.Unsigned || p.Size < 1 || p.Size > 8:
			args[i] = v.Bits
		default:
			unused := 64 - 8*p.Size // extend the sign
			args[i] = int64(v.Bits<<unused) >> unused
		}
	}
	return args, nil
}

// pointer makes a buffer of the type that the parameter wants.
func pointer(elem string, m device.Memory) any {
	switch elem {
	case "float":
		return view[float32](m, 4)
	case "double":
		return view[float64](m, 8)
	case "int":
		return view[int32](m, 4)
	case "unsigned int":
		return view[uint32](m, 4)
	case "long long":
		return view[int64](m, 8)
	case "unsigned long long":
		return view[uint64](m, 8)
	}
	return view[uint8](m, 1) // fits any other pointer
}

func view[T device.Scalar](m device.Memory, size int64) device.Buffer[T] {
	m.Bytes -= m.Bytes % size
	b, _ := device.BufferOf[T](m) // cannot fail: the size fits
	return b
}
