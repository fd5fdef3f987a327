package similar

import (
	"cmp"
	"crypto/sha256"
	"maps"
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
	fewest    = 12   // fingerprints that match, some 75 tokens
	leastPart = 0.25 // of the shorter one
	mostPairs = 60
	mostHold  = 0.3 // a stretch that this share of the class has is common, and nobody's own
	commonMin = 12  // but that many students have to have it
)

// file is one file's fingerprints.
type file struct {
	name   string
	lines  []int32 // of each token
	prints []copies.Print
	sum    [32]byte // of the text; zero for a stub, and for one without tokens
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
	given := given{map[uint64]bool{}, map[[32]byte]bool{}}
	for name, data := range in.Stubs {
		given.sums[sha256.Sum256(data)] = true
		for _, g := range copies.Grams(copies.Tokens(name, data)) {
			given.grams[g] = true
		}
	}
	// What a published solution has is no sign that two students know each other's work; each of them
	// is compared with the solution itself.
	published := map[uint64]bool{}
	for _, w := range in.Published {
		for name, data := range w.Files {
			for _, g := range copies.Grams(copies.Tokens(name, data)) {
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
	people := len(in.Works) + len(in.Past)
	found := map[[2]int]*Pair{}
	for _, task := range sortedKeys(byTask) {
		of := byTask[task]
		first := slices.IndexFunc(of, func(e entry) bool { return e.origin >= people })
		if first < 0 {
			first = len(of)
		}
		forgiven := commonOf(of, len(in.Works))
		maps.Copy(forgiven, published)
		for _, p := range slices.Concat(amongPeople(of[:first], len(in.Works), forgiven), withPublished(of[:first], of[first:], len(in.Works))) {
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
	of := 0
	r.Pairs = slices.DeleteFunc(r.Pairs, func(p Pair) bool { // of likeness to a solution none is left out
		if p.published() == 0 {
			of++
		}
		return p.published() == 0 && of > mostPairs
	})
	r.More = max(0, of-mostPairs)
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

// given is what everybody has.
type given struct {
	grams map[uint64]bool
	sums  map[[32]byte]bool
}

// entries are a work's fingerprints by task, without what it was given.
func entries(w Work, origin int, given given) map[string]entry {
	all := map[string]entry{}
	for _, name := range sortedKeys(w.Files) {
		t := copies.Tokens(name, w.Files[name])
		f := file{name: name}
		for _, one := range t {
			f.lines = append(f.lines, one.Line)
		}
		if sum := sha256.Sum256(w.Files[name]); len(t) > 0 && !given.sums[sum] {
			f.sum = sum
		}
		task := path.Dir(name)
		e, seen := all[task]
		if !seen {
			e = entry{origin: origin, hashes: map[uint64]bool{}}
		}
		for _, p := range copies.Prints(t) {
			if !given.grams[p.Hash] {
				f.prints = append(f.prints, p)
				e.hashes[p.Hash] = true
			}
		}
		e.files = append(e.files, f)
		all[task] = e
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
