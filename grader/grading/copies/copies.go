package copies

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
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

	statements []statement // that few files have
	own        int         // tokens of these
}

// Place is where the course has it.
func (f Function) Place() string { return fmt.Sprintf("%s:%d-%d", f.File, f.From, f.To) }

// Anybodys tells that it has too few statements of its own: other statements between them hide it.
func (f Function) Anybodys() bool { return f.own == 0 }

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
	return fmt.Sprintf("%s:%d-%d is %s (%.0f %% of it)", c.File, c.From, c.To, c.Of.Place(), 100*c.Share)
}

// Named tells whether a place, as String gives it, names the same function of the course's.
func (c Copy) Named(place string) bool {
	return strings.Contains(place, " is "+c.Of.Place()+" (")
}

var brace, endBrace, semicolon, function = hash("{"), hash("}"), hash(";"), hash("func")

// Functions cuts a file into its functions, and leaves out those that are too short to tell.
func Functions(name string, data []byte) (all []Function) {
	tokens := cut(name, data)
	isGo := path.Ext(name) == ".go"
	depth, inside, from := 0, 0, 0 // of braces, of parentheses
	for i, t := range tokens {
		switch {
		case opening[t.Kind]:
			inside++
		case closing[t.Kind]:
			inside = max(inside-1, 0)
		case depth == 0 && (isGo && inside == 0 && t.Kind == function || !isGo && t.Kind == semicolon):
			from = i
		case t.Kind == brace:
			depth++
		case t.Kind == endBrace && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			body := telling(tokens[from : i+1])
			if len(body) >= least && (!isGo || body[0].Kind == function) {
				f := Function{File: name, From: int(body[0].Line), To: int(t.Line), tokens: len(body), prints: map[uint64]bool{}, statements: statements(tokens[from : i+1])}
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
	by        map[uint64][]int // functions with this fingerprint
	with      map[uint64][]int // and with this statement

	expanded func() *Library // the kernels' functions, as a preprocessor leaves them
}

// NewLibrary is of these files.
func NewLibrary(files map[string][]byte) *Library {
	l := newLibrary(files)
	l.expanded = sync.OnceValue(func() *Library {
		kernels := map[string][]byte{}
		for name, text := range files {
			if path.Ext(name) != ".go" {
				kernels[name] = []byte(withoutMacros(string(text)))
			}
		}
		return newLibrary(kernels)
	})
	return l
}

func newLibrary(files map[string][]byte) *Library {
	l := &Library{by: map[uint64][]int{}, with: map[uint64][]int{}}
	having := map[uint64]int{} // files with a statement
	for _, name := range slices.Sorted(maps.Keys(files)) {
		seen := map[uint64]bool{}
		for _, f := range Functions(name, files[name]) {
			l.Functions = append(l.Functions, f)
			for _, s := range f.statements {
				if !seen[s.hash] {
					seen[s.hash] = true
					having[s.hash]++
				}
			}
		}
	}
	for i := range l.Functions {
		f := &l.Functions[i]
		f.keepOwn(having)
		for p := range f.prints {
			l.by[p] = append(l.by[p], i)
		}
		for _, s := range f.statements {
			l.with[s.hash] = append(l.with[s.hash], i)
		}
	}
	return l
}

// hit is where a function was found, and how much of it.
type hit struct {
	from, to int32
	share    float64
}

// Find names the functions that a file has in it, the largest share first. Names, order and layout may
// differ; what is between may, too.
func (l *Library) Find(name string, data []byte) []Copy { return l.find(name, cut(name, data)) }

func (l *Library) find(name string, tokens []Token) (found []Copy) {
	hits := l.byStatements(tokens)
	for i, h := range l.byPrints(telling(tokens)) {
		if h.share >= hits[i].share {
			hits[i] = h
		}
	}
	for i, h := range hits {
		found = append(found, Copy{File: name, From: int(h.from), To: int(h.to), Of: l.Functions[i], Share: h.share})
	}
	slices.SortFunc(found, func(a, b Copy) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Of.tokens, a.Of.tokens), cmp.Compare(a.Of.File, b.Of.File), a.Of.From-b.Of.From)
	})
	return found[:min(len(found), mostFound)]
}

// byPrints finds functions by their fingerprints.
func (l *Library) byPrints(tokens []Token) map[int]hit {
	hits, prints := map[int]hit{}, map[int]map[uint64]bool{}
	for i, g := range Grams(tokens) {
		for _, f := range l.by[g] {
			h := hits[f]
			if prints[f] == nil {
				prints[f], h.from = map[uint64]bool{}, tokens[i].Line
			}
			prints[f][g], h.to = true, tokens[i+Gram-1].Line
			hits[f] = h
		}
	}
	for i, h := range hits {
		h.share = float64(len(prints[i])) / float64(len(l.Functions[i].prints))
		if hits[i] = h; h.share < l.Functions[i].enough() {
			delete(hits, i)
		}
	}
	return hits
}
