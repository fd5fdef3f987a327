package nvcc

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/cubin"
	"flashlab/device/preprocess"
	"flashlab/device/sim/hostside"
)

// kernelsHeader is what finds kernels without C linkage in the machine code.
//
//go:embed include/kernels.h
var kernelsHeader string

// holdersName is the header with them. No source can have a file of that name, for it begins with a dot.
const holdersName = ".kernels.h"

// held is a kernel without C linkage, which needs a constant to be found by.
type held struct {
	name       string // what Go asks for it by
	expression string // its address in C++
	params     string
	line       int
	asked      bool // in Source.Kernels; else the file has it anyway
}

// reading are the kernels of a file, as its preprocessor left it.
type reading struct {
	lines   []preprocess.Line
	starts  []int // of the lines in the text that was read
	kernels []hostside.Kernel
}

// cudaWord is how the toolkit's headers write those of CUDA's words that make a kernel, or are its parameter's.
var cudaWord = regexp.MustCompile(`__attribute__\s*\(\(\s*(global|grid_constant)\s*\)\)`)

func readKernels(p preprocess.Text) reading {
	r := reading{lines: p.Lines}
	var text strings.Builder
	for _, l := range p.Lines {
		r.starts = append(r.starts, text.Len())
		text.WriteString(cudaWord.ReplaceAllString(l.Text, "__${1}__") + "\n")
	}
	all := text.String()
	r.kernels = hostside.Strip(all, device.BlankNonCode(all), func(int) bool { return true }).Kernels
	return r
}

// lineOf is where the file itself has a kernel; 0 for a header's.
func (r reading) lineOf(k hostside.Kernel, file string) int {
	at := -1
	for i, start := range r.starts {
		if start > k.At {
			break
		}
		at = i
	}
	if at < 0 || r.lines[at].File != file {
		return 0
	}
	return r.lines[at].Number
}

// holders lists the kernels that need one: those without C linkage, and templates that the source asks for.
func (r reading) holders(src device.Source) ([]held, error) {
	var all []held
	for _, k := range r.kernels {
		if k.Template || k.C {
			continue
		}
		name, expression := hostside.Called(r.kernels, k)
		all = append(all, held{name, expression, k.Params, r.lineOf(k, src.Name), false})
	}
	for _, wanted := range src.Kernels {
		k, fault := hostside.Asked(r.kernels, wanted)
		if fault != "" {
			return nil, r.refuse(src, hostside.Base(wanted), fault)
		}
		if k != nil {
			all = append(all, held{wanted, "&" + wanted, k.Params, r.lineOf(*k, src.Name), true})
		}
	}
	return all, nil
}

// refuse is an error about what the source asks for, at the kernel of that name if there is one.
func (r reading) refuse(src device.Source, name, text string) error {
	line := 0
	for _, k := range hostside.Named(r.kernels, name) {
		if line = r.lineOf(k, src.Name); line > 0 {
			break
		}
	}
	found := []device.Diagnostic{{File: src.Name, Line: line, Severity: "error", Text: text}}
	device.Quote(found, src.Name, src.Text)
	return &device.CompileError{File: src.Name, Diagnostics: found, Output: text}
}

// writeHolders is the header, and the line of its first constant: each kernel has one line, so that what the
// compiler says of a line is about that kernel.
func writeHolders(all []held) (text string, first int) {
	var b strings.Builder
	header := device.GuardedHeader(kernelsHeader)
	b.WriteString(header)
	for i, h := range all {
		fmt.Fprintf(&b, "extern \"C\" __device__ const auto %s%d = flashlab_kernels::flashlab_hold(%s); extern \"C\" __device__ const char %s%d[] = %s;\n",
			cubin.Holder, i, strings.Join(strings.Fields(h.expression), " "), cubin.Signature, i, strconv.QuoteToASCII(cubin.Text(h.name, h.line, h.params)))
	}
	_, numbered, _ := strings.Cut(header, "#line 1\n")
	return b.String(), 1 + strings.Count(numbered, "\n")
}
