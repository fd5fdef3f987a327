package main

import (
	"flag"
	"fmt"
	"strings"

	"flashlab/device/nvcc"
	"flashlab/internal/repo"
)

// envCommand prints what a shell needs for `go test -tags cuda`, and which nvcc
// was found:
//
//	eval "$(go run ./grader env)"
func envCommand(args []string) (int, error) {
	if err := parse(flag.NewFlagSet("env", flag.ContinueOnError), args); err != nil {
		return exitFailed, err
	}
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	tk, err := nvcc.Find()
	if err != nil {
		return exitFailed, err
	}
	for _, e := range append(tk.CgoEnv(root), "NVCC="+tk.Nvcc) {
		name, value, _ := strings.Cut(e, "=")
		fmt.Printf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return exitFull, nil
}
