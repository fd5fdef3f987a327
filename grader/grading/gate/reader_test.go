package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/internal/repo"
)

// reader asks a C++ compiler about the headers that kernels see.
type reader struct {
	t       *testing.T
	dir     string
	include []string
}

// everything includes all of them, and library what these take of the C++ library.
const everything, library = "everything.h", "library.h"

func newReader(t *testing.T) *reader {
	root, err := repo.Root()
	require.NoError(t, err)
	r := &reader{t: t, dir: t.TempDir()}
	var all, theirs strings.Builder
	for _, folder := range []string{filepath.Join(root, "device/sim/include"), filepath.Join(root, "device/include")} {
		r.include = append(r.include, "-I", folder)
		require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(folder, path)
			if err != nil || d.IsDir() || filepath.Ext(name) == ".go" || strings.HasPrefix(name, "simt/") {
				return err
			}
			fmt.Fprintf(&all, "#include \"%s\"\n", name)
			text, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?m)^#include <(.*)>$`).FindAllStringSubmatch(string(text), -1) {
				if m[1] != name {
					fmt.Fprintf(&theirs, "#include <%s>\n", m[1])
				}
			}
			return err
		}))
	}
	r.write(everything, "#include \"simt.h\"\n"+all.String())
	r.write(library, theirs.String())
	return r
}

func (r *reader) write(name, text string) {
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644))
}

// run gives what the compiler prints; that it finds errors is no failure.
func (r *reader) run(args ...string) (string, string) {
	cmd := exec.Command("g++", slices.Concat([]string{"-x", "c++", "-std=c++17", "-w", "-fno-exceptions", "-fdiagnostics-color=never"}, r.include, args)...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "LC_ALL=C")
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); errors.Is(err, exec.ErrNotFound) {
		r.t.Skip(err)
	}
	return out.String(), messages.String()
}

// errorsOf compiles a file of one try a line, behind an #include, and gives the error of each line that has one.
func (r *reader) errorsOf(header string, tries []string) map[int]string {
	r.write("tries.cpp", "#include \""+header+"\"\n"+strings.Join(tries, "\n")+"\n")
	_, messages := r.run("-fsyntax-only", "-fmax-errors=0", "tries.cpp")
	found := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)^tries\.cpp:(\d+):\d+: error: (.*)$`).FindAllStringSubmatch(messages, -1) {
		line := 0
		_, _ = fmt.Sscan(m[1], &line)
		if _, known := found[line-2]; !known {
			found[line-2] = m[2]
		}
	}
	return found
}

// qualified is a name, and where it is looked for.
type qualified struct{ namespace, name string }

// resolving tells which names a file finds.
func (r *reader) resolving(header string, all []qualified) map[qualified]bool {
	var tries []string
	for i, q := range all {
		tries = append(tries, fmt.Sprintf("namespace try_%d { using %s::%s; }", i, q.namespace, q.name))
	}
	wrong := r.errorsOf(header, tries)
	require.NotEmpty(r.t, wrong, "the compiler finds a name for everything")
	found := map[qualified]bool{}
	for i, q := range all {
		if _, bad := wrong[i]; !bad {
			found[q] = true
		}
	}
	return found
}

func (r *reader) macros(header string) map[string]bool {
	text, _ := r.run("-dM", "-E", header)
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#define (\w+)`).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

var (
	opensNamespace = regexp.MustCompile(`\bnamespace ([\w:]+)\s*{`)
	name           = regexp.MustCompile(`\b[A-Za-z_]\w*`)
)

// own is the text of our headers, as the preprocessor leaves them.
func (r *reader) own() string {
	text, _ := r.run("-E", everything)
	var code strings.Builder
	own := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			own = strings.Contains(line, "device/")
		} else if own {
			code.WriteString(line)
		}
	}
	return device.BlankNonCode(code.String())
}

// words are all that occur in our headers, and the namespaces which these open.
func (r *reader) words() (names, namespaces []string) {
	text := r.own()
	found, spaces := map[string]bool{}, map[string]bool{"": true}
	for _, w := range name.FindAllString(text, -1) {
		if !strings.Contains(device.RefuseMacro(w), "a word of C++") {
			found[w] = true
		}
	}
	for _, at := range opensNamespace.FindAllStringSubmatchIndex(text, -1) {
		var open []string
		for _, outer := range opensNamespace.FindAllStringSubmatchIndex(text[:at[0]], -1) {
			if device.Closing(text, outer[1]-1) > at[0] {
				open = append(open, text[outer[2]:outer[3]])
			}
		}
		spaces[strings.Join(append(open, text[at[2]:at[3]]), "::")] = true
	}
	return slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(spaces))
}

// declared are the names that our headers declare, by namespace, without the C++ library's.
func (r *reader) declared() map[string][]string {
	names, namespaces := r.words()
	theirs, macros := r.macros(library), r.macros(everything)
	all := map[string][]string{}
	for name := range macros {
		if !theirs[name] {
			all["macros"] = append(all["macros"], name)
		}
	}
	var ours, theirsToo []qualified
	for _, name := range names {
		if macros[name] {
			continue
		}
		theirsToo = append(theirsToo, qualified{"", name}, qualified{"std", name})
		for _, namespace := range namespaces {
			ours = append(ours, qualified{namespace, name})
		}
	}
	found, known := r.resolving(everything, ours), r.resolving(library, theirsToo)
	for q := range found {
		inStd := q.namespace == "cuda" || q.namespace == "cuda::std" // they use namespace std
		if q.namespace == "" && known[q] || inStd && known[qualified{"std", q.name}] {
			continue
		}
		all[q.namespace] = append(all[q.namespace], q.name)
	}
	return all
}
