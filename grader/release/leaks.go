package release

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"flashlab/grader/edition"
	"flashlab/grader/tasks/registry"
)

// leakRun is how many tokens in a row may be a solution's: about five lines of
// code. Signatures, and the loops that everyone writes alike, are shorter.
const leakRun = 48

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	markers  = regexp.MustCompile(`//|/\*|\*/|--+|==+`) // and the lines that divide a text
	token    = regexp.MustCompile(`[A-Za-z_]\w*|\d[\w.]*|[^\s\w]`)
)

// run is a hash of leakRun words, numbers and signs in a row.
type run uint64

var hashSeed = maphash.MakeSeed()

// runs calls each with every run of a text, and the words from its start on. It does
// so without the comments, so that a changed comment hides no copy, and with them,
// because a copy may be in a comment.
func runs(text []byte, each func(r run, from []string)) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return
	}
	// The hash is a polynomial in base, so that a run follows from the one before.
	const base = 0x9e3779b97f4a7c15
	first := uint64(1) // base to the power of leakRun
	for range leakRun {
		first *= base
	}
	for _, drop := range []*regexp.Regexp{comments, markers} {
		words := token.FindAllString(drop.ReplaceAllString(string(text), " "), -1)
		hashes := make([]uint64, len(words))
		var sum uint64
		for i, w := range words {
			hashes[i] = maphash.String(hashSeed, w)
			sum = sum*base + hashes[i]
			if i >= leakRun {
				sum -= first * hashes[i-leakRun]
			}
			if i >= leakRun-1 {
				each(run(sum), words[i-leakRun+1:])
			}
		}
	}
}

// Leaks names the course's secrets that a tree contains. course is all of the
// course, by name, and tree what students would get of it.
func Leaks(course, tree map[string][]byte) []string {
	var leaks []string
	public := map[run]bool{}   // what stubs and provided files say is no secret
	secret := map[run]string{} // a run, and the solution that it is of
	for name := range course {
		dir, file := path.Split(name)
		if base := path.Dir(path.Clean(dir)); ofATask(name) && path.Base(dir) == "solution" {
			t, _, _ := registry.All.Owner(name)
			for _, in := range []string{base, t.Dir} { // which differ for a variant's solution
				if stub, ok := course[path.Join(in, file)]; ok {
					runs(stub, func(r run, _ []string) { public[r] = true })
				}
			}
		}
	}
	for _, t := range registry.All {
		for _, file := range provided(course[t.Dir+"/rubric.toml"]) {
			runs(course[path.Join(t.Dir, file)], func(r run, _ []string) { public[r] = true })
		}
	}
	for _, name := range edition.Sorted(course) {
		if isSolution(name) {
			runs(codeOf(name, course[name]), func(r run, _ []string) {
				if !public[r] && secret[r] == "" {
					secret[r] = name
				}
			})
		}
	}
	for _, name := range edition.Sorted(tree) {
		switch {
		case within(name, "solution"), within(name, "_bases"):
			leaks = append(leaks, name+" is a solution")
			continue
		case within(name, "mutants"), within(name, "exploits"), within(name, "honest"):
			leaks = append(leaks, name+" is one of the course's trial submissions")
			continue
		}
		found, first := map[string]int{}, map[string]string{}
		runs(tree[name], func(r run, from []string) {
			if of := secret[r]; of != "" {
				if found[of]++; found[of] == 1 {
					first[of] = strings.Join(from[:16], " ")
				}
			}
		})
		for _, of := range edition.Sorted(found) {
			if found[of] > shared[pair{name, of}] {
				leaks = append(leaks, fmt.Sprintf("%s has %d words and signs in a row from %s (%d such runs): %s …", name, leakRun, of, found[of], first[of]))
			}
		}
	}
	return leaks
}

// provided are the files that a task gives, by its rubric.
func provided(rubric []byte) []string {
	var read struct{ Provided []string }
	_, _ = toml.Decode(string(rubric), &read) // one that cannot be read is refused elsewhere; here all of it stays secret
	return read.Provided
}

// isSolution tells whether a file is code of a reference solution.
func isSolution(name string) bool {
	switch path.Ext(name) {
	case ".go", ".cu", ".cuh", ".h", ".diff":
		return ofATask(name) && within(name, "solution") && !strings.HasSuffix(name, "_test.go")
	}
	return false
}

// codeOf is the code that a file of a solution adds: of a diff, the lines that it brings.
func codeOf(name string, text []byte) []byte {
	if path.Ext(name) != ".diff" {
		return text
	}
	var added []byte
	for line := range bytes.Lines(text) {
		if line[0] == '+' {
			added = append(added, line[1:]...)
		}
	}
	return added
}
