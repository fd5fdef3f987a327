package hostside

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

func all(int) bool { return true }

func strip(text string) Result { return Strip(text, device.BlankNonCode(text), all) }

const mixed = `
using namespace std;
namespace cg = groups;
struct Host { handle h; };
struct Pair { float a; int b; Pair() : a(1), b{2} { malloc(3); } __device__ float sum() { return a + b; } };
enum Mode { FAST = 1, SLOW };
const int WIDTH = 32, UNUSED = 7;
typedef float real;
using wide = double;
static handle global_handle = make_handle();
static struct { handle *at; char const *name; } table_of_handles[] = {{&global_handle, "one"}};
constexpr int twice(int n) { return 2 * n; }
template <class T, int N = (3 > 2)> __device__ T helper(T v) { return v * WIDTH; }
__global__ void plain(real *x, Pair p = Pair()) { x[0] = helper(p.sum()) + FAST; }
namespace layers { template <typename T> __global__ void __launch_bounds__(WIDTH * 2) deep(T *x) { x[twice(1)] = {}; } }
extern "C" { __global__ void c_one(wide *x); __global__ void c_one(wide *x) { *x = 1; } }
static __device__ float later(float);
float later(float v) { return v + 1; }
void launch(real *x) { plain<<<1, 1>>>(x); }
template <class T> void launch_all(T *x) { launch(x); }
std::ostream &operator<<(std::ostream &o, Pair p) { return o << p.a; }
MODULE_OF(name, m) { m.def("launch", &launch); }
BENCHMARK(launch);
int main(int argc, char **argv) { launch(nullptr); return 0; }
static_assert(WIDTH == 32, "warps"); static_assert(sizeof(Host) == 8, "");
__constant__ float weights[3] = {1, 2, 3};
`

func TestTheHostSideGoes(t *testing.T) {
	r := strip(mixed)
	var names []string
	for _, k := range r.Kernels {
		names = append(names, k.Name)
	}
	assert.Equal(t, []string{"plain", "layers::deep", "c_one"}, names)
	assert.True(t, r.Kernels[1].Template)
	assert.True(t, r.Kernels[2].C)
	for _, kept := range []string{"struct Pair", "sum()", "FAST", "WIDTH = 32", "typedef float real", "using wide", "twice(int n)",
		"helper(T v)", "later(float v)", "weights[3]", `static_assert(WIDTH`} {
		assert.Contains(t, r.Text, kept)
	}
	for _, gone := range []string{"handle", "malloc", "launch(", "launch_all", "ostream", "MODULE_OF", "BENCHMARK", "main", "sizeof(Host)", "groups", "<<<"} {
		assert.NotContains(t, r.Text, gone)
	}
	assert.Equal(t, strings.Count(mixed, "\n"), strings.Count(r.Text, "\n"), "lines stay where they are")
	assert.Equal(t, []string{"weights"}, r.Constants)
	assert.True(t, r.Any && r.Host["launch"] && r.Host["main"])
}

// Whoever asks for a template names types that nothing else may name.
func TestWhatTemplatesAreAskedForByIsKept(t *testing.T) {
	const text = "struct Deep { float v; }; namespace n { struct Add { Deep d; }; struct Other {}; }\ntemplate <class T> __global__ void k(float *x) {}\n"
	r := Strip(text, device.BlankNonCode(text), all, "k<n::Add>")
	assert.Contains(t, r.Text, "struct Add")
	assert.Contains(t, r.Text, "struct Deep", "and what these name")
	assert.NotContains(t, r.Text, "struct Other")
}

// What attributes of CUDA's say is kept, wherever they stand.
func TestAttributesAreRead(t *testing.T) {
	r := strip("__global__ void __cluster_dims__(2, (1 + 1), 1) __launch_bounds__(64, 2) a(float *x) {}\n" +
		"__launch_bounds__(128) __global__ void b(float *x) {}\n" +
		"template <int N> __global__ void __launch_bounds__(N * 32) c(float (&x)[N]) {}\n" +
		"__global__ void d(float *x) {}\n")
	var said []string
	for _, k := range r.Kernels {
		said = append(said, k.Name+": "+k.Cluster+"; "+k.Bounds)
	}
	assert.Equal(t, []string{"a: 2, (1 + 1), 1; 64, 2", "b: ; 128", "c: ; N * 32", "d: ; "}, said)
}

func TestAKernelAlone(t *testing.T) {
	const text = `extern "C" __global__ void k(float *x) { x[0] = 1; }`
	r := strip(text)
	assert.Equal(t, text, r.Text)
	assert.False(t, r.Any)
}

func TestOneKernelLessLeavesTheOthers(t *testing.T) {
	text := "__device__ float fetch() { return tex(1); }\n__global__ void a(float *x) { x[0] = fetch(); }\n__global__ void b(float *x) { x[0] = 2; }\n"
	r := strip(text)
	lost, rest := r.Without([]int{strings.Index(text, "tex")})
	assert.Equal(t, []Lost{{"a", 0}}, lost)
	assert.Zero(t, rest)
	assert.Len(t, r.Kernels, 1)
	assert.NotContains(t, r.Text, "fetch")
	_, rest = r.Without([]int{0, len(text) + 5})
	assert.Equal(t, 2, rest, "what is in no function, or gone")
}

// Whatever a file holds, reading it ends, and without a panic.
func TestBrokenFiles(t *testing.T) {
	words := strings.Fields(mixed + " { } ( ) [ ] < > ; : , = operator template namespace extern \"C\" enum struct using")
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		s := strip(b.String())
		s.Without([]int{0, 3})
	}
	for n := range len(mixed) {
		strip(mixed[:n])
		strip(mixed[n:])
	}
}
