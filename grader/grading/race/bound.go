package race

import "fmt"

// Bound is what a workload cannot be faster than on a machine: its bytes at the rate of memory, or its operations at
// that of the units that do them, whichever takes longer.
type Bound struct {
	Memory bool    // it is memory that binds
	What   string  // what the rate was measured of: "reading"
	Least  float64 // nanoseconds at the rate that was measured; 0 where none was
	Peak   string  // what the hardware's own figure is of: "the pins"
	Paper  float64 // nanoseconds at that figure; 0 where nobody knows it
}

// mostlyRead is the share of a workload's bytes up to which it counts as reading alone, when written.
const mostlyRead = 0.05

// Bound finds it. A row of an earlier document does not know of tensor cores: it has none then.
func (r Row) Bound(t SelfTest) Bound {
	memory := Bound{Memory: true, Peak: "the pins", Paper: over(r.Work.Bytes, t.Limits.Bandwidth)}
	if memory.What, memory.Least = "a copy", over(r.Work.Bytes, t.Copy.Median); r.Work.Written <= mostlyRead*r.Work.Bytes && t.Read.N > 0 {
		memory.What, memory.Least = "reading", over(r.Work.Bytes, t.Read.Median)
	}
	units := Bound{What: "multiply-adds", Least: over(r.Work.FLOPS, t.Adds.Median), Peak: "their peak", Paper: over(r.Work.FLOPS, t.Limits.FLOPS)}
	if r.Tensor > 0 {
		units = Bound{What: "tensor cores", Least: over(r.Tensor*r.Work.FLOPS, t.Tensor.Median), Peak: "their peak", Paper: over(r.Tensor*r.Work.FLOPS, t.Limits.Tensor)}
	}
	if r.Traffic || memory.binds() > units.binds() {
		return memory
	}
	return units
}

// binds is the time to compare bounds by.
func (b Bound) binds() float64 {
	if b.Least > 0 {
		return b.Least
	}
	return b.Paper
}

// over is a time in nanoseconds.
func over(work, rate float64) float64 {
	if rate == 0 {
		return 0
	}
	return work / rate * 1e9
}

// Rate is that of a time, in words: of bytes where memory binds, else of operations.
func (b Bound) Rate(r Row, ns float64) string {
	tflops, tbps := r.Rates(ns)
	if b.Memory {
		return fmt.Sprintf("%.2f TB/s", tbps)
	}
	return fmt.Sprintf("%.1f TFLOP/s", tflops)
}

// Of is the share of the bound that a time reaches, in words: of the rate that was measured, and of the hardware's figure.
func (b Bound) Of(ns float64) string {
	text := ""
	if b.Least > 0 && ns > 0 {
		text = fmt.Sprintf("%.0f %% of %s", 100*b.Least/ns, b.What)
	}
	if b.Paper > 0 && ns > 0 {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%.0f %% of %s", 100*b.Paper/ns, b.Peak)
	}
	return text
}
