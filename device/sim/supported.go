package sim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
)

// lacking is a CUDA feature that the simulator does not have. If the pattern occurs
// in a file's code, the message says so. It has %s for the match.
type lacking struct {
	pattern *regexp.Regexp
	message string
}

var allLacking = []lacking{
	{regexp.MustCompile(`<<<`),
		"a kernel is launched here (<<<…>>>): host code and dynamic parallelism are not simulated; kernels are launched from Go"},
	{regexp.MustCompile(`\bcuda(?:Malloc|Free|Memcpy|Memset|Mem[A-Z]|Device[A-Z]|Stream[A-Z]|Event[A-Z]|Launch|Graph[A-Z]|Func[A-Z]|Get[A-Z]|Set[A-Z]|Occupancy|Host[A-Z]|Peek)\w*\s*\(`),
		"%s belongs to the host: this file holds device code only; memory, copies and launches are Go's"},
	{regexp.MustCompile(`\b(?:cuda::|thrust::|cub::|cutlass::|cute::)[A-Za-z_]\w*`),
		"the simulator has no %s: libcu++, CUB, Thrust and CUTLASS are not simulated"},
	{regexp.MustCompile(`\b(?:tex[123]D\w*|texCubemap\w*|surf[123]D\w*|cudaTextureObject_t|cudaSurfaceObject_t)\b|\b(?:texture|surface)\s*<`),
		"the simulator has no textures or surfaces (%s): read global memory instead"},
	{regexp.MustCompile(`\b(?:__cluster_dims__|__block_size__|__cluster\w+|__clusterDim\w*)\b`),
		"the simulator has no thread block clusters (%s)"},
	{regexp.MustCompile(`\b(?:__mbarrier_\w+|__pipeline_arrive_on|__nv_\w*barrier\w*)\b`),
		"the simulator has no %s: use __syncthreads(), or __pipeline_wait_prior and a barrier"},
}

// movesLines is a directive that would let code pass for the simulator's own (unseen.go).
var movesLines = regexp.MustCompile(`(?s)(?:^|\n)(?:[ \t\f\v\r]|/\*.*?\*/)*(?:#|%:|\?\?=)(?:[ \t\f\v\r]|/\*.*?\*/)*(?:line\b|\d)`)

// checkSupported looks for what the simulator lacks. Only if the text looks
// like it is the file preprocessed, so that what is commented out, quoted or
// left out by an #if raises no false alarm.
func (c *compiler) checkSupported(dir string, args []string, s moduleSource) error {
	if text := strings.ReplaceAll(s.text, "\\\n", " "); movesLines.MatchString(text) {
		at := movesLines.FindStringIndex(text)
		return oneError(s.name, 1+strings.Count(strings.TrimRight(text[:at[1]], "\n"), "\n"), "#line: remove it, findings name your own lines")
	}
	if !slices.ContainsFunc(allLacking, func(l lacking) bool { return l.pattern.MatchString(s.text) }) {
		return nil
	}
	out, err := c.run(dir, append(slices.Clone(args), "-E", "module.cpp")...)
	if err != nil {
		return nil // the compiler will report its own errors
	}
	text := ownLines(out, s.name)
	code := device.BlankNonCode(text)
	type place struct {
		at      int
		message string
	}
	var found []place
	for _, l := range allLacking {
		for _, m := range l.pattern.FindAllStringIndex(code, -1) {
			message := l.message
			if strings.Contains(message, "%s") {
				message = fmt.Sprintf(message, strings.TrimRight(code[m[0]:m[1]], " (<"))
			}
			found = append(found, place{m[0], message})
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	e := &device.CompileError{File: s.name}
	for _, f := range found[:min(len(found), 12)] {
		line := 1 + strings.Count(code[:f.at], "\n")
		e.Diagnostics = append(e.Diagnostics, device.Diagnostic{File: s.name, Line: line, Severity: "error", Text: f.message})
	}
	e.Output = e.Error()
	return e
}

var lineMarker = regexp.MustCompile(`^# (\d+) "([^"]*)"`)

// ownLines takes from a preprocessor's output what came from one file, each
// line where it stood there.
func ownLines(output, file string) string {
	var own []string
	current, at := "", 0
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := lineMarker.FindStringSubmatch(line); m != nil {
			current = m[2]
			at, _ = strconv.Atoi(m[1])
			continue
		}
		if strings.TrimPrefix(current, "./") == file && at > 0 && !strings.HasPrefix(line, "#") {
			for len(own) < at {
				own = append(own, "")
			}
			own[at-1] += " " + line
		}
		at++
	}
	return strings.Join(own, "\n")
}

// refusal is the message for a function that a kernel would have to find in a
// library.
func refusal(symbol string) string {
	switch name := demangle(symbol); {
	case slices.Contains([]string{"malloc", "free", "calloc", "realloc"}, name) || strings.HasPrefix(symbol, "_Zn") || strings.HasPrefix(symbol, "_Zd"):
		return "the simulator has no heap in kernels (malloc, new): use local or shared arrays, or a buffer from Go"
	case strings.HasPrefix(symbol, "__cxa_guard"):
		return "a static variable is initialised when a kernel runs: make it constexpr, __shared__ or __device__"
	default:
		return fmt.Sprintf("it uses %q, which is neither in this file nor a function that kernels have", name)
	}
}
