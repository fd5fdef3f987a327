package hostside

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

const declaring = `
typedef float Scores[2][4]; typedef struct { double d; } Wide; using real = float;
struct Part { int at; real x; }; struct Whole { Part p[2]; }; struct Place { int x, y; };
template <typename T, int N> struct Tile { T x[N]; __device__ T sum() { T s_; for (int i = 0; i < N; i++) s_ += x[i]; return s_; } };
static float outside_;
__device__ float later(float a, float b);
template <class T> __global__ void k(T *out, int n) {
    __shared__ float shared_[4]; extern __shared__ float dynamic_[]; static float fixed_; volatile float watched_; const float one_ = 1;
    float a1, b_ = n > 1 ? 2 : 3, c1[3][N + 1], *p_, &r_ = a1, (*q_)[4], d1;
    int i_; unsigned u_[4]; Place place_; auto z_ = 1.0f; T *t_;
    __attribute__((aligned(16))) float e1[4]; float f1 __attribute__((aligned(8))); [[maybe_unused]] half g1;
    Scores h1; Wide i1; Whole j1; Tile<float, 4> k1; Tile<int, 4> l1_template; T m1[2]; ns::Part n1;
    float o1, x_ = later<T, N>(a1, d1), p1; float y_{1}, w_(2);
    if (n) float alone_; for (float v_; n;) double q1; else { float r1; }
    switch (n) { case 1: float s1; default: done: float t1; }
    auto l_ = [&](int i) -> float { float u1; return u1; }; later([=]() { float v1; return v1; }(), ({ float w1; w1; }));
    a1 * b_; return a1; later(a1, d1); a1 = d1, b_; if (a1 < b_) goto done; delete t_; struct { float member_; } s_;
}
`

func TestDeclarationsWithoutAValueAreFound(t *testing.T) {
	var names []string
	code := device.BlankNonCode(declaring)
	for _, u := range UndefinedIn(code, all) {
		names = append(names, u.Names...)
		assert.Equal(t, byte(';'), code[u.Behind-1])
	}
	assert.Equal(t, strings.Fields("s_ a1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1_template m1 n1 o1 p1 r1 s1 t1 u1 v1 w1"), names)
}

// Whatever a file holds, reading it ends, and without a panic.
func TestBrokenDeclarations(t *testing.T) {
	words := strings.Fields(declaring + " { } ( ) [ ] < > ; : , = :: float T case -> ")
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		b.WriteString("__device__ void f() {")
		for range 1 + r.IntN(30) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		UndefinedIn(b.String(), all)
	}
	for n := range len(declaring) {
		UndefinedIn(declaring[:n], all)
		UndefinedIn(declaring[n:], all)
	}
}
