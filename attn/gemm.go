package attn

import (
	"fmt"

	"flashlab/device"
)

// GemmShape is one batched matrix product c = a · b, row-major: a [Batch, M, K],
// c [Batch, M, N], and b [Batch, K, N], or [Batch, N, K] if TransB says that b is
// stored transposed.
type GemmShape struct {
	Batch, M, N, K int
	TransB         bool
}

func (s GemmShape) String() string {
	b := fmt.Sprintf("b [%d, %d, %d]", s.Batch, s.K, s.N)
	if s.TransB {
		b = fmt.Sprintf("b [%d, %d, %d], transposed", s.Batch, s.N, s.K)
	}
	return fmt.Sprintf("a [%d, %d, %d] times %s", s.Batch, s.M, s.K, b)
}

// Check tells what is wrong with a shape, or with the sizes of the buffers.
func (s GemmShape) Check(c, a, b device.Buffer[float32]) error {
	if min(s.Batch, s.M, s.N, s.K) < 1 {
		return fmt.Errorf("product of %v: every dimension must be at least 1", s)
	}
	for _, x := range []struct {
		device.Buffer[float32]
		want int
	}{{c, s.Batch * s.M * s.N}, {a, s.Batch * s.M * s.K}, {b, s.Batch * s.K * s.N}} {
		if err := holds(x.Buffer, x.want); err != nil {
			return fmt.Errorf("product of %v: %w", s, err)
		}
	}
	return nil
}

// Unfused is task 2: attention in separate steps, and the steps on their own.
// Results may not overlap operands, and every element of a result must be written.
// Every query that its attention is given sees at least one key.
type Unfused interface {
	Softmaxer
	// Gemm writes c = a · b.
	Gemm(c, a, b device.Buffer[float32], s GemmShape) error
	Kernel
}
