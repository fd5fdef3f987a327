package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

// ErrNoCompiler says that no C++ compiler on this machine builds kernels.
var ErrNoCompiler = errors.New("no C++ compiler that builds kernels was found")

// compiler is a C++ compiler that has shown, on a probe kernel, that it
// understands everything the simulator asks of it.
type compiler struct {
	path        string
	version     string // its first line of --version
	target      string // what it compiles for: x86_64-linux-gnu
	clang       bool
	arm         bool             // for AArch64, not x86-64
	fillsLocals bool             // it understands fillLocals
	jail        jail.CommandFunc // runs it on kernels; nil: as it is
	reads       []string         // what it sees there besides the kernel
	unrolls     bool             // loops, as nvcc does: see unroll.go
}

// fillLocals fills variables that their declaration leaves undefined with large
// numbers or NaN. No check sees whether local memory was written before it is read,
// but the value should not look right by chance, or differ from run to run.
const fillLocals = "-ftrivial-auto-var-init=pattern"

const compileTimeout = 2 * time.Minute

// answerTimeout is how long a compiler may take to say what it is.
var answerTimeout = 10 * time.Second

// errSlow is of a compiler that had no time to show what it can.
var errSlow = errors.New("the machine may be busy")

// candidates in the order they are tried; versions are not trusted, the probe is.
var candidates = []string{"g++", "g++-14", "g++-13", "g++-12", "clang++", "clang++-18", "clang++-17", "clang++-16"}

var (
	foundMu sync.Mutex
	found   = map[string]*compiler{}
)

// findCompiler returns the wanted compiler, or the first that passes the probe.
func findCompiler(want string) (*compiler, error) {
	foundMu.Lock()
	defer foundMu.Unlock()
	if c := found[want]; c != nil {
		return c, nil
	}
	names := candidates
	if want != "" {
		names = []string{want}
	} else if cxx := os.Getenv("CXX"); cxx != "" {
		names = append([]string{cxx}, names...)
	}
	var tried []string
	var slow, failed bool
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		c, err := newCompiler(path)
		if err == nil {
			err = probe(c)
		}
		if err == nil {
			found[want] = c
			return c, nil
		}
		late := errors.Is(err, errSlow)
		slow, failed = slow || late, failed || !late
		tried = append(tried, fmt.Sprintf("%s: %v", path, err))
	}
	if len(tried) > 0 { // to install what is there would not help
		var next []string
		if slow {
			next = append(next, "Wait until the machine has less to do, and try again.")
		}
		if failed {
			next = append(next, "If it is too old, install another (g++ from 10 on, clang++ from 16 on) and name it in CXX")
		}
		return nil, fmt.Errorf("%w; tried\n  %s\n%s", ErrNoCompiler, strings.Join(tried, "\n  "), strings.Join(next, "\n"))
	}
	return nil, fmt.Errorf("%w: none of %s is installed; install one: 'apt-get install g++' on Debian and Ubuntu, 'dnf install gcc-c++' on Fedora, 'pacman -S gcc' on Arch",
		ErrNoCompiler, strings.Join(names, ", "))
}

// key is what tells compilers apart: part of every cache key.
func (c *compiler) key() string { return cache.Key(c.path, c.version, c.target) }

func newCompiler(path string) (*compiler, error) {
	version, err := answer(path, "--version")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(version, "\n")
	c := &compiler{path: path, version: first, clang: strings.Contains(first, "clang")}
	target, err := answer(path, "-dumpmachine")
	if err != nil {
		return nil, err
	}
	if c.target, c.arm, err = targetOf(target); err != nil {
		return nil, err
	}
	// g++ before 12 has no such thing.
	_, err = answer(path, fillLocals, "-fsyntax-only", "-x", "c++", os.DevNull)
	if errors.Is(err, errSlow) {
		return nil, err
	}
	c.fillsLocals = err == nil
	return c, nil
}

// answer is what a compiler says to a question, which takes it no time where the machine has some.
func answer(path string, question ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, question...)
	cmd.WaitDelay = time.Second // what it has started may hold its output open
	var said, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaints
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it did not answer %s within %v: %w", question[0], answerTimeout, errSlow)
	case err != nil:
		return "", fmt.Errorf("%s: %w\n%s", question[0], err, strings.TrimSpace(complaints.String()+said.String()))
	}
	return said.String(), nil
}

