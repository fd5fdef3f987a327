package amd

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"flashlab/device/nvcc"
)

// Line tells of one file: how many kernels each compiler made of it.
func (r Result) Line() string {
	if r.Not != "" {
		return fmt.Sprintf("%s: left out: %s", r.Title(), r.Not)
	}
	var said []string
	for i, c := range r.Chips {
		said = append(said, Chips[i].Arch+" "+c.said())
	}
	if r.NVCC != nil {
		said = append(said, "nvcc "+r.NVCC.said())
	}
	return r.Title() + ": " + strings.Join(said, "; ")
}

func (c Compiled) said() string {
	switch n := len(c.Kernels); {
	case c.Failed != "":
		return "fails: " + c.Failed
	case n == 1:
		return "1 kernel"
	default:
		return fmt.Sprintf("%d kernels", n)
	}
}

// Summary counts.
func Summary(all []Result) string {
	tried, well := 0, 0
	for _, r := range all {
		if r.Not != "" {
			continue
		}
		tried++
		if r.failure() == "" {
			well++
		}
	}
	return fmt.Sprintf("%d of %d files without tensor cores and PTX compile for every chip; %d have them and were left out", well, tried, len(all)-tried)
}

func (r Result) failure() string {
	for _, c := range r.Chips {
		if c.Failed != "" {
			return c.Failed
		}
	}
	return ""
}

// Failed tells whether a file does not compile for some chip.
func Failed(all []Result) bool {
	return slices.ContainsFunc(all, func(r Result) bool { return r.failure() != "" })
}

var number = regexp.MustCompile(`\d+(?:\.\d+)+(?:-\d+)?`)

// Versions names the compilers.
func Versions(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "hipcc", "--version").Output()
	found := number.FindAllString(string(out), 2)
	text := "By hipcc"
	if len(found) > 0 {
		text += " " + found[0]
	}
	if len(found) > 1 {
		text += " (clang " + found[1] + ")"
	}
	if tk, err := nvcc.Find(); err == nil {
		text += " and nvcc " + tk.Version
	}
	return text + ". Registers are of a lane or thread. LDS and shared memory are in bytes of a block, without what a\nlaunch adds. Scratch is what does not fit into registers, in bytes of a lane. Waves are what a SIMD holds at a time, by\nregisters and LDS."
}
