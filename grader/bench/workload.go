// Package bench times code: a submission's or the reference's, the vendor's library,
// and peers, side by side, on inputs that are new for every run. Grading's speed points
// and `make bench` come from here.
package bench

import (
	"fmt"

	"flashlab/grader/ops"
	"flashlab/grader/timing"
	"flashlab/grader/wire"
)

// Workload is one thing to time.
type Workload struct {
	Name   string // "32 heads × 128, batch 64, sequence 4096, causal"
	ID     string // in files: "flash-64-4096-causal"
	Task   int
	Op     string
	Shape  []int
	Causal bool
	// Small is the same for the simulator, where nothing is timed but everything is
	// checked.
	Small []int
	// Peers are what PyTorch is asked for.
	Peers []string
	// Traffic says that the workload is bound by memory: percent of the copy rate
	// are what matters.
	Traffic bool
}

// Case is the workload as a worker gets it.
func (w Workload) Case(small bool) (ops.Op, wire.Case, error) {
	op, err := ops.Find(w.Op)
	if err != nil {
		return op, wire.Case{}, err
	}
	shape := w.Shape
	if small {
		shape = w.Small
	}
	c, err := op.TimedCase(op.TimedSpec(shape, w.Causal))
	if err != nil {
		return op, c, fmt.Errorf("the workload %s: %w", w.Name, err)
	}
	return op, c, nil
}

// Bytes are what the case's tensors take on the device.
func Bytes(c wire.Case) int64 { return int64(ops.Bytes(c.Inputs, c.Outputs)) }

// Needs is the same with what an operation keeps besides.
func Needs(op ops.Op, c wire.Case) int64 {
	if op.Timed.Held == nil {
		return Bytes(c)
	}
	return Bytes(c) + op.Timed.Held(c)
}

// WorkOf is what the case has to do at least.
func WorkOf(op ops.Op, c wire.Case) timing.Work {
	return timing.Work{FLOPS: op.Timed.FLOPS(c), Bytes: float64(op.Least(c))}
}

// figures of a shape [batch, heads, seq, seq, 128].
func attentionOf(batch, seq int, causal bool, peers ...string) Workload {
	mask := "full"
	if causal {
		mask = "causal"
	}
	return Workload{Name: fmt.Sprintf("attention, batch %d, 32 heads × 128, sequence %d, %s", batch, seq, mask),
		ID: fmt.Sprintf("flash-%d-%d-%s", batch, seq, mask), Task: 4, Op: "flash", Causal: causal,
		Shape: []int{batch, 32, seq, seq, 128}, Small: Small("flash"), Peers: peers}
}

func decodeOf(batch, kvHeads, tokens int, peers ...string) Workload {
	return Workload{Name: fmt.Sprintf("decoding, batch %d, 32 heads × 128, %d key heads, context %d", batch, kvHeads, tokens),
		ID: fmt.Sprintf("decode-%d-%d-%d", batch, kvHeads, tokens), Task: 5, Op: "decode", Traffic: true,
		Shape: []int{batch, 32, kvHeads, tokens, 128}, Small: Small("decode"), Peers: peers}
}

func splitOf(tokens, parts int, peers ...string) Workload {
	return Workload{Name: fmt.Sprintf("decoding in %d parts, batch 1, 32 heads × 128, context %d", parts, tokens),
		ID: fmt.Sprintf("split-1-%d-%d", tokens, parts), Task: 5, Op: "split", Traffic: true,
		Shape: []int{1, 32, 32, tokens, 128, parts}, Small: Small("split"), Peers: peers}
}

func gemmOf(batch, m, n, k int, transB bool, peers ...string) Workload {
	op, kind := "gemm_nn", "NN"
	if transB {
		op, kind = "gemm_nt", "NT"
	}
	name := fmt.Sprintf("product %s, %d × %d × %d", kind, m, k, n)
	if batch > 1 {
		name = fmt.Sprintf("product %s, %d of %d × %d × %d", kind, batch, m, k, n)
	}
	return Workload{Name: name, ID: fmt.Sprintf("%s-%d-%d-%d-%d", op, batch, m, k, n), Task: 2, Op: op,
		Shape: []int{batch, m, n, k}, Small: Small(op), Peers: peers}
}

func softmaxOf(rows, n int, peers ...string) Workload {
	return Workload{Name: fmt.Sprintf("softmax, %d rows of %d", rows, n), ID: fmt.Sprintf("softmax-%d-%d", rows, n), Task: 2, Op: "softmax", Traffic: true,
		Shape: []int{rows, n, 1}, Small: Small("softmax"), Peers: peers}
}

// All are the workloads of the reference's table.
func All() []Workload {
	all := []Workload{
		gemmOf(1, 4096, 4096, 4096, false, "matmul"), gemmOf(1, 4096, 4096, 4096, true, "matmul"),
		gemmOf(128, 1024, 1024, 128, true, "matmul"),
	}
	for n := 1024; n <= 16384; n *= 2 {
		all = append(all, softmaxOf((1<<28)/n, n, "softmax"))
	}
	for _, causal := range []bool{false, true} {
		all = append(all, attentionOf(4, 128, causal, "sdpa", "math", "multihead"))
	}
	for seq := 512; seq <= 8192; seq *= 2 { // for the picture
		all = append(all, attentionOf(4, seq, false, "sdpa"))
	}
	for _, causal := range []bool{false, true} {
		all = append(all, attentionOf(64, 4096, causal, "sdpa"))
	}
	for tokens := 1024; tokens <= 32768; tokens *= 2 {
		all = append(all, decodeOf(16, 32, tokens, "sdpa"))
	}
	return append(all, splitOf(4096, 8, "sdpa"), splitOf(32768, 32, "sdpa"))
}

// VersionWorkloads are what the versions of a task's solution are compared on: one for
// each kind of kernel, and not so large that a textbook's takes minutes.
func VersionWorkloads(task int) []Workload {
	switch task {
	case 2:
		return []Workload{gemmOf(1, 2048, 2048, 2048, false), softmaxOf(1<<16, 4096)}
	case 4:
		return []Workload{attentionOf(4, 2048, false)}
	case 5:
		return []Workload{decodeOf(16, 32, 4096), splitOf(4096, 8)}
	}
	return nil
}

// Fits tells whether a workload and its baseline have room in so much device memory.
func Fits(op ops.Op, c wire.Case, free int64) bool {
	n := Needs(op, c)
	if op.Timed.LikeBaseline() { // the baseline is in it; what a layer takes is an estimate
		return float64(n)*1.25 < float64(free)
	}
	return float64(n)*1.05+10e9 < float64(free) || n < free/8
}

// Small is an operation's shape for the simulator.
func Small(op string) []int {
	switch op {
	case "flash":
		return []int{1, 2, 33, 33, 16}
	case "decode":
		return []int{2, 4, 2, 40, 16}
	case "split":
		return []int{1, 2, 2, 40, 16, 4}
	case "gemm_nn", "gemm_nt":
		return []int{2, 17, 33, 19}
	case "softmax":
		return []int{5, 113, 1}
	case "model":
		return []int{2, 9, 4, 2, 3, 8, 40, 61}
	}
	return nil
}
