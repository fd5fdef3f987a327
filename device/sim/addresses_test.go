package sim

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim/ptx"
)

// addressTries has for each function of the headers that takes an address, and for each PTX instruction, statements that
// give it a bad one.
//
//go:embed testdata/addresses.txt
var addressTries string

// attempt is one statement: w is the bad address in it, and far a bad one of shared memory.
type attempt struct {
	name, statement  string
	writes, inShared bool
}

// attempts are those of the list, and the names that it says take none.
func attempts(t *testing.T) (all []attempt, names map[string]bool) {
	names = map[string]bool{}
	for line := range strings.Lines(addressTries) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, statement, _ := strings.Cut(line, ": ")
		fields := strings.Fields(head)
		for _, name := range fields[:len(fields)-1] {
			names[name] = true
			if kind := fields[len(fields)-1]; kind != "none" {
				require.Contains(t, []string{"reads", "writes"}, kind, line)
				one := strings.ReplaceAll(statement, "NAME", name)
				all = append(all, attempt{name, one, kind == "writes", strings.Contains(one, "far")})
			}
		}
	}
	return all, names
}

var (
	opensScope = regexp.MustCompile(`^(?:namespace|struct|class|union)\s+([\w:]+)[^;{}()]*$`)
	definition = regexp.MustCompile(`(~?\w+|operator\s*\S+?)\s*\(((?:[^()]|\([^()]*\))*)\)(?:\s|const|noexcept|->[^{;]*|:[^:][^{;]*)*$`)
)