// kernelFlags turn an ordinary C++ compiler into one for kernels. Without
// checks nothing is instrumented: kernels run at the machine's own speed.
func (c *compiler) kernelFlags(checks Checks) []string {
	flags := []string{
		"-std=c++17", "-O1", "-g", "-gdwarf-4", "-fPIC", "-w",
		"-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing",
		// Distributions switch hardening on by default: calls that no GPU has.
		"-fno-stack-protector", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0",
		// A large local array must meet the guard page below its thread's stack,
		// not step over it into another thread's.
		"-fstack-clash-protection",
		// So that only the kernel's own code can jump or call by an address.
		"-fno-jump-tables", "-fno-optimize-sibling-calls",
		// No contraction: a verdict must not depend on this machine's processor.
		"-ffp-contract=off",
	}
	flags = append(flags, c.machineFlags()...)
	if c.clang {
		flags = append(flags, "-fno-caret-diagnostics", "-fno-color-diagnostics",
			"-fdeclspec") // the indices' getters
	} else {
		flags = append(flags, "-fno-diagnostics-show-caret", "-fdiagnostics-color=never",
			// Thread-local variables are plain memory here, never lazily initialised.
			"-fno-extern-tls-init",
			// Without it, shared arrays of same-named templates would merge across modules.
			"-fno-gnu-unique",
			// Where each variable is at each instruction: half of the assembly, and nobody asks.
			"-fno-var-tracking")
	}
	if checks == (Checks{}) {
		return append(flags, "-O2")
	}
	if checks.Traffic {
		flags = append(flags, c.countFlags()...)
	}
	if c.fillsLocals {
		flags = append(flags, fillLocals)
	}
	return append(append(flags, c.checkFlags()...), c.unrollFlags()...)
}

// countFlags make it call a hook at the start of every basic block, for counting
// arithmetic and the steps of loops that touch no memory. Without them the clock
// alone stops such a loop.
func (c *compiler) countFlags() []string {
	if c.clang {
		return []string{"-fsanitize-coverage=trace-pc,no-prune"}
	}
	return []string{"-fsanitize-coverage=trace-pc"}
}

// checkFlags make the compiler call the hooks in runtime/hooks.cpp for every
// access that the source asks for, no more and no fewer.
func (c *compiler) checkFlags() []string {
	if c.clang {
		return []string{"-fsanitize=thread", "-fsanitize=array-bounds",
			"-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops",
			// Two branches' accesses stay two: a thread that returns does not do what others do behind a barrier.
			"-mllvm", "-sink-common-insts=false", "-mllvm", "-enable-tail-merge=false",
			"-mllvm", "-tsan-instrument-read-before-write=1",
			"-mllvm", "-tsan-distinguish-volatile=1",
			"-mllvm", "-tsan-instrument-func-entry-exit=0"}
	}
	return []string{"-fsanitize=thread", "-fsanitize=bounds",
		"--param", "tsan-distinguish-volatile=1",
		"--param", "tsan-instrument-func-entry-exit=0",
		"-fno-tree-vectorize", "-fno-tree-slp-vectorize",
		"-fno-tree-loop-distribute-patterns", "-fno-store-merging",
		// As above.
		"-fno-tree-cselim", "-fno-tree-tail-merge", "-fno-crossjumping", "-fno-tree-sink"}
}

// run executes the compiler in a directory, with a bound on its time.
func (c *compiler) run(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), compileTimeout)
	defer cancel()
	cmd, err := c.command(ctx, dir, args)
	if err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	if failed := jail.Failed(cmd, string(out)); c.jail != nil && err != nil && failed != nil {
		return "", failed
	}
	if ctx.Err() != nil {
		return string(out), fmt.Errorf("%s took more than %v: %w", c.path, compileTimeout, errSlow)
	}
	return string(out), err
}

const probeSource = `
extern "C" __global__ void probe(const float4 *x, float *y) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x].x;
  __syncthreads();
  y[threadIdx.x] = s[31 - threadIdx.x];
}
`

// probe builds a kernel; the result is remembered by compiler and shim.
func probe(c *compiler) error {
	dir, err := cache.Dir()
	if err != nil {
		return err
	}
	include, err := includeDir(dir)
	if err != nil {
		return err
	}
	stamp := filepath.Join(dir, "probe-"+cache.Key(c.key(), sourcesKey())+".ok")
	if _, err := os.Stat(stamp); err == nil {
		return nil
	}
	_, err = c.buildModule(include, moduleSource{name: "probe.cu", text: probeSource, checks: AllChecks()}, filepath.Join(dir, "probe-"+cache.Key(c.key(), sourcesKey())+".so"))
	if err != nil {
		return fmt.Errorf("it does not build the probe kernel: %w", err)
	}
	return cache.WriteFile(stamp, nil, 0o644)
}
