package pages

import (
	"cmp"
	"slices"
	"strings"

	"flashlab/grader/class/similar"
)

// Bounds on the texts of similar pairs. The most alike come first; what has no room any more is told by the
// numbers of its lines.
const (
	pageLines   = 8000 // on either side, of all pairs
	pairLines   = 400  // of one
	ownLines    = 6    // of one's own between pieces that match
	pairColumns = 160
)

// likeRow is what somebody handed in that is like a published solution, or like what every release ships.
type likeRow struct {
	Who, ID, Task, Of string
	Attempt           int
	Share             float64
}

// likenesses are all of them, the largest share first: a person looks at each.
func likenesses(r *similar.Result) (all []likeRow) {
	add := func(by similar.Origin, task, of string, share float64) {
		all = append(all, likeRow{first(by.Name, by.ID), by.ID, task, of, by.Attempt, share})
	}
	whole := map[[2]string]bool{} // of whom, in which task, the text as it stands is like a solution
	for _, p := range r.Pairs {
		for _, t := range p.Tasks {
			if p.B.Past == similar.Published {
				add(p.A, t.Task, p.B.ID, t.Share)
				whole[[2]string{p.A.ID, t.Task}] = true
			}
		}
	}
	for _, c := range r.Shipped {
		if ofSolution := strings.Contains(c.Of, "/solution/"); ofSolution && whole[[2]string{c.By.ID, c.Task}] {
			continue
		}
		add(c.By, c.Task, c.Of, c.Share)
	}
	slices.SortStableFunc(all, func(a, b likeRow) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// alikePair is a pair on the page.
type alikePair struct {
	similar.Pair
	Shared []alikeTask
}

type alikeTask struct {
	similar.Shared
	Stretches []stretch
}

// stretch is one that both have. Without their texts it has no pieces.
type stretch struct {
	similar.Range
	Pieces []piece
	Left   int // lines of the longer side that there is no room for
}

// piece is what stands side by side: lines that match, or each side's own between these.
type piece struct {
	Match bool
	A, B  []textLine
}

// textLine is a line, or the place of some that are left out.
type textLine struct {
	Number, Left int
	Text         string
}

// room is how many lines may still be shown.
type room struct{ page, pair int }

func (r *room) left() int { return min(r.page, r.pair) }

func (r *room) take(n int) { r.page, r.pair = r.page-n, r.pair-n }

// sideBySide puts the texts to pairs, as far as there are any and they fit.
func sideBySide(pairs []similar.Pair, texts map[similar.Origin]map[string][]byte, free *room) (all []alikePair) {
	for _, p := range pairs {
		free.pair = pairLines
		one := alikePair{Pair: p}
		for _, t := range p.Tasks {
			task := alikeTask{Shared: t}
			for _, r := range t.Ranges {
				a, b := textOf(texts[p.A], r.FileA), textOf(texts[p.B], r.FileB)
				task.Stretches = append(task.Stretches, stretchOf(r, a, b, free))
			}
			one.Shared = append(one.Shared, task)
		}
		all = append(all, one)
	}
	return all
}

// textOf are a file's lines; none if there is no such file.
func textOf(files map[string][]byte, name string) []string {
	if len(files[name]) == 0 {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(files[name]), "\t", "    "), "\n")
}

// stretchOf cuts a stretch into what matches and what stands between.
func stretchOf(r similar.Range, a, b []string, free *room) stretch {
	s := stretch{Range: r}
	if a == nil || b == nil {
		return s
	}
	nextA, nextB := r.FromA, r.FromB
	for _, m := range r.Same {
		if free.left() <= 0 {
			break
		}
		own := piece{A: linesOf(a, nextA, m.FromA-1, ownLines), B: linesOf(b, nextB, m.FromB-1, ownLines)}
		if len(own.A)+len(own.B) > 0 {
			s.Pieces = append(s.Pieces, own)
			free.take(max(len(own.A), len(own.B)))
		}
		most := max(free.left(), 1)
		same := piece{true, linesOf(a, max(m.FromA, nextA), m.ToA, most), linesOf(b, max(m.FromB, nextB), m.ToB, most)}
		s.Pieces = append(s.Pieces, same)
		free.take(max(len(same.A), len(same.B)))
		nextA, nextB = max(nextA, m.ToA+1), max(nextB, m.ToB+1)
	}
	s.Left = max(r.ToA-nextA+1, r.ToB-nextB+1, 0)
	return s
}

// linesOf are lines from one to another, both counted from 1; of more than most the last are only counted.
func linesOf(text []string, from, to, most int) (all []textLine) {
	for n := max(from, 1); n <= min(to, len(text)); n++ {
		if len(all) == most {
			return append(all, textLine{Left: min(to, len(text)) - n + 1})
		}
		all = append(all, textLine{Number: n, Text: short(strings.TrimRight(text[n-1], "\r"), pairColumns)})
	}
	return all
}
