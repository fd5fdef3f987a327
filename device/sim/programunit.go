package sim

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/hostside"
)

// unit is one file of a program, preprocessed and with its host side left in.
type unit struct {
	stripped
	source moduleSource
	text   string
	ptx    bool
}

// notForHosts are flags that kernels have and that a host's code cannot live with.
var notForHosts = []string{"-fno-exceptions", "-fno-rtti", "-fno-extern-tls-init"}

func (b *programBuild) flags() []string {
	return slices.DeleteFunc(b.c.kernelFlags(b.options.Checks), func(f string) bool { return slices.Contains(notForHosts, f) })
}

// Flag 3 marks the system's files; the simulator's own have no absolute path.
var fileMarker = regexp.MustCompile(`(?m)^# \d+ "(/[^"]+)"([ 0-9]*)$`)

// preprocess reads a file, with CUDA's words left in.
func (b *programBuild) preprocess(dir, file string) (*unit, error) {
	main, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	u := &unit{source: moduleSource{name: filepath.Base(file), text: string(main), checks: b.options.Checks, program: b.files}}
	b.files.texts[file] = string(main)
	u.args = append(b.flags(), hidePath(dir), "-iquote", filepath.Dir(file))
	if filepath.Ext(file) != ".cu" { // nvcc leaves it to the host's compiler
		u.args = append(u.args, "-DSIMT_HOST_FILE")
	}
	u.args = append(u.args, b.src.Compile...)
	u.args = append(u.args, "-I", programLink+"/include", "-I", headersLink, "-include", "simt.h", "-include", "program/program.h")
	for {
		before := ""
		if u.ptx {
			before = "#include \"simt/ptx.h\"\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "marked.cpp"), []byte(before+fmt.Sprintf("#include %q\n", file)), 0o644); err != nil {
			return nil, err
		}
		if out, err := b.c.run(dir, append(slices.Clone(u.args), "-DSIMT_MARKS", "-E", "marked.cpp", "-o", "marked.ii")...); err != nil {
			return nil, withoutHeader(compileError(u.source, out, err))
		}
		data, err := os.ReadFile(filepath.Join(dir, "marked.ii"))
		if err != nil {
			return nil, err
		}
		u.text = string(data)
		for _, m := range fileMarker.FindAllStringSubmatch(u.text, -1) {
			if _, seen := b.files.texts[m[1]]; !seen && !strings.Contains(m[2], "3") {
				if text, err := os.ReadFile(m[1]); err == nil {
					b.files.texts[m[1]] = string(text)
				}
			}
		}
		u.code = device.BlankNonCode(u.text)
		if u.ptx || !usesPTX.MatchString(b.ownCode(u)) {
			break
		}
		u.ptx = true
	}
	u.where = markers(u.text)
	u.Result = hostside.Strip(u.text, u.code, ownParts(u.text, u.source))
	return u, nil
}

// ownCode is what of a preprocessed text is from the program's own files.
func (b *programBuild) ownCode(u *unit) string {
	var all strings.Builder
	for _, s := range ownSpans(u.text, u.source) {
		all.WriteString(u.code[s.from:s.to])
	}
	return all.String()
}

// compile makes an object of it. What kernels may come to has a hook for every access; the host's
// functions keep the compiler's own.
func (b *programBuild) compile(dir string, u *unit, object string) error {
	text, err := u.launching()
	if err != nil {
		return err
	}
	u.Text = text
	text = u.plain(ownParts(text, u.source), nil)
	compile := func(nan bool) error {
		text := text
		if nan {
			text, _ = undefinedAsNaN(text, u.source)
		}
		if u.ptx {
			if text, err = u.rewritePTX(text, u.source); err != nil {
				return plainLacking(err)
			}
		}
		return b.assemble(dir, u, text, object)
	}
	if err := compile(b.options.Checks != (Checks{})); err == nil {
		return nil
	}
	return withoutCall(compile(false)) // so that whatever is said is about the file as it is
}

func (b *programBuild) assemble(dir string, u *unit, text, object string) error {
	if err := os.WriteFile(filepath.Join(dir, "unit.cpp"), []byte(text), 0o644); err != nil {
		return err
	}
	args := append(plainArgs(u.args), "-x", "c++-cpp-output")
	if b.options.Checks == (Checks{}) {
		if out, err := b.c.run(dir, append(args, "-c", "unit.cpp", "-o", object)...); err != nil {
			return compileError(u.source, out, err)
		}
		return nil
	}
	if out, err := b.c.run(dir, append(args, "-S", "unit.cpp", "-o", "unit.s")...); err != nil {
		return compileError(u.source, out, err)
	}
	assembly, err := os.ReadFile(filepath.Join(dir, "unit.s"))
	if err != nil {
		return err
	}
	watched, err := b.c.watchKernels(string(assembly))
	if err != nil {
		return oneError(u.source.name, 0, err.Error())
	}
	if err := os.WriteFile(filepath.Join(dir, "watched.s"), []byte(watched), 0o644); err != nil {
		return err
	}
	if out, err := b.c.run(dir, hidePath(dir), "-c", "watched.s", "-o", object); err != nil {
		return compileError(u.source, out, err)
	}
	return nil
}

// plainArgs are those for text that is preprocessed.
func plainArgs(args []string) []string {
	var plain []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-include" || args[i] == "-iquote":
			i++
		case strings.HasPrefix(args[i], "-D") || strings.HasPrefix(args[i], "-U"):
		default:
			plain = append(plain, args[i])
		}
	}
	return plain
}

// checkUnit adds an object's dynamic shared arrays, and refuses static ones that are too large.
func checkUnit(s moduleSource, object string, dynamic map[string]bool) error {
	f, err := elf.Open(object)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	for _, sym := range symbols {
		if elf.ST_TYPE(sym.Info) != elf.STT_TLS || sym.Name == "" {
			continue
		}
		switch outside := sym.Section == elf.SHN_UNDEF; {
		case outside && !strings.HasPrefix(sym.Name, "simt_") && !strings.HasPrefix(sym.Name, "_ZSt"):
			dynamic[sym.Name] = true
		case !outside && sym.Size > 48<<10:
			return oneError(s.name, 0, fmt.Sprintf("a static __shared__ array of %d bytes: CUDA allows %d; use extern __shared__ and give the size at launch", sym.Size, 48<<10))
		}
	}
	return nil
}
