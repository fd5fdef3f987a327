// Package hbm simulates the memory of a GPU, in plain Go and without threads:
// a large slow memory (HBM) that holds matrices, and a small fast one (SRAM)
// that holds tiles. Arithmetic happens only on tiles, so a matrix must come
// through the SRAM piece by piece. Every byte that crosses between the two
// memories is counted, and what does not fit into the SRAM is refused.
//
//	┌───────────────────────┐   Load    ┌──────────────────────────┐
//	│ HBM: Matrix           │ ────────▶ │ SRAM: Tile               │
//	│ large, slow, counted  │ ◀──────── │ small, fast; MulT, Exp … │
//	└───────────────────────┘   Store   └──────────────────────────┘
//
// Numbers never leave the tiles for Go variables: they can only be kept in the
// SRAM, and nothing escapes the counting.
//
// Errors stick, as CUDA's do. An operation returns no error. Instead the SRAM keeps
// the first one, and nothing happens after it. Call SRAM.Err at the end.
package hbm

import (
	"fmt"
	"slices"
	"sync"
)

// elementSize is the size of one element in bytes.
const elementSize = 4

// Machine is both memories. The code that measures holds it. The algorithm is given
// the SRAM and the matrices, which do not lead back here.
type Machine struct {
	mu sync.Mutex // one operation at a time, so that counts are exact

	capacity, used int
	tiles          []*tile // in order of allocation
	read, written  uint64
	err            error

	matrices []*Matrix // in the order they were made
	logger   *logger   // nil: nothing is logged
}

// Traffic is what crossed between the memories, in bytes.
type Traffic struct{ Read, Written uint64 }

// Total is the sum of both directions.
func (t Traffic) Total() uint64 { return t.Read + t.Written }

// New makes a machine with that many bytes of SRAM, and no bound on its HBM.
func New(sram int) *Machine { return &Machine{capacity: sram} }

// SRAM is the fast memory.
func (m *Machine) SRAM() *SRAM { return &SRAM{m} }

// Traffic is what has been moved so far.
func (m *Machine) Traffic() Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Traffic{m.read, m.written}
}

// Used is how many bytes of the SRAM are in use.
func (m *Machine) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Input puts a read-only matrix into HBM. The data is copied.
func (m *Machine) Input(name string, rows, cols int, data []float32) (*Matrix, error) {
	if rows < 1 || cols < 1 || len(data) != rows*cols {
		return nil, fmt.Errorf("hbm: %s [%d, %d] of %d elements: want at least 1 row and column, and as many elements", name, rows, cols, len(data))
	}
	return m.matrix(&matrix{m, len(m.matrices), name, rows, cols, slices.Clone(data), true}), nil
}

// Output makes room in HBM for a result. It is filled with a value that shows which
// elements were never written.
func (m *Machine) Output(name string, rows, cols int, filled float32) (*Matrix, error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("hbm: %s [%d, %d]: want at least 1 row and column", name, rows, cols)
	}
	return m.matrix(&matrix{m, len(m.matrices), name, rows, cols, slices.Repeat([]float32{filled}, rows*cols), false}), nil
}

func (m *Machine) matrix(x *matrix) *Matrix {
	m.matrices = append(m.matrices, &Matrix{x})
	return m.matrices[x.id]
}

// Contents returns a copy of a matrix of this machine, without counting it.
func (m *Machine) Contents(x *Matrix) ([]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x == nil || x.in == nil || x.in.machine != m {
		return nil, fmt.Errorf("hbm: that matrix is not of this machine")
	}
	return slices.Clone(x.in.data), nil
}

// fail keeps the first error. The lock is held.
func (m *Machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// Matrix is a matrix in HBM, row by row. Tiles load from it and store to it;
// there is no other way in or out.
type Matrix struct{ in *matrix }

// matrix never changes except for its data. It is behind a pointer, so that not
// even fmt can print the numbers.
type matrix struct {
	machine    *Machine
	id         int // its place among the machine's
	name       string
	rows, cols int
	data       []float32
	readOnly   bool
}

// Rows is the number of rows.
func (x *Matrix) Rows() int { return x.in.rows }

// Cols is the number of columns.
func (x *Matrix) Cols() int { return x.in.cols }

func (x *Matrix) String() string { return x.in.String() }

func (x *matrix) String() string { return fmt.Sprintf("%s [%d, %d]", x.name, x.rows, x.cols) }
