package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// What nvcc knows and the simulator does not is refused by its name, at its line, in place of
// a compiler's own words; what is near it goes on.
func TestWhatIsUnknownIsNamed(t *testing.T) {
	const kernel = "extern \"C\" __global__ void k(float *x) {\n%s\n}\n__global__ void fine(float *x) { x[0] = 1; }\n"
	cases := []struct{ before, line, want string }{
		{"", "x[0] = __cos2pif(x[1]);", "k.cu:2|the simulator has no __cos2pif"},
		{"", "__u128AtomicCAS(x, x, 1);", "k.cu:2|the simulator has no __u128AtomicCAS: write what it does in CUDA C++"},
		{"#include <cute/tensor.hpp>\n", "auto t = make_tensor(x);", "k.cu:3|the simulator does not know make_tensor: if it is of cute/tensor.hpp"},
		{"#include <DirectXMath.h>\n", "XMFLOAT3 v; x[0] = v.x;", "k.cu:3|the simulator does not know XMFLOAT3: if it is of DirectXMath.h"},
		{"float speed;\n", "x[0] = speed;", "k.cu:3|speed is a variable of the host: a kernel can use it once it is const, __device__ or __constant__"},
		{"", "x[0] = spede;", "k.cu:2|spede"},
		{"", "float *p = (float *)realloc(x, 8); p[0] = 1; x[1] = p[(int)x[0]];", "k.cu:2|kernels have malloc, free, and plain new and delete"},
		{"", "asm(\"addc.u32 %0, %0, 1;\" : \"+r\"(*(unsigned *)x));", "k.cu:2|the carry lasts within one asm"},
		{"", "asm(\"vabsdiff4.s32.s32.s32 %0, %0, %0, %0;\" : \"+r\"(*(unsigned *)x));", "k.cu:2|no PTX instruction vabsdiff4.s32.s32.s32: unsigned bytes, plain or with .add, are served"},
		{"", "asm(\"bfind.u16 %0, %1;\" : \"=r\"(*(unsigned *)x) : \"h\"((short)1));", "k.cu:2|no PTX instruction bfind.u16: 32 and 64 bits are served"},
	}
	forEachCompiler(t, func(t *testing.T, compiler string) {
		for _, c := range cases {
			d := start(t, Options{Compiler: compiler})
			m, err := d.Compile(device.Source{Name: "k.cu", Text: c.before + strings.Replace(kernel, "%s", c.line, 1)})
			if err == nil { // the other kernel is there
				_, err = m.Kernel("k")
				_, other := m.Kernel("fine")
				assert.NoError(t, other)
			}
			require.Error(t, err, c.line)
			line, text, _ := strings.Cut(c.want, "|")
			assert.ErrorContains(t, err, line+":")
			assert.ErrorContains(t, err, text)
		}
	})
}

// The host's variables are no kernel's, though one of its own has the same name: their types
// need not be known.
func TestTheHostsVariablesGo(t *testing.T) {
	const text = "#include <vulkan/of_mine.h>\nVkDevice width = nullptr, *height;\nstatic VkInt rows[3] = {1, 2, 3};\n" +
		"const int columns = 4;\n__device__ int seen;\nextern \"C\" __global__ void k(float *x, int width) { int rows = width, height = 1; x[0] = rows + height + columns + seen; }\n"
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler})
		_, err := d.Compile(device.Source{Name: "k.cu", Text: text})
		assert.NoError(t, err)
	})
}

// A namespace inside of another may be used outside of functions, though the host's part of a file goes.
func TestANestedNamespaceIsUsed(t *testing.T) {
	const text = "#include <mma.h>\nusing namespace nvcuda::wmma;\nvoid host() {}\n" +
		"extern \"C\" __global__ void k(float *x) { fragment<accumulator, 16, 16, 16, float> c; fill_fragment(c, 1); store_matrix_sync(x, c, 16, mem_row_major); }\n"
	forEachCompiler(t, func(t *testing.T, compiler string) {
		_, err := start(t, Options{Compiler: compiler}).Compile(device.Source{Name: "k.cu", Text: text})
		assert.NoError(t, err)
	})
}

