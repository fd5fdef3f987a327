// Package nvidia starts a worker under CUDA's own tools, compute-sanitizer and Nsight Compute (ncu),
// and says in the course's words what they find.
package nvidia

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device/trace"
)

// SanitizerTools are compute-sanitizer's, in the order in which they help most.
var SanitizerTools = []string{"memcheck", "racecheck", "initcheck", "synccheck"}

// Find looks for one of CUDA's tools: on the PATH, then in the toolkit that nvcc is
// of.
func Find(tool, nvcc string) (string, error) {
	if path, err := exec.LookPath(tool); err == nil {
		return path, nil
	}
	bin := filepath.Dir(nvcc)
	home := filepath.Dir(bin)
	for _, path := range []string{filepath.Join(bin, tool), filepath.Join(home, tool, tool), filepath.Join(home, "nsight-compute", tool)} {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("no %s on the PATH or beside %s: it comes with the CUDA toolkit (docs/gpu.md)", tool, nvcc)
}

// SanitizerArgs are compute-sanitizer's arguments for one tool; help is what
// `compute-sanitizer --help` prints, for not every version knows every option.
func SanitizerArgs(tool, help, log string) []string {
	args := []string{"--tool", tool, "--target-processes", "application-only", "--report-api-errors", "no",
		"--show-backtrace", "no", "--print-limit", "100", "--log-file", log}
	if tool == "initcheck" && strings.Contains(help, "--initcheck-address-space") {
		args = append(args, "--initcheck-address-space", "all")
	}
	return args
}

var (
	logLine  = regexp.MustCompile(`^=========( ?)(.*)$`)
	chatter  = regexp.MustCompile(`^(COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|No (errors|CUDA)|Target application|Internal|Error: (process|Target)|Warning: .*(backtrace|symbol)|Saved host)`)
	place    = regexp.MustCompile(`([\w.-]+\.cuh?):(\d+)`)
	kernelOf = regexp.MustCompile(`(?:at|access at) (?:0x[0-9a-f]+ in )?(?:\S*[/:])?(\w+)\(`)
	who      = regexp.MustCompile(`[Tt]hread \((\d+),(\d+),(\d+)\)(?: in)? block \((\d+),(\d+),(\d+)\)`)
	access   = regexp.MustCompile(`^Invalid __(\w+)__ (read|write|atomic)[a-z]* of size (\d+)`)
	unread   = regexp.MustCompile(`^Uninitialized __(\w+)__ memory read of size (\d+)`)
	outside  = regexp.MustCompile(`is (?:out of bounds|misaligned)|and is [\d,]+ bytes (?:before|after|inside)`)
)

// complaint is one message with the lines that belong to it.
type complaint struct {
	head  string
	lines []string
}

// complaints splits a log.
func complaints(log string) []complaint {
	var all []complaint
	open := false
	for line := range strings.Lines(log) {
		m := logLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		text := m[2]
		switch detail := strings.HasPrefix(text, " "); {
		case strings.TrimSpace(text) == "" || !detail && chatter.MatchString(text):
			open = false
		case !detail:
			all, open = append(all, complaint{head: text}), true
		case open:
			all[len(all)-1].lines = append(all[len(all)-1].lines, strings.TrimSpace(text))
		}
	}
	return all
}

// Findings reads a log of one tool. files are the kernel files by name, for the
// lines of source. Repeats are folded.
func Findings(tool, log string, files map[string][]byte) []trace.Finding {
	var found []trace.Finding
	for _, c := range complaints(log) {
		if strings.HasPrefix(c.head, "Program hit") || strings.HasPrefix(c.head, "Error: Program") {
			continue // the driver, of what was said already
		}
		f := c.finding(tool)
		f.Source = sourceLine(files, f.File, f.Line)
		same := slices.IndexFunc(found, func(g trace.Finding) bool { return g.Headline() == f.Headline() && g.Kernel == f.Kernel })
		if same >= 0 {
			found[same].Count++
			continue
		}
		found = append(found, f)
	}
	return found
}

func (c complaint) finding(tool string) trace.Finding {
	f := trace.Finding{Check: tool, Kind: tool, Count: 1, Message: lower(strings.TrimPrefix(strings.TrimPrefix(c.head, "Error: "), "Warning: "))}
	all := strings.Join(append([]string{c.head}, c.lines...), "\n")
	places := place.FindAllStringSubmatch(all, -1)
	if len(places) > 0 {
		f.File = places[0][1]
		f.Line, _ = strconv.Atoi(places[0][2]) // digits
	}
	if m := kernelOf.FindStringSubmatch(all); m != nil {
		f.Kernel = m[1]
	}
	if m := who.FindStringSubmatch(all); m != nil {
		f.Thread, f.Block = triple(m[1:4]), triple(m[4:7])
		f.Notes = append(f.Notes, fmt.Sprintf("thread (%s) of block (%s)", strings.Join(m[1:4], ","), strings.Join(m[4:7], ",")))
	}
	switch {
	case tool == "racecheck":
		c.race(&f, places)
	case access.MatchString(c.head):
		m := access.FindStringSubmatch(c.head)
		what, hint := "out of bounds", "compare the index with the size; in a loop over tiles, above all in the last tile, which may be partial"
		if strings.Contains(all, "is misaligned") {
			what, hint = "at an address that is no multiple of its size", "a "+m[3]+"-byte access needs an address that is a multiple of "+m[3]
		}
		f.Kind, f.Hint = "out of bounds", hint
		f.Message = fmt.Sprintf("%s of %s memory %s (%s bytes)", m[2], spaceName(m[1]), what, m[3])
		for _, l := range c.lines {
			if outside.MatchString(l) {
				f.Notes = append(f.Notes, lower(l))
			}
		}
	case unread.MatchString(c.head):
		m := unread.FindStringSubmatch(c.head)
		f.Kind, f.Message = "uninitialised", fmt.Sprintf("read of %s memory that nothing has written (%s bytes)", spaceName(m[1]), m[2])
		f.Hint = "shared memory and fresh buffers hold no zeros: write before you read"
	case strings.HasPrefix(c.head, "Barrier error"):
		f.Kind = "divergent barrier"
		f.Message = "barrier that not all threads reach: " + lower(strings.TrimPrefix(c.head, "Barrier error detected. "))
		f.Hint = "every thread of the block must reach the same __syncthreads(), and every lane of the mask the same warp operation: is one of them inside a branch?"
	}
	return f
}

// race words racecheck's report: two accesses, and no barrier between them.
func (c complaint) race(f *trace.Finding, places [][]string) {
	f.Kind = "race"
	f.Message = "race on shared memory"
	if strings.Contains(c.head, "Warning") {
		f.Message += ", possibly" // both may well write the same
	}
	var sides []string
	for _, verb := range []string{"Write", "Read", "Atomic"} {
		if n := strings.Count(strings.Join(append([]string{c.head}, c.lines...), "\n"), verb+" access"); n > 0 {
			sides = append(sides, map[string]string{"Write": "write", "Read": "read", "Atomic": "atomic"}[verb])
		}
	}
	var lines []string
	for _, p := range places {
		if at := p[1] + ":" + p[2]; !slices.Contains(lines, at) {
			lines = append(lines, at)
		}
	}
	// The simulator points at the later side, which is where the barrier is missing.
	if n := len(places); n > 0 {
		f.File = places[n-1][1]
		f.Line, _ = strconv.Atoi(places[n-1][2])
	}
	if len(lines) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s by different threads of a block, at %s, with no __syncthreads() between them", strings.Join(sides, " and "), strings.Join(lines, " and ")))
	}
	f.Hint = "a barrier is needed between filling shared data and using it; or, in a loop, between using it and filling it again"
}

func spaceName(space string) string {
	if space == "global" {
		return "device"
	}
	return space
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func triple(words []string) *[3]int {
	var t [3]int
	for i, w := range words {
		t[i], _ = strconv.Atoi(w) // digits
	}
	return &t
}

func sourceLine(files map[string][]byte, name string, line int) string {
	lines := strings.Split(string(files[name]), "\n")
	if line < 1 || line > len(lines) || len(files[name]) == 0 {
		return ""
	}
	return lines[line-1]
}
