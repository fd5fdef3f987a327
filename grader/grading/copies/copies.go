package copies

import (
	"cmp"
	"fmt"
	"path"
	"slices"
)

// What counts as a copy. The course's own solutions, and their earlier versions, share at most 50 % of a
// short function with it by chance, the list of a kernel's parameters, and 36 % of a long one.
const (
	least     = 74   // tokens of a function that is looked for, without braces: a shorter one is anybody's
	long      = 200  // tokens of a function of which much may be changed
	ofLong    = 0.45 // of its fingerprints, where it is a copy all the same
	ofShort   = 0.65 // and of a shorter one's
	mostFound = 100
)

// Function is one that the course ships.
type Function struct {
	File     string
	From, To int // lines
	tokens   int
	prints   map[uint64]bool
}

// enough is the share of its fingerprints that makes a copy.
func (f Function) enough() float64 {
	if f.tokens >= long {
		return ofLong
	}
	return ofShort
}

// Copy is a function that was found in what is handed in.
type Copy struct {
	File     string // as handed in
	From, To int
	Of       Function
	Share    float64 // of the function's fingerprints
}

// String names both places.
func (c Copy) String() string {
	return fmt.Sprintf("%s:%d-%d is %s:%d-%d (%.0f %% of it)", c.File, c.From, c.To, c.Of.File, c.Of.From, c.Of.To, 100*c.Share)
}

var brace, end, semicolon, function = hash("{"), hash("}"), hash(";"), hash("func")

// Functions cuts a file into its functions, and leaves out those that are too short to tell.
func Functions(name string, data []byte) (all []Function) {
	tokens := cut(name, data)
	isGo := path.Ext(name) == ".go"
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case depth == 0 && (isGo && t.Kind == function || !isGo && t.Kind == semicolon):
			from = i
		case t.Kind == brace:
			depth++
		case t.Kind == end && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			body := telling(tokens[from : i+1])
			if len(body) >= least && (!isGo || body[0].Kind == function) {
				f := Function{File: name, From: int(body[0].Line), To: int(t.Line), tokens: len(body), prints: map[uint64]bool{}}
				for _, p := range Prints(body) {
					f.prints[p.Hash] = true
				}
				all = append(all, f)
			}
			from = min(i+1, len(tokens)-1)
		}
	}
	return all
}

// Library is what the course ships.
type Library struct {
	Functions []Function
	by        map[uint64][]int
}

// NewLibrary is of these files.
func NewLibrary(files map[string][]byte) *Library {
	l := &Library{by: map[uint64][]int{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l.Functions = append(l.Functions, Functions(name, files[name])...)
	}
	for i, f := range l.Functions {
		for p := range f.prints {
			l.by[p] = append(l.by[p], i)
		}
	}
	return l
}

// Find names the functions that a file has in it, the largest share first. Names, order and layout may
// differ; what is between may, too.
func (l *Library) Find(name string, data []byte) (found []Copy) {
	tokens := Tokens(name, data)
	type hit struct {
		prints   map[uint64]bool
		from, to int32
	}
	hits := map[int]*hit{}
	for i, g := range Grams(tokens) {
		for _, f := range l.by[g] {
			h := hits[f]
			if h == nil {
				h = &hit{prints: map[uint64]bool{}, from: tokens[i].Line}
				hits[f] = h
			}
			h.prints[g], h.to = true, tokens[i+Gram-1].Line
		}
	}
	for i, h := range hits {
		f := l.Functions[i]
		if part := float64(len(h.prints)) / float64(len(f.prints)); part >= f.enough() {
			found = append(found, Copy{File: name, From: int(h.from), To: int(h.to), Of: f, Share: part})
		}
	}
	slices.SortFunc(found, func(a, b Copy) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Of.tokens, a.Of.tokens), cmp.Compare(a.Of.File, b.Of.File), a.Of.From-b.Of.From)
	})
	return found[:min(len(found), mostFound)]
}
