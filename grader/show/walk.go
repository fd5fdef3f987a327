package show

import (
	"flashlab/hbm"
)

// Tiled is what an algorithm on tiles asked of its machine (hbm), in place of kernels' counts.
type Tiled struct {
	Record     []byte
	Matrices   []Shape // as the machine numbers them: q, k, v, o, each [rows, columns] of float32
	Room       int     // bytes of SRAM
	Causal     bool
	Rows, Keys int // queries and keys of a tile, as the algorithm was given them
}

// Where task 3's machine has its matrices.
const matrixQ, matrixK = 0, 1

// walk is a record, followed: what came of each matrix, and which tiles of scores were made.
type walk struct {
	read, written [][]uint64 // times, by matrix and row
	steps         []step
	asked         map[string]int // operations by name
	flops         uint64
	used          int // bytes of SRAM
}

// step is one tile of scores: queries by keys.
type step struct {
	query, queries, key, keys int
	masked                    bool
	diagonal                  int // with a mask: key j of query i is hidden where j > i + diagonal
}

// source is what a tile holds: rows of a matrix.
type source struct{ matrix, row int }

type heldTile struct {
	whole      int // the tile that it is a part of
	rows, cols int
}

// follow goes through a record. It ends early where that asks for what there is not.
func follow(t Tiled) (w walk, err error) {
	calls, err := hbm.Calls(t.Record)
	if err != nil {
		return walk{}, err
	}
	w.asked = map[string]int{}
	for _, m := range t.Matrices {
		w.read, w.written = append(w.read, make([]uint64, m.Dims[0])), append(w.written, make([]uint64, m.Dims[0]))
	}
	f := follower{walk: &w, holds: map[int]source{}, scores: map[int]int{}}
	for _, c := range calls {
		if !f.do(c) {
			break
		}
		w.asked[c.Op]++
	}
	return w, nil
}

type follower struct {
	*walk
	tiles  []heldTile
	holds  map[int]source // by whole tile
	scores map[int]int    // by whole tile: which step made it
}

func (f *follower) do(c hbm.Call) bool {
	if c.Op == "Tile" {
		f.tiles = append(f.tiles, heldTile{len(f.tiles), c.Rows, c.Cols})
		f.used += 4 * c.Rows * c.Cols
		return true
	}
	for _, n := range []int{c.Tile, c.Others[0], c.Others[1]} {
		if n < 0 || n >= len(f.tiles) {
			return false
		}
	}
	t, a, b := f.tiles[c.Tile], f.tiles[c.Others[0]], f.tiles[c.Others[1]]
	switch c.Op {
	case "Part":
		f.tiles = append(f.tiles, heldTile{t.whole, c.Rows, c.Cols})
	case "Load", "Store":
		return f.move(c, t)
	case "Mask":
		if at, ok := f.scores[t.whole]; ok {
			f.steps[at].masked, f.steps[at].diagonal = true, c.Rows
		}
	case "Copy":
		f.forget(t)
		if from, ok := f.holds[a.whole]; ok {
			f.holds[t.whole] = from
		}
	case "MulT":
		f.flops += 2 * uint64(t.rows) * uint64(t.cols) * uint64(a.cols)
		f.forget(t)
		q, isQ := f.holds[a.whole]
		k, isK := f.holds[b.whole]
		if isQ && isK && q.matrix == matrixQ && k.matrix == matrixK {
			f.scores[t.whole] = len(f.steps)
			f.steps = append(f.steps, step{query: q.row, queries: a.rows, key: k.row, keys: b.rows})
		}
	case "AddMul":
		f.flops += 2 * uint64(t.rows) * uint64(t.cols) * uint64(a.cols)
	case "Fill":
		f.forget(t)
	}
	return true
}

// forget what a tile held.
func (f *follower) forget(t heldTile) {
	delete(f.holds, t.whole)
	delete(f.scores, t.whole)
}

// move counts rows that are loaded or stored.
func (f *follower) move(c hbm.Call, t heldTile) bool {
	if c.Matrix < 0 || c.Matrix >= len(f.read) || c.Rows < 0 || c.Rows+t.rows > len(f.read[c.Matrix]) {
		return false
	}
	counts := f.written[c.Matrix]
	if c.Op == "Load" {
		counts = f.read[c.Matrix]
		f.forget(t)
		f.holds[t.whole] = source{c.Matrix, c.Rows}
	}
	for row := range t.rows {
		counts[c.Rows+row]++
	}
	return true
}

// hidden tells how many of a step's scores the mask takes away.
func (s step) hidden() (n int) {
	if !s.masked {
		return 0
	}
	for i := range s.queries {
		n += s.keys - min(s.keys, max(0, i+s.diagonal+1))
	}
	return n
}
