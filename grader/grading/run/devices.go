package run

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/nvcc"
	"flashlab/device/preprocess"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/glob"
	"flashlab/internal/jail"
	"flashlab/nn"
)

// Devices are where cases run: a GPU or the simulator for correctness, and the
// simulator, where there is a compiler for it, for safety and traffic.
type Devices struct {
	Asked   device.Kind // what the user named; "" for auto
	Kind    device.Kind // what correctness is measured on
	Why     string      // one sentence: why this one
	GPU     string      // its name
	Cards   []nvcc.Card // all GPUs that may be used, one for each submission at a time
	Toolkit *nvcc.Toolkit
	NoSim   string     // why there is no simulator; "" if there is one
	Cache   string     // the simulator's cache; "" is the usual place
	Show    trace.Show // whose printf the simulator keeps
	Lines   bool       // the simulator tells more of each line
	Sample  int        // so many blocks of each launch run in the simulator, to be counted: see counting
	// Jail runs what holds a submission's code in a sandbox; nil runs it without one.
	Jail jail.CommandFunc
	Root string
}

// Choose picks the devices: "auto", "sim" or "cuda".
func Choose(root, kind string) (Devices, error) {
	d := Devices{Root: root}
	if kind != "" && kind != "auto" {
		d.Asked = device.Kind(kind)
	}
	switch kind {
	case "sim":
		d.Kind, d.Why = device.Sim, "as asked"
		return d, nil
	case "", "auto", "cuda":
	default:
		return d, fmt.Errorf("-device %s: want auto, sim or cuda", kind)
	}
	why := d.findGPU()
	switch {
	case why == "":
		d.Kind, d.Why = device.CUDA, "a GPU and nvcc were found"
		if kind == "cuda" {
			d.Why = "as asked"
		}
		if s, err := sim.Start(sim.Options{}); err != nil {
			d.NoSim = firstLine(err)
			if errors.Is(err, sim.ErrNoCompiler) {
				d.NoSim = "the simulator needs a C++ compiler (make setup)"
			}
		} else {
			s.Close()
		}
		return d, nil
	case kind == "cuda":
		return d, fmt.Errorf("-device cuda: %s", why)
	}
	d.Kind, d.Why = device.Sim, why
	return d, nil
}

// findGPU says why there is no GPU to use; "" if there is one.
func (d *Devices) findGPU() string {
	gpus, err := nvcc.Cards()
	if err != nil {
		return "no GPU: " + firstLine(err)
	}
	if len(gpus) == 0 {
		return "no GPU was found"
	}
	tk, err := nvcc.Find()
	if err != nil {
		return "there is a GPU (" + gpus[0].Name + "), but no nvcc: " + firstLine(err)
	}
	d.GPU, d.Cards, d.Toolkit = gpus[0].Name, nvcc.Apart(gpus), tk
	return ""
}

// gpuThere fails if the driver shows no GPU, say because it fell off its bus.
func gpuThere() error {
	_, err := nvcc.GPUs()
	return err
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(line, device.ErrNoDevice.Error()+": ")
}

// Name is what correctness is measured on, in words.
func (d Devices) Name() string {
	switch {
	case d.Kind == device.CUDA && d.NoSim == "":
		return d.GPU + ", safety and traffic in the simulator"
	case d.Kind == device.CUDA:
		return d.GPU
	}
	return "the simulator"
}

// pass is one device's turn.
type pass struct {
	kind     device.Kind
	tags     string
	buildEnv []string
	runEnv   []string
	read     []string // folders that a worker reads
	open     func(*rubric.Task, []gate.File) (supervise.Backend, error)
	version  string // of the compiler, where the backend does not know
}

// tool is the compiler that kernels are compiled with.
func (p pass) tool(b supervise.Backend) string {
	if s, ok := b.(*supervise.Simulator); ok {
		return s.Info().ToolkitVersion
	}
	return p.version
}

// rulesOf are what a task's files may hold.
func rulesOf(t *rubric.Task) gate.Rules {
	return gate.Rules{PTX: t.PTX, Headers: t.Headers(), Honours: t.Honours, Course: t.Course}
}

// rulesOfAll are what a task's worker may have compiled: kernels of the tasks that it uses, too.
func rulesOfAll(t *rubric.Task) gate.Rules {
	rules := rulesOf(t)
	for _, used := range t.Used {
		rules.Headers = append(rules.Headers, used.Headers()...)
		rules.Course = append(rules.Course, used.Course...)
	}
	return rules
}

// rulesWith are those where headers of a ladder are among the files.
func rulesWith(t *rubric.Task, files []gate.File) gate.Rules {
	rules := rulesOfAll(t)
	for _, f := range files {
		if f.Ladder && filepath.Ext(f.Name) == ".cuh" {
			if rules.Ladder == nil {
				rules.Ladder = map[string]string{}
			}
			rules.Ladder[f.Name] = string(f.Data)
			rules.Headers = append(rules.Headers, f.Name)
		}
	}
	return rules
}

// simulated is the device memory in the simulator, far above what a case needs:
// each byte of it costs the machine several.
const simulated = 1 << 30

// counting is how the simulator runs what an estimate of time is made from: large shapes, of which only some blocks
// run, compiled more as nvcc does. Nothing is looked for, and what is computed is not complete.
func (d Devices) counting(t *rubric.Task) sim.Options {
	return sim.Options{Checks: sim.Checks{Traffic: true}, FLOPs: true, Unroll: true, Sample: d.Sample, As: &device.Info{Arch: "sm_90", Processors: 132}, Timeout: t.Limits.CaseTime(),
		Memory: 4 * simulated, Cache: d.Cache, Jail: d.Jail}
}

