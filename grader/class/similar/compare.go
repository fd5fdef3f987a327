package similar

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"flashlab/grader/grading/copies"
)

// Work is what one student handed in, or what takes its place.
type Work struct {
	Origin
	Files map[string][]byte // by their names in the tree: "task2_unfused/kernels.cu"
}

// Input is what is compared.
type Input struct {
	Works     []Work            // of the class: each with each other, and with all others
	Past      []Work            // of earlier years
	Published []Work            // the course's own solutions
	Stubs     map[string][]byte // what everybody was given
}

// Bounds on what is reported.
const (
	fewest    = 8    // fingerprints that match, some 100 tokens
	leastPart = 0.25 // of the shorter one
	mostPairs = 60
	mostHold  = 0.3 // a stretch that this share of the class has is common, and nobody's own
	commonMin = 12  // but that many students have to have it
)

// file is one file's fingerprints.
type file struct {
	name   string
	lines  []int32 // of each token
	prints []print
}

// entry is one work's files of one task.
type entry struct {
	origin int // among all
	files  []file
	hashes map[uint64]bool
}

// Compare finds the pairs.
func Compare(in Input) *Result {
	r := &Result{Compared: len(in.Works), Past: len(in.Past)}
	all := slices.Concat(in.Works, in.Past, in.Published)
	given := map[uint64]bool{}
	for name, data := range in.Stubs {
		for _, g := range grams(copies.Tokens(name, data)) {
			given[g] = true
		}
	}
	// What a published solution has is no sign that two students know each other's work; each of them
	// is compared with the solution itself.
	published := map[uint64]bool{}
	for _, w := range in.Published {
		for name, data := range w.Files {
			for _, g := range grams(copies.Tokens(name, data)) {
				published[g] = true
			}
		}
	}
	byTask := map[string][]entry{}
	for i, w := range all {
		for task, e := range entries(w, i, given) {
			byTask[task] = append(byTask[task], e)
		}
	}
	found := map[[2]int]*Pair{}
	for _, task := range sortedKeys(byTask) {
		common := commonOf(byTask[task], len(in.Works))
		for _, p := range pairs(byTask[task], len(in.Works), len(in.Works)+len(in.Past), common, published) {
			key := [2]int{p.a.origin, p.b.origin}
			if found[key] == nil {
				found[key] = &Pair{A: all[key[0]].Origin, B: all[key[1]].Origin}
			}
			one := found[key]
			p.shared.Task = task
			one.Tasks = append(one.Tasks, p.shared)
			one.Share = max(one.Share, p.shared.Share)
		}
	}
	for _, p := range found {
		r.Pairs = append(r.Pairs, *p)
	}
	slices.SortFunc(r.Pairs, func(a, b Pair) int {
		return cmp.Or(a.published()-b.published(), cmp.Compare(b.Share, a.Share), b.matched()-a.matched(), strings.Compare(a.A.ID, b.A.ID), strings.Compare(a.B.Past+a.B.ID, b.B.Past+b.B.ID))
	})
	kept := map[int]int{}
	r.Pairs = slices.DeleteFunc(r.Pairs, func(p Pair) bool {
		kept[p.published()]++
		return kept[p.published()] > mostPairs
	})
	r.More = max(0, kept[0]-mostPairs)
	return r
}

// published is 1 for a pair with a solution of the course's own: these come last.
func (p Pair) published() int {
	if p.B.Past == Published {
		return 1
	}
	return 0
}

func (p Pair) matched() (n int) {
	for _, t := range p.Tasks {
		n += t.Matched
	}
	return n
}

// entries are a work's fingerprints by task, without what it was given.
func entries(w Work, origin int, given map[uint64]bool) map[string]entry {
	all := map[string]entry{}
	for _, name := range sortedKeys(w.Files) {
		t := copies.Tokens(name, w.Files[name])
		f := file{name: name}
		for _, one := range t {
			f.lines = append(f.lines, one.Line)
		}
		task := path.Dir(name)
		e, seen := all[task]
		if !seen {
			e = entry{origin: origin, hashes: map[uint64]bool{}}
		}
		for _, p := range winnow(grams(t)) {
			if !given[p.hash] {
				f.prints = append(f.prints, p)
				e.hashes[p.hash] = true
			}
		}
		e.files = append(e.files, f)
		all[task] = e
	}
	return all
}

// commonOf are fingerprints that much of the class has.
func commonOf(all []entry, class int) map[uint64]bool {
	count := map[uint64]int{}
	for _, e := range all {
		if e.origin < class {
			for h := range e.hashes {
				count[h]++
			}
		}
	}
	common := map[uint64]bool{}
	for h, n := range count {
		if n >= commonMin && float64(n) > mostHold*float64(class) {
			common[h] = true
		}
	}
	return common
}

// candidate is a pair in one task.
type candidate struct {
	a, b   *entry
	shared Shared
}

// pairs compares the entries of a task: those of the class with each other and with all others. Origins below class are the
// class's, below past an earlier year's, and the others are published.
func pairs(all []entry, class, past int, common, published map[uint64]bool) (found []candidate) {
	own := make([]map[uint64]bool, len(all)) // without what is common or published
	holders := map[uint64][]int32{}
	for i, e := range all {
		own[i] = map[uint64]bool{}
		for h := range e.hashes {
			if e.origin >= past || !common[h] && !published[h] {
				own[i][h] = true
			}
			if e.origin >= past || !common[h] {
				holders[h] = append(holders[h], int32(i))
			}
		}
	}
	type count struct{ own, all int }
	matched := map[[2]int32]count{}
	for h, who := range holders {
		for x, i := range who {
			for _, j := range who[x+1:] {
				i, j := min(i, j), max(i, j)
				if all[i].origin < class {
					c := matched[[2]int32{i, j}]
					c.all++
					if !published[h] {
						c.own++
					}
					matched[[2]int32{i, j}] = c
				}
			}
		}
	}
	for key, n := range matched {
		a, b := &all[key[0]], &all[key[1]]
		same, of := n.own, min(len(own[key[0]]), len(own[key[1]]))
		skip := func(h uint64) bool { return common[h] || published[h] }
		if b.origin >= past { // a published solution: all of it counts
			same, of = n.all, min(len(a.hashes), len(b.hashes))
			skip = func(uint64) bool { return false }
		}
		if share := float64(same) / float64(max(of, 1)); same >= fewest && share >= leastPart {
			found = append(found, candidate{a, b, Shared{Share: min(share, 1), Matched: same, Ranges: ranges(a, b, skip)}})
		}
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