const oddInstructions = `
#include <cuda_fp16.h>
#include <cuda/std/array>
extern "C" __global__ void odd(const unsigned *x, unsigned *y) {
    unsigned i = threadIdx.x, a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2], *r = y + 26 * i;
    asm("{ add.cc.u32 %0, %2, %3;\n addc.u32 %1, %4, 0; }" : "=r"(r[0]), "=r"(r[1]) : "r"(a), "r"(b), "r"(c));
    asm("sub.cc.u32 %0, %2, %3; subc.cc.u32 %1, %4, %2;" : "=r"(r[2]), "=r"(r[3]) : "r"(a) "r"(b), "r"(c));
    asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %4;" : "=r"(r[4]), "=r"(r[5]) : "r"(a), "r"(b), "r"(c));
    asm("bfind.u32 %0, %1;" : "=r"(r[6]) : "r"(a));
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r[7]) : "r"(b));
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(r[8]) : "r"(a), "r"(b), "r"(c));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r[9]) : "r"(a), "r"(b), "r"(c));
    asm("cnot.b32 %0, %1;" : "=r"(r[10]) : "r"(a & 1));
    asm("{ .reg .pred p; testp.notanumber.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r[11]) : "f"(__uint_as_float(a | 0x7f800000u)));
    r[12] = __fns(a, 0, 3);
    r[13] = (unsigned)__vimax3_s32((int)a, (int)b, (int)c);
    r[14] = __viaddmax_s16x2_relu(a, b, c);
    bool low, high;
    r[15] = __vibmin_u16x2(a, b, &high, &low);
    r[16] = high, r[17] = low;
    cuda::std::array<unsigned, 2> two{a, b};
    r[18] = two[1];
    r[19] = __uni_sync(~0u, a & 1);
    asm("mad24.lo.u32 %0, %1, %2, %3;" : "=r"(r[20]) : "r"(a), "r"(b), "r"(c));
    half2 z = __hcmadd(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4), __floats2half2_rn(5, 6));
    r[21] = __float_as_uint(__low2float(z)), r[22] = __float_as_uint(__high2float(z));
    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[24]) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[25]) : "r"(a), "r"(b), "r"(c));
    r[23] = 1;
    if (i & 1) asm volatile("exit;");
    r[23] = 2;
}
`

func TestOddInstructions(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler, Checks: AllChecks()})
		r := rand.New(rand.NewPCG(3, 4))
		x := make([]uint32, 96)
		for i := range x {
			if x[i] = r.Uint32() >> r.UintN(32); r.UintN(8) == 0 {
				x[i] = []uint32{0, 1, 1 << 31, 1<<32 - 1}[r.UintN(4)]
			}
		}
		in, err := device.Upload(d, "x", x)
		require.NoError(t, err)
		out, err := device.Upload(d, "y", make([]uint32, 32*26))
		require.NoError(t, err)
		m, err := d.Compile(device.Source{Name: "odd.cu", Text: oddInstructions})
		require.NoError(t, err)
		k, err := m.Kernel("odd")
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, in, out))
		y, err := out.CopyOut(d)
		require.NoError(t, err)
		for i := range 32 {
			assert.Equal(t, oddOracle(x[3*i], x[3*i+1], x[3*i+2], i), y[26*i:26*i+26], "thread %d: %x", i, x[3*i:3*i+3])
		}
		report, err := d.Report()
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
	})
}

func oddOracle(a, b, c uint32, thread int) []uint32 {
	sum, carry := bits.Add32(a, b, 0)
	less, borrow := bits.Sub32(a, b, 0)
	less2, _ := bits.Sub32(c, a, borrow)
	high, low := bits.Mul32(a, b)
	low, over := bits.Add32(low, c, 0)
	top := uint32(bits.Len32(a) - 1)
	sign := b
	if int32(b) < 0 {
		sign = ^b
	}
	shift := uint32(math.MaxUint32)
	if sign != 0 {
		shift = uint32(31 - (bits.Len32(sign) - 1))
	}
	third := uint32(math.MaxUint32)
	for n, rest := 1, a; rest != 0; n, rest = n+1, rest&(rest-1) {
		if n == 3 {
			third = uint32(bits.TrailingZeros32(rest))
		}
	}
	far := int64(int32(a)) - int64(int32(b))
	half := func(at int) (uint32, bool) {
		p, q, r := int16(a>>at), int16(b>>at), int16(c>>at)
		return uint32(uint16(max(p+q, r, 0))), uint16(p) <= uint16(q)
	}
	l, firstLow := half(0)
	h, firstHigh := half(16)
	of := func(first bool, mask uint32) uint32 {
		if first {
			return a & mask
		}
		return b & mask
	}
	last := uint32(2 - thread&1)
	var apart uint32
	total := c
	for at := 0; at < 32; at += 8 {
		p, q := int(a>>at&255), int(b>>at&255)
		d := uint32(max(p-q, q-p))
		apart, total = apart|d<<at, total+d
	}
	return []uint32{sum, c + carry, less, less2, low, high + c + over, top, shift, uint32(max(far, -far)) + c,
		map[bool]uint32{true: a, false: b}[int32(c) >= 0], 1 - a&1, one(a&0x7fffff != 0), third, uint32(max(int32(a), int32(b), int32(c))), h<<16 | l,
		of(firstHigh, 0xffff0000) | of(firstLow, 0xffff), one(firstHigh), one(firstLow), b, 0, (a&0xffffff)*(b&0xffffff) + c,
		math.Float32bits(0), math.Float32bits(16), last, apart, total}
}

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
