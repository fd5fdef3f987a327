package student

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"flashlab/device/nvcc"
	"flashlab/grader/command"
	"flashlab/grader/demo"
	"flashlab/internal/repo"
)

// Demo shows a race and its report.
var Demo = command.Command{Name: "demo", Summary: "show how the simulator reports a bug",
	Define: command.Do(func() error { return demo.Race(os.Stdout) })}

// Env prints what a shell needs for `go test -tags cuda`, and which nvcc was found:
//
//	eval "$(go run ./grader env)"
var Env = command.Command{Name: "env", Group: command.Itself, Summary: "print the environment for  go test -tags cuda", Define: command.Do(environment)}

func environment() error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	tk, err := nvcc.Find()
	if err != nil {
		return err
	}
	for _, e := range append(tk.CgoEnv(root), "NVCC="+tk.Nvcc) {
		name, value, _ := strings.Cut(e, "=")
		fmt.Printf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return nil
}

// Version prints which commit this is.
var Version = command.Command{Name: "version", Group: command.Itself, Summary: "print the version", Define: command.Do(version)}

func version() error {
	version := "unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version = s.Value + ", " + version
			}
		}
	}
	fmt.Println("flashlab grader,", version)
	return nil
}
