package release

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// leakRun is how many tokens in a row may be a solution's: some five lines of
// code. Below it lie signatures, and the loops that everyone writes alike.
const leakRun = 48

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	token    = regexp.MustCompile(`[A-Za-z_]\w*|\d[\w.]*|[^\s\w]`)
)

// tokens are the words, numbers and signs of a text without its comments:
// neither reformatting nor another comment hides a copy.
func tokens(text []byte) []string {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	var words []string
	for _, t := range token.FindAll(comments.ReplaceAll(text, nil), -1) {
		words = append(words, string(t))
	}
	return words
}

// runs calls each with every run of leakRun tokens.
func runs(words []string, each func(run string)) {
	for i := 0; i+leakRun <= len(words); i++ {
		each(strings.Join(words[i:i+leakRun], " "))
	}
}

// Leaks names what a tree holds of the course's secrets. course is all of the
// course, by name, and tree what students would get of it.
func Leaks(course, tree map[string][]byte) []string {
	var leaks []string
	public := map[string]bool{}   // what stubs and provided files say is no secret
	secret := map[string]string{} // a run, and the solution that it is of
	for name := range course {
		dir, file := path.Split(name)
		if base := path.Dir(path.Clean(dir)); taskPath.MatchString(name) && path.Base(dir) == "solution" {
			if stub, ok := course[path.Join(base, file)]; ok {
				runs(tokens(stub), func(r string) { public[r] = true })
			}
		}
	}
	for _, name := range sorted(course) {
		if isSolution(name) {
			runs(tokens(course[name]), func(r string) {
				if !public[r] && secret[r] == "" {
					secret[r] = name
				}
			})
		}
	}
	for _, name := range sorted(tree) {
		switch {
		case within(name, "solution"):
			leaks = append(leaks, name+" is a solution")
			continue
		case within(name, "mutants"), within(name, "exploits"), within(name, "honest"):
			leaks = append(leaks, name+" is one of the course's trial submissions")
			continue
		}
		found := ""
		runs(tokens(tree[name]), func(r string) {
			if found == "" && secret[r] != "" {
				found = fmt.Sprintf("%s has %d words and signs in a row from %s: %.80s …", name, leakRun, secret[r], r)
			}
		})
		if found != "" {
			leaks = append(leaks, found)
		}
	}
	return leaks
}

// isSolution tells whether a file is code of a reference solution.
func isSolution(name string) bool {
	switch path.Ext(name) {
	case ".go", ".cu", ".cuh", ".h":
		return taskPath.MatchString(name) && within(name, "solution") && !strings.HasSuffix(name, "_test.go")
	}
	return false
}
