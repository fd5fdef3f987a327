package hbm

import "fmt"

// Tile is a matrix in SRAM, or a part of one.
type Tile struct{ in *tile }

// tile never changes except for its data, so a copy of a Tile is another name for
// the same tile.
type tile struct {
	machine    *Machine
	name       string
	rows, cols int
	stride     int       // from one row to the next
	data       []float32 // nil if there was no room
	id         int       // in a log
}

// Rows is the number of rows.
func (t *Tile) Rows() int { return t.in.rows }

// Cols is the number of columns.
func (t *Tile) Cols() int { return t.in.cols }

func (t *Tile) String() string { return t.in.String() }

func (t *tile) String() string { return fmt.Sprintf("%s [%d, %d]", t.name, t.rows, t.cols) }

// row returns row i.
func (t *tile) row(i int) []float32 { return t.data[i*t.stride:][:t.cols] }

// Part is the first rows and columns of t. It is the same memory, so it takes no
// extra room. The last, smaller tile of a matrix needs it.
func (t *Tile) Part(rows, cols int) *Tile {
	p := &tile{machine: t.in.machine, name: t.in.name, rows: rows, cols: cols, stride: t.in.stride}
	t.in.work(opPart, nil, Call{Rows: rows, Cols: cols}, func() {
		if rows < 1 || cols < 1 || rows > t.in.rows || cols > t.in.cols {
			p.machine.fail("Part(%d, %d) of tile %v: want 1 to %d rows and 1 to %d columns", rows, cols, t.in, t.in.rows, t.in.cols)
			return
		}
		p.data = t.in.data[:(rows-1)*p.stride+cols]
		p.machine.logger.made(p)
	})
	return &Tile{p}
}

// Load reads t.Rows() rows of x from HBM, starting at the given row. It counts 4
// bytes for each element.
func (t *Tile) Load(x *Matrix, row int) {
	in := t.in
	in.work(opLoad, nil, Call{Matrix: idOf(x), Rows: row}, func() {
		if !in.fits("Load", "from", x, row) {
			return
		}
		for i := range in.rows {
			copy(in.row(i), x.in.data[(row+i)*in.cols:])
		}
		in.machine.read += uint64(in.rows * in.cols * elementSize)
	})
}

// Store writes t to HBM, to the rows of x that start at the given one. It counts 4
// bytes for each element.
func (t *Tile) Store(x *Matrix, row int) {
	in := t.in
	in.work(opStore, nil, Call{Matrix: idOf(x), Rows: row}, func() {
		if !in.fits("Store", "to", x, row) {
			return
		}
		if x.in.readOnly {
			in.machine.fail("Store of tile %v: %v is an input, and can only be read", in, x.in)
			return
		}
		for i := range in.rows {
			copy(x.in.data[(row+i)*in.cols:], in.row(i))
		}
		in.machine.written += uint64(in.rows * in.cols * elementSize)
	})
}

// fits checks that x has the rows row … row + t.rows - 1, and that they are as wide
// as the tile.
func (t *tile) fits(call, way string, x *Matrix, row int) bool {
	switch {
	case x == nil || x.in == nil || x.in.machine != t.machine:
		t.machine.fail("%s of tile %v: the matrix is not of this machine", call, t)
	case x.in.cols != t.cols:
		t.machine.fail("%s of tile %v %s %v: want as many columns", call, t, way, x.in)
	case row < 0 || row > x.in.rows-t.rows:
		t.machine.fail("%s of tile %v %s %v: its rows %d to %d are not all there (for a last, smaller tile see Part)", call, t, way, x.in, row, row+t.rows-1)
	default:
		return true
	}
	return false
}

// work does something with a tile, under the machine's lock, unless an error
// came before. others are the operands: tiles of the same machine.
// more is what a log needs besides: numbers.
func (t *tile) work(call string, others []*Tile, more Call, do func()) {
	if t == nil || t.machine == nil {
		return // a zero Tile: it has nowhere to report an error
	}
	m := t.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return
	}
	for _, o := range append(others, &Tile{t}) {
		switch {
		case o == nil || o.in == nil || o.in.machine != m:
			m.fail("%s of tile %v: an operand is no tile of this SRAM", call, t)
			return
		case o.in.data == nil:
			m.fail("%s of tile %v: %v was never allocated", call, t, o.in)
			return
		}
	}
	m.logger.note(call, t, others, more)
	do()
}
