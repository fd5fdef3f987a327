package sim

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// A kernel that needs what depends on names of the simulator's headers: functions that no check sees
// (blockReduce, atomics, a barrier), inline PTX, and a header that is included twice.
const tellingKernel = `#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ int lane() { int l; asm("mov.u32 %0, %laneid;" : "=r"(l)); return l; }
extern "C" __global__ void k(float *y) {
  __shared__ float s[64];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = cg::reduce(warp, 1.0f, cg::plus<float>()) + lane() * VALUE + atomicAdd(&y[64], 1.0f) * 0;
  y[threadIdx.x] = s[63 - threadIdx.x]; // a race
}
int main() { return 0; }
`

// told is what is found in that kernel with a cache; each value is another kernel to compile.
func told(t *testing.T, o Options, value string) string {
	t.Helper()
	o.Checks = AllChecks()
	d := start(t, o)
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: tellingKernel, Defines: map[string]string{"VALUE": value}})
	require.NoError(t, err)
	k, err := m.Kernel("k")
	require.NoError(t, err)
	y, err := device.Upload(d, "y", make([]float32, 65))
	require.NoError(t, err)
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y))
	r, err := d.Report()
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].String(), "kernels.cu:10:")
	return fmt.Sprint(r.Findings[0], r.Launches)
}

// cacheWithRuntime is an empty cache but for the simulator itself, which takes long to compile.
func cacheWithRuntime(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	copyRuntime(t, dir)
	return dir
}

// What the cache keeps has no path of the cache in it, so it cannot depend on where the cache lies.
func TestTheCacheHoldsNoPath(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("compiles the simulator anew, and make test-all does that")
	}
	forEachCompiler(t, func(t *testing.T, compiler string) {
		dir := filepath.Join(t.TempDir(), "whereTheCacheLies")
		require.NoError(t, os.Mkdir(dir, 0o755))
		told(t, Options{Cache: dir, Compiler: compiler}, "1")
		seen := 0
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			seen++
			assert.False(t, bytes.Contains(text, []byte(filepath.Base(dir))), "%s holds the cache's path", path)
			return err
		}))
		assert.Greater(t, seen, 100, "the sources, headers, the simulator and a module")
	})
}

// A cache is moved, copied, and used by way of a symlink: what was compiled before, and what is new.
func TestACacheSurvivesBeingMoved(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		first := cacheWithRuntime(t, "first")
		want := told(t, Options{Cache: first, Compiler: compiler}, "1")
		moved := filepath.Join(filepath.Dir(first), "moved")
		again := func(how, dir, value string) {
			assert.Equal(t, want, told(t, Options{Cache: dir, Compiler: compiler}, "1"), "%s: a kernel that was compiled before", how)
			assert.Equal(t, want, told(t, Options{Cache: dir, Compiler: compiler}, value), "%s: a new one", how)
		}
		require.NoError(t, os.Rename(first, moved))
		again("moved", moved, "1 * 1")
		copied := filepath.Join(t.TempDir(), "copied")
		out, err := exec.Command("cp", "-R", moved, copied).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NoError(t, os.RemoveAll(moved))
		again("copied", copied, "1 * 1 * 1")
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(copied, link))
		again("by a symlink", link, "1 * 1 * 1 * 1")
		again("without it", copied, "1 * 1 * 1 * 1 * 1")
	})
}

// One cache serves several compilers, in turns.
func TestACacheSurvivesAnotherCompiler(t *testing.T) {
	dir := cacheWithRuntime(t, "cache")
	var compilers []string
	for _, name := range []string{"g++-12", "clang++-16", "g++"} {
		if _, err := findCompiler(name); err == nil {
			compilers = append(compilers, name)
		}
	}
	if len(compilers) < 2 || os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("for two compilers, and when time does not matter")
	}
	record.Skip(t)
	for _, name := range compilers { // each compiles the simulator once, and not again in each of these caches
		start(t, Options{Compiler: name})
	}
	copyRuntime(t, dir)
	want := map[string]string{} // columns, and what an instruction counts, are the compiler's
	for _, name := range compilers {
		want[name] = told(t, Options{Cache: cacheWithRuntime(t, name), Compiler: name}, "1")
	}
	for round := range 2 {
		for _, name := range compilers {
			assert.Equal(t, want[name], told(t, Options{Cache: dir, Compiler: name}, "1"), "%s, round %d", name, round)
		}
	}
}

