package student

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"flashlab/device/nvcc"
	"flashlab/grader/command"
	"flashlab/grader/demo"
	"flashlab/grader/edition"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Doctor shows that this machine can grade by doing it, in small.
var Doctor = command.Command{Name: "doctor", Summary: "check that this machine can grade", Group: command.Itself,
	Define: func(f *flag.FlagSet) command.Run {
		quiet := f.Bool("quiet", false, "print nothing if all is well")
		file := f.String("o", "", "a `file` to write the report to as well, for a lab book or a bug report")
		return func([]string) (int, error) { return doctor(*quiet, *file) }
	}}

func doctor(quiet bool, file string) (int, error) {
	info, err := demo.Probe()
	if err != nil {
		return command.Failed, err
	}
	if quiet && file == "" {
		return command.Full, nil
	}
	report := append(machine(), "simulator: works; kernels are compiled by "+info.ToolkitVersion)
	report = append(report, gpu()...)
	text := strings.Join(report, "\n") + "\n"
	if !quiet {
		harmless.Printf("%s", text)
	}
	if file == "" {
		return command.Full, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return command.Failed, fmt.Errorf("doctor: %w", err)
	}
	text = "date:      " + time.Now().UTC().Format("2 January 2006, 15:04 UTC") + "\n" + text
	if err := cache.WriteFile(file, []byte(text), 0o644); err != nil {
		return command.Failed, fmt.Errorf("doctor: %w", err)
	}
	if !quiet {
		harmless.Println("Written:", file)
	}
	return command.Full, nil
}

// machine is what a result may depend on besides the code.
func machine() []string {
	all := []string{
		"machine:   " + strings.Join(known(system(), runtime.GOOS+"/"+runtime.GOARCH, processor(), fmt.Sprintf("%d processors", runtime.NumCPU())), "; "),
		"Go:        " + strings.TrimPrefix(runtime.Version(), "go"),
	}
	if root, err := repo.Root(); err == nil {
		all = append(all, "course:    "+edition.Name(root))
	}
	return all
}

func known(words ...string) (all []string) {
	for _, w := range words {
		if w != "" {
			all = append(all, w)
		}
	}
	return all
}

func system() string {
	return strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`)
}

func processor() string { return field("/proc/cpuinfo", "model name", ":") }

// field is the first value of a name in a file of lines; "" without one.
func field(file, name, sign string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if left, value, is := strings.Cut(lines.Text(), sign); is && strings.TrimSpace(left) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func gpu() []string {
	gpus, err := nvcc.GPUs()
	if err != nil {
		return []string{
			fmt.Sprintf("GPU:       none: %v", err),
			"           (none is needed: all but speed is graded in the simulator)",
		}
	}
	all := []string{"GPU:       " + strings.Join(gpus, ", ")}
	if tk, err := nvcc.Find(); err != nil {
		return append(all, fmt.Sprintf("nvcc:      none, so the GPU is not used: %v", err))
	} else {
		return append(all, fmt.Sprintf("nvcc:      %s (%s)", tk.Version, tk.Nvcc))
	}
}