// takingAddresses are the functions that kernels can name with a pointer or a reference among their parameters, as the
// preprocessor leaves the headers: by their names, those of classes with the class.
func takingAddresses(t *testing.T) (names []string) {
	dir := t.TempDir()
	var all strings.Builder
	all.WriteString("#include \"simt.h\"\n")
	for _, name := range slices.Sorted(maps.Keys(guardedHeaders())) {
		name = strings.TrimPrefix(name, "include/")
		if !strings.HasPrefix(name, "simt") {
			fmt.Fprintf(&all, "#include \"%s\"\n", name)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.h"), []byte(all.String()), 0o644))
	cmd := exec.Command(start(t, Options{}).compiler.path, "-x", "c++", "-std=c++17", "-w", "-I", "include", "-I", "../include", "-E", filepath.Join(dir, "all.h"))
	out, err := cmd.Output()
	require.NoError(t, err)
	var code strings.Builder
	own := false
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "# ") {
			own = strings.Contains(line, "\"include/") || strings.Contains(line, "\"../include/")
		} else if own && !strings.HasPrefix(line, "#") {
			code.WriteString(line)
		}
	}
	text := device.BlankNonCode(code.String())
	var scopes []string // "" is a function's
	from := 0
	for i, c := range text {
		if c != '{' && c != '}' && c != ';' {
			continue
		}
		head := strings.TrimSpace(text[from:i])
		from = i + 1
		scope, isScope := "", false
		for strings.HasPrefix(head, "template") {
			head = strings.TrimSpace(head[closingAngle(head):])
		}
		if m := opensScope.FindStringSubmatch(head); m != nil {
			scope, isScope = m[1], true
		}
		if m := definition.FindStringSubmatch(head); c != '}' && m != nil && !slices.Contains(scopes, "") && !(isScope && c == '{') {
			where := strings.Join(scopes, "::")
			if strings.ContainsAny(m[2], "*&") && !strings.Contains(where+"::"+m[1], "simt") {
				names = append(names, strings.TrimPrefix(where+"::"+strings.ReplaceAll(m[1], " ", ""), "::"))
			}
		}
		switch {
		case c == '{':
			scopes = append(scopes, scope)
		case c == '}' && len(scopes) > 0:
			scopes = scopes[:len(scopes)-1]
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// closingAngle is where a template's list of parameters ends.
func closingAngle(head string) int {
	depth := 0
	for i, c := range head {
		switch c {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(head)
}

// kernelWithAddress has w: an address that it is given, a null pointer (given is 1), or another thread's local array; far is past the end of shared memory.
const kernelWithAddress = `
extern "C" __global__ void by_%d(float *y, long long given, unsigned far, cudaTextureObject_t texture) {
    __shared__ __align__(1024) char room[4096];
    __shared__ Mbarrier bar;
    __shared__ char *others;
    __align__(16) char local[128];
    unsigned near = (unsigned)__cvta_generic_to_shared(room), r[4] = {}, q[4] = {};
    float f[4] = {};
    if (threadIdx.x == 0) bar.init(128);
    if (threadIdx.x == 127) others = local;
    local[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < 4096; i += 128) room[i] = (char)(far & near & r[0] & q[0] & (int)f[0]);
    y[threadIdx.x] = 0;
    __syncthreads();
    char *w = given == 1 ? nullptr : given ? (char *)given : others;
    %s
}
`

// TestNoBadAddressIsWrittenTo: each function and each PTX instruction with an address, with those of nobody, of the
// runtime, of another thread, of constants and of text, and with a null pointer: reported at its line, before anything lands there.
func TestNoBadAddressIsWrittenTo(t *testing.T) {
	all, names := attempts(t)
	n := 0
	for _, name := range takingAddresses(t) {
		assert.True(t, names[name], "%s takes an address: say in testdata/addresses.txt what gives it a bad one", name)
	}
	for _, name := range wrapped {
		assert.True(t, names[name], "%s takes an address: say in testdata/addresses.txt what gives it a bad one", name)
	}
	for _, name := range ptx.Names() {
		assert.True(t, names["ptx."+name], "PTX's %s: say in testdata/addresses.txt what gives it a bad address, or that it takes none", name)
	}
	if os.Getenv("FLASHLAB_ALL") == "" { // some of them
		all = slices.DeleteFunc(all, func(attempt) bool { n++; return n%6 != 0 })
	}
	d := start(t, Options{Checks: AllChecks()})
	var text strings.Builder
	for _, h := range []string{"hopper.h", "tensorcore.h", "mma.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_pipeline.h", "curand_kernel.h", "cuda/atomic", "cuda/barrier", "cuda/pipeline",
		"cooperative_groups.h", "cooperative_groups/memcpy_async.h", "split.h", "cuComplex.h", "cub/cub.cuh"} {
		fmt.Fprintf(&text, "#include <%s>\n", h)
	}
	text.WriteString("using namespace nvcuda;\n__constant__ int table[64] = {1, 2, 3};\n" +
		"extern \"C\" __global__ void where(long long *at) { at[0] = (long long)table; at[1] = (long long)\"some text of the module's own, which no kernel writes to\"; at[2] = (long long)at + (1 << 24); }\n")
	lines := make([]int, len(all))
	for i, a := range all {
		fmt.Fprintf(&text, kernelWithAddress, i, a.statement)
		lines[i] = strings.Count(text.String(), "\n") - 1
	}
	m, err := d.Compile(device.Source{Name: "k.cu", Text: text.String()})
	require.NoError(t, err)
	b := bench{t, d, m}
	at := alloc[int64](b, "at", 3)
	_, err = b.try("where", device.Launch{Grid: device.D1(1), Block: device.D1(1)}, at)
	require.NoError(t, err)
	places := download(b, at)
	bad := map[string]int64{"a constant": places[0], "text": places[1], "nobody's": places[2], "the runtime's": int64(spareHeap(t, d)), "another thread's": 0, "a null pointer": 1}
	tried := 0
	for i, a := range all {
		for whose, address := range bad {
			if !a.writes && (whose == "a constant" || whose == "text") || a.inShared && whose != "nobody's" {
				continue
			}
			if whose == "a null pointer" && a.name == "free" { // which frees nothing
				continue
			}
			tried++
			before := peek(t, d, address)
			require.NoError(t, d.Reset())
			made := texture(b, []float32{1, 2, 3, 4}, device.Texels{Width: 4})
			r, _ := b.try(fmt.Sprint("by_", i), device.Launch{Grid: device.D1(1), Block: device.D1(128)}, alloc[float32](b, "y", 128), address, uint32(0xfffff00), made)
			if assert.NotEmpty(t, r.Findings, "%s with an address of %s: %s goes unnoticed", a.name, whose, a.statement) {
				f := r.Findings[0]
				assert.Equal(t, lines[i], f.Line, "%s with an address of %s: %s: %s", a.name, whose, a.statement, f.String())
			}
			assert.Equal(t, before, peek(t, d, address), "%s with an address of %s: %s lands", a.name, whose, a.statement)
		}
	}
	t.Logf("%d statements of %d functions and instructions, %d launches", len(all), len(names), tried)
}

// spareHeap is an address in the simulator's own heap which nothing uses.
func spareHeap(t *testing.T, d *Device) uint64 {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", d.process.cmd.Process.Pid))
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^[0-9a-f]+-([0-9a-f]+) .*\[heap\]$`).FindStringSubmatch(string(maps))
	require.NotNil(t, m)
	var end uint64
	_, err = fmt.Sscanf(m[1], "%x", &end)
	require.NoError(t, err)
	return end - 2048
}

// peek reads the simulator's memory.
func peek(t *testing.T, d *Device, address int64) []byte {
	if address <= 1 {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", d.process.cmd.Process.Pid))
	require.NoError(t, err)
	defer f.Close()
	data := make([]byte, 512)
	_, err = f.ReadAt(data, address)
	require.NoError(t, err)
	return data
}
