package hbm

import (
	"errors"
	"fmt"
	"strings"
)

// SRAM is the fast memory: an arena from which tiles are taken. They are never
// given back, so take them once, before the loops, and reuse them.
type SRAM struct{ machine *Machine }

// Capacity is its size in bytes. An element takes 4.
func (s *SRAM) Capacity() int {
	if s.machine == nil {
		return 0
	}
	return s.machine.capacity
}

// Err is the first error of any operation on this machine, or nil if there was
// none.
func (s *SRAM) Err() error {
	m := s.machine
	if m == nil {
		return errors.New("hbm: this SRAM belongs to no machine: use the one that you were given")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Tile takes a tile [rows, cols] of zeros. The name is for messages. If the tile does
// not fit, Err says so, and the tile that is returned does nothing.
func (s *SRAM) Tile(name string, rows, cols int) *Tile {
	m := s.machine
	t := &tile{machine: m, name: name, rows: rows, cols: cols, stride: cols}
	if m == nil {
		return &Tile{t}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err != nil:
	// A bound on each factor keeps their product from overflowing.
	case rows < 1 || cols < 1 || rows > m.capacity || cols > m.capacity || rows*cols > (m.capacity-m.used)/elementSize:
		m.refuse(t)
	default:
		m.used += rows * cols * elementSize
		m.tiles = append(m.tiles, t)
		t.data = make([]float32, rows*cols)
		m.logger.add(Call{Op: opTile, Tile: m.logger.made(t), Rows: rows, Cols: cols})
	}
	return &Tile{t}
}

// refuse explains why there is no room for a tile. The lock is held.
func (m *Machine) refuse(t *tile) {
	if t.rows < 1 || t.cols < 1 {
		m.fail("tile %v: want at least 1 row and 1 column", t)
		return
	}
	taken, again := "nothing is in it yet", ""
	if len(m.tiles) > 0 {
		var names []string
		for i, other := range m.tiles {
			if i == 6 {
				names = append(names, fmt.Sprintf("and %d more", len(m.tiles)-i))
				break
			}
			names = append(names, other.String())
			if other.name == t.name {
				again = ". Tiles are never given back: take each tile once, before the loops"
			}
		}
		taken = fmt.Sprintf("%d bytes are taken by %s", m.used, strings.Join(names, ", "))
	}
	bytes := float64(t.rows) * float64(t.cols) * elementSize
	m.fail("tile %v of %.0f bytes does not fit into the SRAM of %d bytes: %s%s", t, bytes, m.capacity, taken, again)
}
