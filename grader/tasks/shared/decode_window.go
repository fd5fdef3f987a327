package shared

import "flashlab/grader/grading/judge"

// windowed are the windows that one reads by mistake; none where there is no window.
func (d Decoding) windowed() []judge.Mistake {
	if d.S.Window == 0 {
		return nil
	}
	share, n, w := d.S.Heads/d.S.KVHeads, d.Lengths, d.S.Window
	from := func(first func(b int) int) Rows {
		return d.reads(func(b, h int) (int, int, int, int) { return b, h / share, max(first(b), 0), n[b] })
	}
	return []judge.Mistake{
		d.step(from(func(int) int { return 0 }), Deviation{},
			"the window is ignored: slots before it are read. s.Window says how many slots a query sees"),
		d.step(from(func(b int) int { return n[b] - w - 1 }), Deviation{},
			"the window is off by one: a slot too many is read. The newest token counts: the slots from lengths[b] − s.Window on"),
		d.step(from(func(b int) int { return n[b] - w + 1 }), Deviation{},
			"the window is off by one: its first slot is missing. The newest token counts: the slots from lengths[b] − s.Window on"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, h / share, 0, min(w, n[b]) }), Deviation{},
			"the window counts from the first slot: the first s.Window slots are read, and not the last ones"),
		d.step(from(func(b int) int { return n[0] - w }), Deviation{},
			"every window begins where the first sequence's does: sequence b's begins at slot lengths[b] − s.Window"),
		d.step(from(func(int) int { return d.S.MaxSeq - w }), Deviation{},
			"the window counts from the end of the cache: it ends with the newest token, slot lengths[b] − 1"),
	}
}
