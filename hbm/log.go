package hbm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A log is all that an algorithm asked of a machine. Numbers never leave the tiles, so
// what is asked cannot depend on them: on matrices of zeros it is the same. So whoever
// measures can have the algorithm run on a machine that holds nothing, and replay its
// log elsewhere, on the real matrices and with counts that it cannot reach.

// The operations by name.
const (
	opTile, opPart, opLoad, opStore        = "Tile", "Part", "Load", "Store"
	opFill, opScale, opExp, opMask         = "Fill", "Scale", "Exp", "Mask"
	opCopy, opAdd, opSub, opMul, opDiv     = "Copy", "Add", "Sub", "Mul", "Div"
	opMaxRows, opSumRows, opMulT, opAddMul = "MaxRows", "SumRows", "MulT", "AddMul"
)

var ops = []string{opTile, opPart, opLoad, opStore, opFill, opScale, opExp, opMask, opCopy, opAdd, opSub, opMul, opDiv, opMaxRows, opSumRows, opMulT, opAddMul}

// Call is one operation of a log.
type Call struct {
	Op         string
	Tile       int    // whose method it is, by its place among those made; of Tile and Part the next one
	Others     [2]int // the operands; of Part the first is what it is a part of
	Matrix     int
	Rows, Cols int // of Load and Store the first row, of Mask the diagonal
	Value      float32
}

// logger belongs to a machine, and is used under its lock; nil logs nothing.
type logger struct {
	tiles int
	calls []Call
}

// mostCalls bounds a log: an algorithm that asks for more is not logged further, and
// its log ends too early to be of use.
const mostCalls = 1 << 22

// StartLog makes the machine keep a log from now on.
func (m *Machine) StartLog() { m.logger = &logger{} }

func (r *logger) add(c Call) {
	if r != nil && len(r.calls) < mostCalls {
		r.calls = append(r.calls, c)
	}
}

// made numbers a tile.
func (r *logger) made(t *tile) int {
	if r == nil {
		return 0
	}
	t.id = r.tiles
	r.tiles++
	return t.id
}

func (r *logger) note(op string, t *tile, others []*Tile, c Call) {
	if r == nil {
		return
	}
	c.Op, c.Tile = op, t.id
	for i, o := range others {
		c.Others[i] = o.in.id
	}
	r.add(c)
}

func idOf(x *Matrix) int {
	if x == nil || x.in == nil {
		return -1
	}
	return x.in.id
}

// callBytes is the size of a call in a log.
const callBytes = 1 + 7*4

// Log is the log so far.
func (m *Machine) Log() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logger == nil {
		return nil
	}
	var b []byte
	for _, c := range m.logger.calls {
		b = append(b, byte(slices.Index(ops, c.Op)))
		for _, n := range []int{c.Tile, c.Others[0], c.Others[1], c.Matrix, c.Rows, c.Cols} {
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(n)))
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.Value))
	}
	return b
}

// mostWork bounds a replay: multiplications, or elements touched.
const mostWork = 1 << 32

// Replay does what a log says. Nothing in it is trusted: the worst that it can ask for
// is an algorithm of somebody's own.
func (m *Machine) Replay(log []byte) error {
	if len(log)%callBytes != 0 || len(log) > callBytes*mostCalls {
		return fmt.Errorf("hbm: a log of %d bytes is malformed, or too long", len(log))
	}
	var tiles []*Tile
	work := 0
	for ; len(log) > 0; log = log[callBytes:] {
		c, err := readCall(log)
		if err != nil {
			return err
		}
		if tiles, err = m.replay(c, tiles); err != nil {
			return err
		}
		if n := c.Tile; n < len(tiles) {
			deep := 1
			if c.Op == opMulT || c.Op == opAddMul {
				deep = tiles[c.Others[0]].Cols()
			}
			work += 16 + tiles[n].Rows()*tiles[n].Cols()*deep
		}
		if work > mostWork {
			return errors.New("hbm: the record asks for too much")
		}
		if err := m.SRAM().Err(); err != nil {
			return err
		}
	}
	return nil
}

// Calls are a log's operations, the matrices by their place among those made: the inputs first.
func Calls(log []byte) ([]Call, error) {
	if len(log)%callBytes != 0 || len(log) > callBytes*mostCalls {
		return nil, fmt.Errorf("hbm: a log of %d bytes is malformed, or too long", len(log))
	}
	calls := make([]Call, 0, len(log)/callBytes)
	for ; len(log) > 0; log = log[callBytes:] {
		c, err := readCall(log)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func readCall(b []byte) (c Call, err error) {
	if int(b[0]) >= len(ops) {
		return c, errors.New("hbm: a record with an operation that there is not")
	}
	c.Op = ops[b[0]]
	for i, to := range []*int{&c.Tile, &c.Others[0], &c.Others[1], &c.Matrix, &c.Rows, &c.Cols} {
		*to = int(int32(binary.LittleEndian.Uint32(b[1+4*i:])))
	}
	c.Value = math.Float32frombits(binary.LittleEndian.Uint32(b[1+4*6:]))
	return c, nil
}

func (m *Machine) replay(c Call, tiles []*Tile) ([]*Tile, error) {
	for _, n := range []int{c.Tile, c.Others[0], c.Others[1]} {
		if n < 0 || n >= len(tiles) && c.Op != opTile {
			return tiles, errors.New("hbm: a record with a tile that there is not")
		}
	}
	var x *Matrix
	if c.Op == opLoad || c.Op == opStore {
		if c.Matrix < 0 || c.Matrix >= len(m.matrices) {
			return tiles, errors.New("hbm: a record with a matrix that there is not")
		}
		x = m.matrices[c.Matrix]
	}
	if c.Op == opTile {
		return append(tiles, m.SRAM().Tile("tile", c.Rows, c.Cols)), nil
	}
	t, a, b := tiles[c.Tile], tiles[c.Others[0]], tiles[c.Others[1]]
	switch c.Op {
	case opPart:
		return append(tiles, t.Part(c.Rows, c.Cols)), nil
	case opLoad:
		t.Load(x, c.Rows)
	case opStore:
		t.Store(x, c.Rows)
	case opFill:
		t.Fill(c.Value)
	case opScale:
		t.Scale(c.Value)
	case opExp:
		t.Exp()
	case opMask:
		t.Mask(c.Rows)
	case opCopy:
		t.Copy(a)
	case opAdd:
		t.Add(a)
	case opSub:
		t.Sub(a)
	case opMul:
		t.Mul(a)
	case opDiv:
		t.Div(a)
	case opMaxRows:
		t.MaxRows(a)
	case opSumRows:
		t.SumRows(a)
	case opMulT:
		t.MulT(a, b)
	case opAddMul:
		t.AddMul(a, b)
	}
	return tiles, nil
}
