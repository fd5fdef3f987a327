// Flashlab-run runs a CUDA program on a computer without a GPU, and says what is wrong with it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"flashlab/device"
	"flashlab/device/estimate"
	"flashlab/device/program"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/internal/cache"
)

// What the command returns where it is not the program's own exit code.
const (
	usage    = 64
	notBuilt = 65
	findings = 66
	broken   = 70
)

const help = `flashlab-run [options] prog.cu [more.cu …] [arguments]

Compiles a CUDA program with g++ or clang++, runs it in a simulator on the CPU, and
reports what is wrong with it. It runs your program as it is: with your rights, in no sandbox.
Put -- before arguments that end in .cu, .cpp, .cc or .c.

Exit code: the program's own if nothing was found; 66 findings; 65 it does not compile; 64 bad usage.

Options:
`

func main() { os.Exit(run(os.Args[1:])) }

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func run(args []string) int {
	flags := flag.NewFlagSet("flashlab-run", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(os.Stderr, help)
		flags.PrintDefaults()
	}
	var include, define, library, libraryDir list
	flags.Var(&include, "I", "a `folder` of headers; may be repeated")
	flags.Var(&define, "D", "a `macro`: NAME or NAME=VALUE; may be repeated")
	flags.Var(&library, "l", "a `library` to link; may be repeated")
	flags.Var(&libraryDir, "L", "a `folder` of libraries; may be repeated")
	asJSON := flags.Bool("json", false, "findings and counts as JSON, on standard error, at the end")
	sarif := flags.String("sarif", "", "also write the findings as SARIF into this `file`, as GitHub takes them")
	memory := flags.Int64("memory", 4096, "device memory in `MB`")
	timeout := flags.Duration("timeout", 10*time.Minute, "that one launch may take")
	workers := flags.Int("j", runtime.NumCPU(), "blocks that run at the same `time`")
	quick := flags.Bool("nochecks", false, "check nothing: several times faster")
	unroll := flags.Bool("unroll", false, "unroll loops as nvcc does: slower to compile, faster to run")
	on := flags.String("estimate", "", "say what each kernel would take on this `GPU`: "+strings.Join(estimate.Names(), ", "))
	compiler := flags.String("cxx", "", "the C++ `compiler`; default: $CXX, g++ or clang++, whichever works")
	if err := flags.Parse(args); err != nil {
		return usage
	}
	files, rest := split(flags.Args())
	if len(files) == 0 {
		flags.Usage()
		return usage
	}
	dir, err := cacheDir()
	if err != nil {
		return fail(err)
	}
	o := sim.Options{Checks: sim.AllChecks(), Cache: dir, Memory: *memory << 20, Timeout: *timeout, Workers: *workers, Unroll: *unroll,
		Compiler: *compiler, MaxSteps: 1 << 40}
	if *quick {
		o.Checks = sim.Checks{}
	}
	var gpu estimate.GPU
	if *on != "" {
		if gpu, err = estimate.Find(*on); err != nil {
			fmt.Fprintln(os.Stderr, "flashlab-run: -estimate:", err)
			return usage
		}
		o.FLOPs, o.Checks.Traffic = true, true
	}
	src := sim.ProgramSource{Files: files}
	for flag, values := range map[string]list{"-I": include, "-D": define} {
		for _, v := range values {
			if flag == "-I" {
				if v, err = filepath.Abs(v); err != nil {
					return fail(err)
				}
			}
			src.Compile = append(src.Compile, flag+v)
		}
	}
	for _, v := range libraryDir {
		if v, err = filepath.Abs(v); err != nil {
			return fail(err)
		}
		src.Link = append(src.Link, "-L"+v)
	}
	for _, v := range library {
		src.Link = append(src.Link, "-l"+v)
	}
	if err := os.Setenv("FLASHLAB_CACHE", dir); err != nil { // what else asks for a cache gets the same
		return fail(err)
	}
	name := strings.TrimSuffix(files[0], filepath.Ext(files[0]))
	show := func(f trace.Finding) {
		if !*asJSON {
			fmt.Fprintln(os.Stderr, f)
		}
	}
	p, err := program.Build(o, src)
	if err != nil {
		return fail(err)
	}
	r, err := p.Run(append([]string{name}, rest...), program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, show)
	if err != nil {
		return fail(err)
	}
	if *sarif != "" {
		if err := writeSARIF(*sarif, r, files); err != nil {
			return fail(err)
		}
	}
	if *asJSON {
		return printJSON(r)
	}
	if *on != "" {
		tellTimes(os.Stderr, gpu, r.Report.Launches)
	}
	return conclude(r)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "flashlab-run:", err)
	var c *device.CompileError
	if errors.As(err, &c) || errors.Is(err, program.ErrNotLoaded) {
		return notBuilt
	}
	return broken
}

// split takes the program's files from the front of the arguments.
func split(args []string) (files, rest []string) {
	for i, a := range args {
		switch filepath.Ext(a) {
		case ".cu", ".cpp", ".cc", ".cxx", ".c":
			files = append(files, a)
			continue
		}
		if a == "--" {
			i++
		}
		return files, args[i:]
	}
	return files, nil
}

// cacheDir is FLASHLAB_CACHE, or the user's own.
func cacheDir() (string, error) {
	if dir := os.Getenv("FLASHLAB_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; name one in FLASHLAB_CACHE", err)
	}
	return filepath.Join(dir, "flashlab"), nil
}

// code is what the command returns.
func code(r *program.Result) int {
	switch {
	case len(r.Report.Findings) > 0:
		return findings
	case r.Signal != "":
		return broken
	}
	return r.Code
}

func conclude(r *program.Result) int {
	for _, f := range r.Report.Notes {
		fmt.Fprintln(os.Stderr, "note:", f)
	}
	for _, o := range r.Report.Overfull {
		fmt.Fprintf(os.Stderr, "note: in %d launches the simulator could not keep %s: what it did not keep was not checked\n", o.Launches, o.What)
	}
	if r.Signal != "" {
		fmt.Fprintln(os.Stderr, "flashlab-run: the program ended by a", r.Signal)
	}
	if n := len(r.Report.Findings); n > 0 {
		s := "s"
		if n == 1 {
			s = ""
		}
		fmt.Fprintf(os.Stderr, "flashlab-run: %d finding%s", n, s)
		if r.Signal == "" && r.Code != 0 {
			fmt.Fprintf(os.Stderr, "; the program itself returned %d", r.Code)
		}
		fmt.Fprintln(os.Stderr)
	}
	return code(r)
}

// writeSARIF names each file as it was named on the command line; a header by its plain name.
func writeSARIF(name string, r *program.Result, files []string) error {
	var b bytes.Buffer
	err := program.WriteSARIF(&b, r.Report.Findings, r.Report.Notes, func(file string) string {
		for _, f := range files {
			if filepath.Base(f) == file {
				return filepath.ToSlash(f)
			}
		}
		return file
	})
	if err != nil {
		return err
	}
	return cache.WriteFile(name, b.Bytes(), 0o644)
}

func printJSON(r *program.Result) int {
	e := json.NewEncoder(os.Stderr)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fail(err)
	}
	return code(r)
}
