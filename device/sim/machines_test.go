package sim

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/cache"
)

const armCompiler = "aarch64-linux-gnu-g++"

// forAarch64 is a compiler for AArch64, or the test is skipped.
func forAarch64(t *testing.T) *compiler {
	if _, err := exec.LookPath(armCompiler); err != nil {
		t.Skipf("%s is not installed", armCompiler)
	}
	c, err := findCompiler(armCompiler)
	require.NoError(t, err)
	require.True(t, c.arm)
	return c
}

func TestTheSwitchOfStacksCompilesForAarch64(t *testing.T) {
	c := forAarch64(t)
	dir, err := cache.Dir()
	require.NoError(t, err)
	src, err := writeSources(dir)
	require.NoError(t, err)
	for _, file := range []string{"fiber.cpp", "signals.cpp", "tensorcore.cpp"} {
		args := append(c.runtimeFlags(), "-c", filepath.Join(src, "runtime", file), "-o", filepath.Join(t.TempDir(), "o"))
		out, err := c.run(t.TempDir(), args...)
		assert.NoError(t, err, out)
	}
}

// A module's machine code is read for AArch64 as for x86-64: the same operations.
func TestOperationsAreReadFromAarch64(t *testing.T) {
	cross := forAarch64(t)
	own, err := findCompiler("")
	require.NoError(t, err)
	const kernel = `extern "C" __global__ void k(float *x, float y, int n, int *i) {
  x[0] = x[0] * y + 1; // two
  x[1] = fmaf(x[1], y, 3) / y; // three
  x[2] = floorf(x[2]) - sqrtf(y); // three
  i[0] = n / i[1];
}`
	totals := map[*compiler]uint64{}
	for _, c := range []*compiler{cross, own} {
		dir, err := cache.Dir()
		require.NoError(t, err)
		include, err := includeDir(dir)
		require.NoError(t, err)
		so := filepath.Join(t.TempDir(), "k.so")
		_, err = c.buildModule(include, moduleSource{name: "k.cu", text: kernel, checks: AllChecks()}, so)
		require.NoError(t, err)
		code := readCode(so)
		assert.NotEmpty(t, code.calls, "the functions that it calls")
		hooked := 0
		for at, p := range code.pieces {
			if p.behindHook {
				hooked++
				totals[c] += code.workFrom(at).flops
			}
		}
		assert.Positive(t, hooked, "calls of the hook")
		assert.False(t, jumpsByAddress(so))
	}
	assert.Equal(t, totals[own], totals[cross])
	assert.GreaterOrEqual(t, totals[cross], uint64(8))
}

func TestDivisorsAreChecked(t *testing.T) {
	assert.Equal(t, "\tcbnz\tw2, 77f\n\tbrk\t7\n77:\n\tsdiv\tw0, w1, w2\n\tfdiv\ts0, s1, s2\n",
		stopDivisions("\tsdiv\tw0, w1, w2\n\tfdiv\ts0, s1, s2\n"))
}

func TestWhatAarch64sCompilerLeftOutGetsAHook(t *testing.T) {
	see := func(lines ...string) (string, error) {
		return seeAll("k:\n\t"+strings.Join(lines, "\n\t")+"\n", aarch64)
	}
	for _, seen := range [][]string{
		{"add\tx0, x19, x20, lsl 2", "bl\t__tsan_write4", "str\tw2, [x19, x20, lsl 2]"},
		{"sxtw\tx20, w1", "add\tx0, x19, w1, sxtw 2", "bl\t__tsan_read4", "ldr\tw2, [x19, x20, lsl 2]"},
		{"stp\tx29, x30, [sp, -32]!", "add\tx1, sp, 16", "str\tw0, [x1]"},
		{"adrp\tx0, :got:x", "ldr\tx0, [x0, #:got_lo12:x]", "prfm\tpldl1keep, [x0]"},
	} {
		watched, err := see(seen...)
		assert.NoError(t, err)
		assert.NotContains(t, watched, "simt_saw", seen)
		assert.NotContains(t, watched, "simt_may", seen)
	}
	for _, c := range []struct {
		hooks []string
		lines []string
	}{
		{[]string{"saw_write4"}, []string{"str\ts0, [x1], 4"}},
		{[]string{"saw_read8"}, []string{"ldr\ts0, [x1]", "ldr\ts1, [x1, 4]"}},
		{[]string{"saw_write2", "saw_write1"}, []string{"strb\tw0, [x1]", "strb\tw0, [x1, 1]", "strb\tw0, [x1, 2]"}},
		{[]string{"saw_read16", "saw_read16"}, []string{"ldp\tq0, q1, [x1, 32]"}},
		{[]string{"may_write4"}, []string{"mov\tx0, x1", "bl\t__tsan_write4", "str\tw2, [x20]"}},
		{[]string{"may_write4"}, []string{"mov\tx0, x19", "bl\t__tsan_write4", "stp\tw2, w3, [x19]"}},
	} {
		watched, err := see(c.lines...)
		assert.NoError(t, err)
		var hooks []string
		for line := range strings.Lines(watched) {
			if _, name, ok := strings.Cut(strings.TrimSpace(line), "bl\tsimt_"); ok && !strings.HasPrefix(name, "told") {
				hooks = append(hooks, name)
			}
		}
		assert.Equal(t, c.hooks, hooks, c.lines)
	}
	for _, unknown := range []string{"ldxr\tw0, [x1]", "swp\tw0, w1, [x2]", "ldr\tx0, =place", "dc\tzva, x0"} {
		_, err := see(unknown)
		assert.ErrorContains(t, err, "cannot watch", unknown)
	}
}
