package run

import (
	"fmt"
	"path/filepath"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/nvcc"
	"flashlab/device/preprocess"
	"flashlab/device/sim"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
)

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

func (d Devices) passes() []pass {
	simulator := pass{kind: device.Sim, open: func(t *rubric.Task, files []gate.File) (supervise.Backend, error) {
		return supervise.NewSimulator(sim.Options{Checks: sim.AllChecks(), MaxSteps: t.Limits.Steps, Strict: t.Name.WarmUp(), Timeout: t.Limits.CaseTime(), Memory: simulated, Cache: d.Cache, Show: d.Show, Lines: d.Lines, Jail: d.Jail}, rulesWith(t, files), d.ofTheCourse())
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
