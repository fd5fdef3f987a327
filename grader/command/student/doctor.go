package student

import (
	"flag"
	"fmt"
	"strings"

	"flashlab/device/nvcc"
	"flashlab/grader/command"
	"flashlab/grader/demo"
)

// Doctor shows that this machine can grade by doing it, in small.
var Doctor = command.Command{Name: "doctor", Summary: "check that this machine can grade", Group: command.Itself,
	Define: func(f *flag.FlagSet) command.Run {
		quiet := f.Bool("quiet", false, "print nothing if all is well")
		return func([]string) (int, error) { return doctor(*quiet) }
	}}

func doctor(quiet bool) (int, error) {
	say := func(format string, a ...any) {
		if !quiet {
			fmt.Printf(format+"\n", a...)
		}
	}
	info, err := demo.Probe()
	if err != nil {
		return command.Failed, err
	}
	say("simulator: works; kernels are compiled by %s", info.ToolkitVersion)
	gpus, err := nvcc.GPUs()
	if err != nil {
		say("GPU:       none: %v", err)
		say("           (none is needed: all but speed is graded in the simulator)")
		return command.Full, nil
	}
	say("GPU:       %s", strings.Join(gpus, ", "))
	if tk, err := nvcc.Find(); err != nil {
		say("nvcc:      none, so the GPU is not used: %v", err)
	} else {
		say("nvcc:      %s (%s)", tk.Version, tk.Nvcc)
	}
	return command.Full, nil
}
