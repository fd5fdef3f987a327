package device

import "flashlab/tensor"

// Bench is what a GPU offers for timing, besides its clock. A Device without a
// clock need not be one: check with a type assertion. Students hold a Queue, and
// cannot reach any of it.
type Bench interface {
	// Limits are what the hardware cannot exceed.
	Limits() (Limits, error)
	// FreeMemory is how many bytes of device memory are free.
	FreeMemory() (int64, error)
	// Copy queues a copy within the device.
	Copy(dst, src Memory) error
	// Library names the vendor's library of dense products, with its version,
	// or says why there is none.
	Library() (string, error)
	// Multiply queues products by that library, with sums in float32. Products of float32
	// are plain ones: no number is rounded to fewer bits.
	Multiply(c, a, b Memory, p Product) error
	// MultiplyAt is Multiply for operands that may be anywhere: at holds the device
	// addresses of all c, then of all a, then of all b, Batch of each.
	MultiplyAt(at Buffer[uint64], p Product) error
}

// Limits are a GPU's own figures, from its clocks and the width of its units. A time
// that beats them must be wrong.
type Limits struct {
	FLOPS     float64 // a second, of float32 by plain instructions
	Tensor    float64 // a second, of the tensor cores' fastest type that attention is written with (float16)
	Bandwidth float64 // bytes a second of device memory
	L2        int64   // bytes of the second-level cache
}

// Product is Batch products c = Scale · a · b, row-major: a [M, K], c [M, N], and
// b [K, N], or [N, K] if TransB says so. Strides are in elements, for a row and from
// one product to the next.
type Product struct {
	Batch, M, N, K      int
	TransB              bool
	Scale               float32
	RowA, RowB, RowC    int
	NextA, NextB, NextC int64
	Type                tensor.Type // of a and b: float32, float16 or bfloat16
	Out                 tensor.Type // of c: Type or float32
}

// Dense is the product of tensors without gaps.
func Dense(batch, m, n, k int, transB bool, scale float32) Product {
	rowB := n
	if transB {
		rowB = k
	}
	return Product{Batch: batch, M: m, N: n, K: k, TransB: transB, Scale: scale, RowA: k, RowB: rowB, RowC: n,
		NextA: int64(m) * int64(k), NextB: int64(n) * int64(k), NextC: int64(m) * int64(n)}
}
