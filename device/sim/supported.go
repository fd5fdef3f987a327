package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
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
		"the simulator has no %s: of libcu++ and CUB it has some (device/sim/README.md), of Thrust and CUTLASS nothing"},
	{regexp.MustCompile(`\b(?:tex3DGrad|tex[12]DLayered(?:Lod|Grad)|texCubemap(?:Lod|Grad|Layered\w*)|surfCubemap\w*)\b|\b(?:texture|surface)\s*<`),
		"the simulator has no %s: texture objects are served (tex1D, tex2D, tex3D, their layers, texCubemap, surf1D to surf3D)"},
	{regexp.MustCompile(`\b__block_size__\b`),
		"the simulator has no %s: __cluster_dims__ says how large clusters are"},
	{regexp.MustCompile(`\b(?:__mbarrier_\w+|__pipeline_arrive_on|__nv_\w*barrier\w*)\b`),
		"the simulator has no %s: use __syncthreads(), or __pipeline_wait_prior and a barrier"},
}

// served is what of libcu++ the simulator has.
var served = map[string]bool{"cuda::barrier": true, "cuda::pipeline": true, "cuda::make_pipeline": true, "cuda::pipeline_shared_state": true,
	"cuda::pipeline_consumer_wait_prior": true, "cuda::pipeline_producer_commit": true, "cuda::pipeline_role": true,
	"cuda::memcpy_async": true, "cuda::aligned_size_t": true, "cuda::atomic": true, "cuda::atomic_ref": true, "cuda::atomic_thread_fence": true,
	"cuda::thread_scope_system": true, "cuda::thread_scope_device": true, "cuda::thread_scope_block": true, "cuda::thread_scope_thread": true, "cuda::thread_scope": true,
	"cuda::memory_order_relaxed": true, "cuda::memory_order_acquire": true, "cuda::memory_order_release": true, "cuda::memory_order_acq_rel": true, "cuda::memory_order_seq_cst": true,
	"cuda::std": true, "cuda::memory_order": true}

// servedOfCUB is what of CUB it has.
var servedOfCUB = regexp.MustCompile(`^cub::(?:(?:Block|Warp)(?:Reduce|Scan)|Block(?:Load|Store)|Sum|Max|Min|Block(?:Reduce|Scan|Load|Store)Algorithm|BLOCK_(?:REDUCE|SCAN|LOAD|STORE)_[A-Z_]+)$`)

var libcu, libcub = regexp.MustCompile(`\bnamespace cuda\b`), regexp.MustCompile(`\bnamespace cub\b`)

// movesLines is a directive that would let code pass for the simulator's own (unseen.go).
var movesLines = regexp.MustCompile(`(?s)(?:^|\n)(?:[ \t\f\v\r]|/\*.*?\*/)*(?:#|%:|\?\?=)(?:[ \t\f\v\r]|/\*.*?\*/)*(?:line\b|\d)`)

// checkSupported looks for what the simulator lacks, in what the preprocessor left of the
// file and the host has no part in: what is commented out, quoted or left out by an #if
// raises no false alarm.
func (s moduleSource) checkSupported(r stripped) error {
	texts := map[string]string{s.name: s.text}
	maps.Copy(texts, s.files)
	for name, text := range texts {
		if text := strings.ReplaceAll(text, "\\\n", " "); movesLines.MatchString(text) {
			at := movesLines.FindStringIndex(text)
			return oneError(name, 1+strings.Count(strings.TrimRight(text[:at[1]], "\n"), "\n"), "#line: remove it, findings name your own lines")
		}
	}
	code := device.BlankNonCode(r.Text)
	type place struct {
		at      int
		message string
	}
	var found []place
	for _, own := range ownSpans(r.Text, s) {
		code := code[own.from:own.to]
		for _, l := range allLacking {
			for _, m := range l.pattern.FindAllStringIndex(code, -1) {
				message := l.message
				if name := code[m[0]:m[1]]; served[name] || servedOfCUB.MatchString(name) {
					library, include := libcu, "<cuda/barrier>, <cuda/pipeline> or <cuda/atomic>"
					if !served[name] {
						library, include = libcub, "<cub/cub.cuh>"
					}
					if library.MatchString(r.code) {
						continue
					}
					message = "%s needs its header: #include " + include
				}
				if strings.Contains(message, "%s") {
					message = fmt.Sprintf(message, strings.TrimRight(code[m[0]:m[1]], " (<"))
				}
				found = append(found, place{own.from + m[0], message})
			}
		}
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	l := &lackingError{file: s.name}
	for _, f := range found {
		at := r.where(f.at)
		l.places = append(l.places, f.at)
		l.found = append(l.found, device.Diagnostic{File: at.file, Line: at.line, Severity: "error", Text: f.message})
	}
	return l.orNil()
}

// lackingError is what a file has that the simulator lacks: functions that do without
// it can run all the same.
type lackingError struct {
	file   string
	places []int // in the stripped text
	found  []device.Diagnostic
}

func (l *lackingError) orNil() error {
	if len(l.found) == 0 {
		return nil
	}
	return l
}

// compileError is the whole file's refusal.
func (l *lackingError) compileError() *device.CompileError {
	e := &device.CompileError{File: l.file, Diagnostics: l.found[:min(len(l.found), 12)]}
	e.Output = e.Error()
	return e
}

func (l *lackingError) Error() string { return l.compileError().Error() }

// lacks tells whether all that a compiler says against a file is that something is not
// simulated, and where.
func (r stripped) lacks(err error, s moduleSource) *lackingError {
	var l *lackingError
	if errors.As(err, &l) {
		return l
	}
	var e *device.CompileError
	if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
		return nil
	}
	l = &lackingError{file: s.name}
	for _, d := range e.Diagnostics {
		if d.Severity == "note" {
			continue
		}
		at := r.at(d.File, d.Line)
		if !strings.HasPrefix(d.Text, "the simulator") && !strings.HasPrefix(d.Text, "inline PTX:") && !strings.HasPrefix(d.Text, "asm:") || at < 0 {
			return nil
		}
		l.places = append(l.places, at)
		l.found = append(l.found, d)
	}
	return l
}

