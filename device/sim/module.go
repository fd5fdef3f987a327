package sim

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/internal/cache"
)

// moduleSource is a .cu file on its way to a shared object.
type moduleSource struct {
	name, text string
	defines    map[string]string
	files      map[string]string // what it includes of its own
	wanted     []string          // kernels that are templates
	checks     Checks
	vet        func(Preprocessed) error
	headers    headers
	program    *programFiles // a whole program's; nil: a module of kernels
}

func (s moduleSource) key(c *compiler) string {
	parts := []string{c.key(), sourcesKey(), passesKey(), strings.Join(c.kernelFlags(s.checks), " "), s.name, s.text}
	for _, texts := range []map[string]string{s.defines, s.files} {
		parts = append(parts, fmt.Sprint(len(texts)))
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			parts = append(parts, name, texts[name])
		}
	}
	parts = append(parts, s.wanted...)
	return cache.Key(parts...)
}

// cachedModule builds a module unless it has been built before, by whomever; what nobody
// vetted is vetted first. Two processes may build the same one at once: each renames its
// own result into place.
func (c *compiler) cachedModule(cacheDir, dir string, s moduleSource) (string, built, error) {
	so, b, err := c.cached(cacheDir, dir, s)
	if err == nil && s.vet != nil {
		b.Refused = append(b.Refused, readVetted(so).Refused...)
	}
	return so, b, err
}

func (c *compiler) cached(cacheDir, dir string, s moduleSource) (string, built, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", built{}, err
	}
	so := filepath.Join(dir, s.key(c)+".so")
	before, err := readBuilt(so)
	there := err == nil
	if there && (s.vet == nil || readVetted(so).Forms != nil) {
		return so, before, nil
	}
	include, err := includeDir(cacheDir)
	if err != nil {
		return "", built{}, err
	}
	if there {
		return so, before, c.vetBuilt(include, s, so)
	}
	s.headers = c.headersFor(cacheDir, include, s)
	b, err := c.buildModule(include, s, so)
	if s.headers.unreadable(err) {
		s.headers = headers{}
		b, err = c.buildModule(include, s, so)
	}
	return so, b, err
}

// buildModule vets one .cu file, and compiles and links it into so.
func (c *compiler) buildModule(include string, s moduleSource, so string) (built, error) {
	dir, err := os.MkdirTemp(filepath.Dir(so), ".build-*")
	if err != nil {
		return built{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // in a sandbox the compiler is another user
		return built{}, err
	}
	r, args, err := c.prepare(include, dir, s, so)
	if err != nil {
		return built{}, err
	}
	var made built
	var dynamic []string
	for {
		dynamic, err = c.compileStripped(dir, args, s, r, &made)
		lacks := r.lacks(err, s)
		if lacks == nil {
			break
		}
		lost, rest := r.Without(lacks.places)
		if rest > 0 || len(r.Kernels) == 0 {
			return built{}, lacks.compileError()
		}
		for _, k := range lost {
			made.Refused = append(made.Refused, refused{k.Kernel, lacks.found[k.Reason]})
		}
	}
	if err != nil {
		return built{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "shared.s"), []byte(sharedWindow(dynamic)), 0o644); err != nil {
		return built{}, err
	}
	// -Bsymbolic: a module's own functions stay its own. --wrap: see calls.go. Of the libraries it needs
	// those that allowedCalls names: reading the C++ one, and start-up code, takes longer than all else.
	out, err := c.run(dir, "-shared", "-nostartfiles", "-nodefaultlibs", "-Wl,-Bsymbolic", wrapFlag,
		"-o", "module.so", "module.o", "shared.s", "-lm", "-lgcc", "-lc")
	if err != nil {
		return built{}, compileError(s, out, err)
	}
	made.Constants, made.Unset = r.Constants, r.Unset
	if err := made.write(so); err != nil {
		return built{}, err
	}
	return made, os.Rename(filepath.Join(dir, "module.so"), so)
}

// compileStripped compiles what is left of a file to module.o, and lists its dynamic
// shared arrays.
func (c *compiler) compileStripped(dir string, args []string, s moduleSource, r stripped, made *built) ([]string, error) {
	if err := s.checkSupported(r); err != nil {
		return nil, err
	}
	var err error
	if made.Entries, err = s.entries(r, made.Refused); err != nil {
		return nil, err
	}
	compile := func(nan bool) error {
		args, err := c.writeModule(dir, args, s, r, c.table(made.Entries), nan)
		if err != nil {
			return err
		}
		return s.blameAsked(r.nameUnknown(c.compile(dir, args, s)), r, made.Entries)
	}
	if err = compile(s.checks != (Checks{})); err != nil {
		err = compile(false) // so that whatever is said is about the file as it is
	}
	if err != nil {
		return nil, err
	}
	return checkObject(s, r.Host, filepath.Join(dir, "module.o"))
}

// compile makes module.o of module.cpp, by way of assembly in which every access has a hook.
func (c *compiler) compile(dir string, args []string, s moduleSource) error {
	if s.checks == (Checks{}) {
		out, err := c.run(dir, append(args, "-c", "module.cpp", "-o", "module.o")...)
		if err != nil {
			return compileError(s, out, err)
		}
		return nil
	}
	if out, err := c.run(dir, append(s.headers.with(args, plainLink), "-S", "module.cpp", "-o", "module.s")...); err != nil {
		return compileError(s, out, err)
	}
	assembly, err := os.ReadFile(filepath.Join(dir, "module.s"))
	if err != nil {
		return err
	}
	watched, err := c.watch(string(assembly))
	if err != nil {
		return oneError(s.name, 0, err.Error())
	}
	if err := os.WriteFile(filepath.Join(dir, "watched.s"), []byte(watched), 0o644); err != nil {
		return err
	}
	if out, err := c.run(dir, hidePath(dir), "-c", "watched.s", "-o", "module.o"); err != nil {
		return compileError(s, out, err)
	}
	return nil
}

// write writes the source and what it includes into the build's folder.
func (s moduleSource) write(dir string) error {
	for name := range s.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(numbered(s.files, name)), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, definesName), []byte(device.Source{Defines: s.defines}.DefineLines()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, s.name), []byte(s.text), 0o644)
}

