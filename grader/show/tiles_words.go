package show

import (
	"fmt"
	"slices"
)

// advise says in words what costs most, and what to do about it.
func (t *tiling) advise(r Run, w walk) {
	for i, m := range r.Tiled.Matrices {
		reads, writes := slices.Max(w.read[i]), slices.Max(w.written[i])
		switch {
		case m.Name == "q" && reads > 1:
			t.say("q is read up to %s ×. Load a block of queries once, before the loop over the keys, and keep it in the SRAM.", count(reads))
		case m.Name == "o" && reads > 0:
			t.say("o is read back, up to %s ×. Keep the block of o in the SRAM until its last key, and store it once.", count(reads))
		case m.Name == "o" && writes > 1:
			t.say("o is written up to %s ×. Store a block once, behind the loop over the keys.", count(writes))
		}
	}
	t.adviseMask(w)
	t.adviseGaps(r, w)
	k := w.read[matrixK]
	if most := slices.Max(k); most > 1 && len(t.Advice) == 0 {
		t.Fine = true
		t.say("k and v are read up to %s ×, once for each block of queries, which is at most %d high, and nothing else twice. Only higher blocks would read them less often, and the SRAM limits those.", count(most), r.Tiled.Rows)
	}
	if len(t.Advice) == 0 {
		t.Fine = true
		t.say("Nothing is moved twice.")
	}
}

func (t *tiling) say(format string, args ...any) {
	t.Advice = append(t.Advice, fmt.Sprintf(format, args...))
}

// adviseMask counts the tiles of which the mask leaves nothing.
func (t *tiling) adviseMask(w walk) {
	wasted := 0
	for _, s := range w.steps {
		if s.hidden() == s.queries*s.keys {
			wasted++
		}
	}
	if wasted > 0 {
		t.say("The mask hides all of %s of %d. End the loop over the keys before them: their k and v need not be loaded at all.", plural(wasted, "tile"), len(w.steps))
	}
}

// adviseGaps names a query and a key that never met, though no mask parts them; and such as met twice.
func (t *tiling) adviseGaps(r Run, w walk) {
	met := make([]uint8, t.Queries*t.Keys)
	twice := -1
	for _, s := range w.steps {
		for i := s.query; i < min(s.query+s.queries, t.Queries); i++ {
			for j := s.key; j < min(s.key+s.keys, t.Keys); j++ {
				at := i*t.Keys + j
				if met[at] > 0 && twice < 0 {
					twice = at
				}
				met[at] = 1
			}
		}
	}
	if twice >= 0 {
		t.say("Query %d meets key %d more than once: two tiles overlap there.", twice/t.Keys, twice%t.Keys)
	}
	for i := range t.Queries {
		seen := t.Keys
		if r.Tiled.Causal {
			seen = min(t.Keys, i+t.Keys-t.Queries+1)
		}
		for j := range seen {
			if met[i*t.Keys+j] == 0 {
				t.say("Query %d never meets key %d, which it sees: the empty places are not computed.", i, j)
				return
			}
		}
	}
}