var lineMarker = regexp.MustCompile(`^# (\d+) "([^"]*)"`)

// refusal is the message for a function that a kernel would have to find in a
// library.
func refusal(symbol string, host map[string]bool) string {
	switch name, rest := lastName(symbol); {
	case host[name]:
		return ofTheHost(name)
	case nested.MatchString(symbol) && operator.MatchString(rest):
		return "an operator of " + ofTheHost(name)
	case slices.Contains([]string{"calloc", "realloc"}, name) || strings.HasPrefix(symbol, "_Zn") || strings.HasPrefix(symbol, "_Zd"):
		return "kernels have malloc, free, and plain new and delete, of types aligned to 16 bytes at most, and nothing else of the heap"
	case strings.HasPrefix(symbol, "__cxa_guard"):
		return "a static variable is initialised when a kernel runs: make it constexpr, __shared__ or __device__"
	default:
		return fmt.Sprintf("it uses %q, which is neither in this file nor a function that kernels have", name)
	}
}

func ofTheHost(name string) string {
	return name + " is a function of the host: a kernel can call it once it is __device__"
}

var (
	unknownName = regexp.MustCompile(`^(?:there are no arguments to )?['‘](?:\w+::)*(\w+)['’] (?:was not declared|that depend|does not name a type|is not a namespace|has not been declared|is not a class)|^(?:use of undeclared identifier|unknown type name|expected (?:type-specifier|nested-name-specifier|class name) before|no template named) ['‘](\w+)['’]|^no matching function for call to ['‘](\w+)`)
	// reserved are names that no file of its own has: CUDA's.
	reserved = regexp.MustCompile(`^(?:__[a-z]|CUDART_)`)
)

// nameUnknown says of names that a compiler does not know whose they are: the host side's, if
// that is where they were left; a library's, if its header is empty here; CUDA's, if only it
// may have them.
func (r stripped) nameUnknown(err error) error {
	var e *device.CompileError
	if !errors.As(err, &e) {
		return err
	}
	for i := range e.Diagnostics {
		d := &e.Diagnostics[i]
		m := unknownName.FindStringSubmatch(d.Text)
		if m == nil {
			continue
		}
		switch name := m[1] + m[2] + m[3]; {
		case r.Host[name]:
			d.Text = ofTheHost(name)
		case r.Variables[name]:
			d.Text = name + " is a variable of the host: a kernel can use it once it is const, __device__ or __constant__"
		case m[3] != "": // it is known, with other arguments
		case reserved.MatchString(name):
			d.Text = "the simulator has no " + name + suggestion(d.Text)
		case len(r.empty) > 0:
			d.Text = fmt.Sprintf("the simulator does not know %s: if it is of %s, that is a library which is empty here", name, strings.Join(r.empty[:min(3, len(r.empty))], ", "))
		}
	}
	return err
}

var meant = regexp.MustCompile(`; did you mean ['‘](\w+)['’]`)

// suggestion is what a compiler proposes instead of a name.
func suggestion(text string) string {
	if m := meant.FindStringSubmatch(text); m != nil && !strings.HasPrefix(m[1], "simt") {
		return "; it has " + m[1]
	}
	return ": write what it does in CUDA C++"
}