func (d Devices) passes() []pass {
	simulator := pass{kind: device.Sim, open: func(t *rubric.Task, files []gate.File) (supervise.Backend, error) {
		if d.Sample > 0 {
			return supervise.NewSimulator(d.counting(t), rulesWith(t, files), d.ofTheCourse())
		}
		return supervise.NewSimulator(sim.Options{Checks: sim.AllChecks(), MaxSteps: t.Limits.Steps, Timeout: t.Limits.CaseTime(), Memory: simulated, Cache: d.Cache, Show: d.Show, Lines: d.Lines, Jail: d.Jail}, rulesWith(t, files), d.ofTheCourse())
	}}
	if d.Kind == device.Sim {
		return []pass{simulator}
	}
	env := gpuEnv(d.Toolkit)
	passes := []pass{{
		read: library(env),
		kind: device.CUDA, version: "nvcc " + d.Toolkit.Version, tags: "cuda", buildEnv: d.Toolkit.CgoEnv(d.Root), runEnv: env,
		open: func(t *rubric.Task, files []gate.File) (supervise.Backend, error) {
			return d.openGPU(rulesWith(t, files))
		},
	}}
	if d.NoSim == "" {
		passes = append(passes, simulator)
	}
	return passes
}

// openGPU has a compiler of its own: strangers' kernels, which are those that run in a sandbox, are
// vetted as they are compiled, and what comes of them is nobody else's.
func (d Devices) openGPU(rules gate.Rules) (*supervise.GPU, error) {
	rules.Provided = provided()
	tk := *d.Toolkit
	tk.Jail = d.Jail
	if base := nvcc.SharedDir(); d.Jail != nil && base != "" {
		var err error
		if tk.Own, err = modules.New(base, supervise.OwnModules, d.ofTheCourse()); err != nil {
			return nil, fmt.Errorf("a folder for compiled kernels: %w", err)
		}
	}
	compile := func(src device.Source, arch string, vetted func(preprocess.Text)) ([]byte, error) {
		compiler := tk
		if !rules.Provided(src) { // that has been read
			compiler.Vet = func(p preprocess.Text) error {
				vetted(p)
				return rules.VetPreprocessed(p)
			}
		}
		return compiler.Compile(src, arch)
	}
	return &supervise.GPU{Compile: compile, Own: tk.Own, Rules: rules, Probe: gpuThere}, nil
}

// provided tells which kernels are those of nn, as it has them.
func provided() func(device.Source) bool {
	all, _ := nn.Sources() // embedded: they are there
	return func(src device.Source) bool {
		return slices.ContainsFunc(all, func(one device.Source) bool { return same(one, src) })
	}
}

// same tells whether a source, in its normal form, is one of the course's.
func same(one, src device.Source) bool {
	return one.Name == src.Name && gate.Normal(one.Text) == src.Text && maps.Equal(one.Defines, src.Defines) && courseFiles(one.Files, src.Files)
}

// ofTheCourse tells which kernels are the same for every submission.
func (d Devices) ofTheCourse() func(device.Source) bool {
	all, _ := nn.Sources() // embedded: they are there
	for _, t := range registry.All {
		headers := textsOf(filepath.Join(d.Root, t.Dir), "*.cuh")
		for name, text := range textsOf(filepath.Join(d.Root, t.Dir), "*.cu") {
			all = append(all, device.Source{Name: name, Text: text, Files: headers})
		}
	}
	return func(src device.Source) bool {
		return slices.ContainsFunc(all, func(one device.Source) bool { return same(one, src) })
	}
}

// courseFiles tells whether what a source includes is the course's, too.
func courseFiles(all, some map[string]string) bool {
	for name, text := range some {
		if ours, ok := all[name]; !ok || gate.Normal(ours) != text {
			return false
		}
	}
	return true
}

// textsOf reads the files that a pattern finds, by name.
func textsOf(folder, pattern string) map[string]string {
	texts := map[string]string{}
	files, _ := glob.In(folder, pattern)
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			texts[filepath.Base(f)] = string(text)
		}
	}
	return texts
}

// cublasEnv names the file of cuBLAS for a worker, which looks for none itself. The
// user's own choice goes before.
const cublasEnv = "FLASHLAB_CUBLAS"

// gpuEnv is what the driver's library and a worker read; nothing else of our environment
// is a worker's business.
func gpuEnv(tk *nvcc.Toolkit) []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name == "LD_LIBRARY_PATH" || name == cublasEnv || strings.HasPrefix(name, "CUDA_") || strings.HasPrefix(name, "NVIDIA_") {
			env = append(env, e)
		}
	}
	if os.Getenv(cublasEnv) == "" {
		if file := tk.Cublas(); file != "" {
			env = append(env, cublasEnv+"="+file)
		}
	}
	return env
}

// library is the folder of cuBLAS, where a sandbox would not show it anyway.
func library(env []string) []string {
	for _, e := range env {
		file, is := strings.CutPrefix(e, cublasEnv+"=")
		if dir := filepath.Dir(file); is && filepath.IsAbs(file) && !strings.HasPrefix(dir, "/usr/") {
			return []string{dir}
		}
	}
	return nil
}
