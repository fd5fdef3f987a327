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
	"flashlab/device/nvcc"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/grader/grading/gate"
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