// Root's cache serves a user who may only read it, and, given to that user, one who writes.
func TestACacheSurvivesAnotherUser(t *testing.T) {
	const nobody = 65534
	if dir := os.Getenv("FLASHLAB_TEST_CACHE"); dir != "" { // what the other user runs
		fmt.Println("told:", told(t, Options{Cache: dir}, os.Getenv("FLASHLAB_TEST_VALUE")))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root has another user to be")
	}
	dir := cacheWithRuntime(t, "cache")
	want := told(t, Options{Cache: dir}, "1")
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	copied := filepath.Join(filepath.Dir(dir), "sim.test") // where go puts it nobody else may look
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	open := filepath.Dir(filepath.Dir(dir))
	require.NoError(t, os.Chmod(open, 0o755))
	their := filepath.Join(filepath.Dir(dir), "their")
	require.NoError(t, os.Mkdir(their, 0o777))
	require.NoError(t, os.Chown(their, nobody, nobody))
	as := func(value string) string {
		cmd := exec.Command(copied, "-test.run=^TestACacheSurvivesAnotherUser$", "-test.v")
		cmd.Dir = their
		// The probe of the compiler has a folder of its own, which anybody may write to.
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "FLASHLAB_CACHE=" + their, "FLASHLAB_TEST_CACHE=" + dir, "FLASHLAB_TEST_VALUE=" + value, "TMPDIR=" + their}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	assert.Contains(t, as("1"), "told: "+want, "a kernel that was compiled before")
	assert.Contains(t, as("1 * 1"), "give it to yours (sudo chown -R")
	out, err := exec.Command("chown", "-R", fmt.Sprint(nobody), dir).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, as("1 * 1"), "told: "+want, "a new one, in a cache that was root's")
}

// oddNames are what people, and file managers, call folders.
var oddNames = []string{"Übung ü", "it's", "$HOME $(x) `x`", "a:b;c", "#1 50% off", "a=b,c", "(new) [1] {2}", `back\slash "quoted"`, "*?!&|<>~^", "@at", "-dash", "漢字 🙂", "tab\there"}

// A path may have any name in it. The simulator itself is compiled in one that has all of them.
func TestOddNames(t *testing.T) {
	record.Skip(t)
	names := oddNames
	if os.Getenv("FLASHLAB_ALL") == "" {
		names = []string{strings.Join(oddNames, " ")}
	}
	want := ""
	for _, name := range append([]string{"plain"}, names...) {
		dir := cacheWithRuntime(t, name)
		findings := told(t, Options{Cache: dir}, "1")
		if want == "" {
			want = findings
		}
		assert.Equal(t, want, findings, name)
	}
	if os.Getenv("FLASHLAB_ALL") != "" {
		dir := filepath.Join(t.TempDir(), strings.Join(oddNames, " "))
		require.NoError(t, os.Mkdir(dir, 0o755))
		assert.Equal(t, want, told(t, Options{Cache: dir}, "1"), "with the simulator itself")
	}
}

// Where no line of the student's is to blame, nor is the student.
func TestWhatIsNotTheStudentsFaultSaysSo(t *testing.T) {
	d := &Device{modules: []*module{{source: device.Source{Name: "kernels.cu", Text: "x"}, places: &places{}}}}
	f := d.explain(rawFinding{Check: "memcheck", Kind: "out of bounds", Kernel: "k", PC: 1, Op: "read", Note: "0x55 is no device address"})
	assert.Equal(t, misfit, f.Message)
	assert.NotContains(t, f.String(), "index")

	dir := cacheWithRuntime(t, "cache")
	built, err := filepath.Glob(filepath.Join(dir, "flashsim-*"))
	require.NoError(t, err)
	for _, binary := range built { // as one that was copied from another computer may do
		require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
	_, err = Start(Options{Cache: dir})
	assert.ErrorContains(t, err, misfit)
}
