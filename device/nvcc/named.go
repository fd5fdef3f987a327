package nvcc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"flashlab/device"
	"flashlab/device/cubin"
	"flashlab/device/sim/hostside"
)

// translateNamed compiles a file whose kernels need constants to be found by, which stand behind it.
func (j job) translateNamed(dir string, flags []string, r reading) ([]byte, error) {
	all, err := r.holders(j.src)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 { // templates that nobody asks for
		return j.translate(dir, flags)
	}
	code, wrong, err := j.withHolders(dir, flags, all)
	if len(wrong) == 0 {
		if err != nil {
			return nil, err
		}
		return code, j.checkNamed(code, all, r)
	}
	// A constant is wrong, or the file before it is, and then what is said of the file alone is what counts.
	if err := j.rewrite(dir, ""); err != nil {
		return nil, err
	}
	if _, err := j.translate(dir, flags); err != nil {
		return nil, err
	}
	for i, h := range all {
		if message, ok := wrong[i]; ok && h.asked {
			return nil, r.refuse(j.src, hostside.Base(h.name), hostside.Misfit(r.kernels, h.name, message))
		}
	}
	// Nobody asked for these, so the file goes without: one may have been read wrongly.
	fine := slices.Clone(all[:0])
	for i, h := range all {
		if _, ok := wrong[i]; !ok {
			fine = append(fine, h)
		}
	}
	if code, _, err = j.withHolders(dir, flags, fine); err != nil {
		return nil, err
	}
	return code, j.checkNamed(code, fine, r)
}

// withHolders compiles the file with these constants behind it. Where the compiler finds fault with some,
// wrong is what it says first of each.
func (j job) withHolders(dir string, flags []string, all []held) (code []byte, wrong map[int]string, err error) {
	text, first := writeHolders(all)
	if err := os.WriteFile(filepath.Join(dir, holdersName), []byte(text), 0o600); err != nil {
		return nil, nil, fmt.Errorf("nvcc: %w", err)
	}
	if err := j.rewrite(dir, fmt.Sprintf("\n\n#include %q\n", holdersName)); err != nil { // a \ may end the text
		return nil, nil, err
	}
	code, err = j.translate(dir, flags)
	var e *device.CompileError
	if errors.As(err, &e) {
		wrong = map[int]string{}
		for _, d := range e.Diagnostics {
			if i := d.Line - first; d.File == holdersName && d.Severity == "error" && wrong[max(i, 0)] == "" {
				wrong[max(i, 0)] = d.Text
			}
		}
	}
	return code, wrong, err
}

// rewrite writes the file again, with something behind it.
func (j job) rewrite(dir, more string) error {
	if err := os.WriteFile(filepath.Join(dir, j.src.Name), []byte(j.src.Text+more), 0o600); err != nil {
		return fmt.Errorf("nvcc: %w", err)
	}
	return nil
}

// checkNamed makes sure that what the source asks for is in the machine code, as kernels.
func (j job) checkNamed(code []byte, all []held, r reading) error {
	found, err := cubin.Kernels(code)
	if err != nil {
		return fmt.Errorf("compile %s: %w", j.src.Name, err)
	}
	if len(found) != len(all) {
		return fmt.Errorf("compile %s: the machine code of nvcc %s names %d of %d kernels", j.src.Name, j.tk.Version, len(found), len(all))
	}
	for i, h := range all {
		if h.asked && found[i].Symbol == "" {
			return r.refuse(j.src, hostside.Base(h.name), hostside.Misfit(r.kernels, h.name, ""))
		}
	}
	return nil
}