// sharedWindow is the assembly that gives `extern __shared__` arrays their
// place: all of them at the start of one window, as CUDA has it.
func sharedWindow(dynamic []string) string {
	var b strings.Builder
	b.WriteString(".section .tbss.zzz,\"awT\",@nobits\n.balign 1024\n")
	for _, name := range append([]string{"simt_dynamic_shared"}, dynamic...) {
		fmt.Fprintf(&b, ".globl %s\n.type %s,@object\n%s:\n", name, name, name)
	}
	fmt.Fprintf(&b, ".zero %d\n.section .note.GNU-stack,\"\",@progbits\n", maxShared)
	return b.String()
}

// checkObject lists the dynamic shared arrays of a compiled file, and refuses
// what a GPU does not have.
func checkObject(s moduleSource, host map[string]bool, object string) ([]string, error) {
	f, err := elf.Open(object)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if startsCode(f) {
		return nil, oneError(s.name, 0, "a variable outside of functions is initialised by code (a constructor, or a computed value): CUDA allows constants there only")
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	var dynamic []string
	for _, sym := range symbols {
		if sym.Section != elf.SHN_UNDEF && (hooks.MatchString(sym.Name) || strings.HasPrefix(sym.Name, "simt_") && elf.ST_TYPE(sym.Info) == elf.STT_FUNC && sym.Name != "simt_touch_shared") {
			file, line := s.find(sym.Name, lineOf)
			return nil, oneError(file, line, fmt.Sprintf("%s is the simulator's own function: take another name", sym.Name))
		}
		if sym.Section != elf.SHN_UNDEF || sym.Name == "" {
			if size, limit := sym.Size, uint64(48<<10); elf.ST_TYPE(sym.Info) == elf.STT_TLS && size > limit {
				return nil, oneError(s.name, 0, fmt.Sprintf("a static __shared__ array of %d bytes: CUDA allows %d; use extern __shared__ and give the size at launch", size, limit))
			}
			continue
		}
		if elf.ST_TYPE(sym.Info) == elf.STT_TLS {
			if !strings.HasPrefix(sym.Name, "simt_") {
				dynamic = append(dynamic, sym.Name)
			}
			continue
		}
		if !allowedCalls.MatchString(sym.Name) {
			file, line := s.find(sym.Name, whereUsed)
			return nil, oneError(file, line, refusal(sym.Name, host))
		}
	}
	slices.Sort(dynamic)
	return dynamic, nil
}

// hooks are what the compiler makes a kernel call: were one of them defined in its
// own file, nobody would see its accesses.
var hooks = regexp.MustCompile(`^(__tsan_|__ubsan_|__sanitizer_|__tls_get_addr$|__(wrap|real)_)`)

// startsCode tells whether code of a file would run when it is loaded, before any
// kernel. The instrumentation's own start-up code, which has a separate priority, is
// not the file's.
func startsCode(f *elf.File) bool {
	for _, s := range f.Sections {
		own := s.Name == ".init_array.00099" || s.Name == ".init_array.0"
		for _, prefix := range []string{".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors"} {
			if strings.HasPrefix(s.Name, prefix) && !own && s.Size > 0 {
				return true
			}
		}
	}
	return false
}

func oneError(file string, line int, text string) error {
	return &device.CompileError{File: file, Output: text,
		Diagnostics: []device.Diagnostic{{File: file, Line: line, Severity: "error", Text: text}}}
}
