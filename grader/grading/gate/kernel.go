package gate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
)

// allowedHeaders is what a kernel may include: the CUDA headers that the
// simulator knows as well, the course's own, and those of C and C++ that only hold numbers.
var allowedHeaders = map[string]bool{
	"cuda.h": true, "cuda_runtime.h": true, "cuda_runtime_api.h": true, "cuda_fp16.h": true, "cuda_bf16.h": true, "cuda_fp8.h": true,
	"mma.h": true, "cooperative_groups.h": true, "cooperative_groups/reduce.h": true,
	"cuda_pipeline.h": true, "cuda_pipeline_primitives.h": true, "tensorcore.h": true, "early.h": true,
	"device_launch_parameters.h": true, "math_constants.h": true, "vector_types.h": true,
	"math.h": true, "float.h": true, "limits.h": true, "stdint.h": true, "stddef.h": true, "stdio.h": true, "assert.h": true,
	"cmath": true, "cfloat": true, "climits": true, "cstdint": true, "cstddef": true, "cstdio": true, "cassert": true,
	"limits": true, "type_traits": true,
}

// ptxHeader is the course's own for Hopper's instructions: a task's kernels may include it where they may
// hold inline PTX.
const ptxHeader = "hopper.h"

// allows tells whether a kernel may include a header that is not the task's own.
func (r Rules) allows(header string) bool {
	return allowedHeaders[header] || header == ptxHeader && r.PTX || slices.Contains(r.Course, header)
}

var (
	includeForm = regexp.MustCompile(`^include\s*([<"])([^>"]*)[>"]\s*$`)
	lineMarker  = regexp.MustCompile(`^(line\b|\d)`)
	// Those that change no code: an editor's folds, and which warnings nvcc gives.
	pragmaAllowed = regexp.MustCompile(`^pragma\s+(unroll\b|once\s*$|region\b|endregion\b|mark\b|nv_diag_\w+\b|nv_diagnostic\b)`)
	plainHash     = regexp.MustCompile(`^(define|undef|if|ifdef|ifndef|elif|else|endif|error|warning)\b`)
	nullDirective = regexp.MustCompile(`^\s*$`)

	asmWord      = regexp.MustCompile(`\b(asm|__asm|__asm__)\b`)
	pragmaWord   = regexp.MustCompile(`\b(_Pragma|__pragma)\b`)
	attribute    = regexp.MustCompile(`\b__attribute(__)?\b`)
	alignedOnly  = regexp.MustCompile(`^__attribute(__)?\s*\(\(\s*(__)?aligned(__)?\s*(\(\s*\w+\s*\))?\s*\)\)`)
	cxxAttribute = regexp.MustCompile(`\[\s*\[`)
	cxxPlain     = regexp.MustCompile(`^\[\s*\[\s*(maybe_unused|nodiscard|likely|unlikely|fallthrough|noreturn)\s*\]\s*\]`)
	// The simulator's own names, and those of compilers' runtimes: a file that defines one of them would answer in its
	// place. All that the simulator's headers declare beyond the language is so named, or lies in a namespace that is.
	reserved = regexp.MustCompile(`\b(simt|simt_\w*|SIMT_\w*|__tls_get_addr|__(atomic|sync)_\w*|_*(tsan|ubsan|asan|sanitizer)_\w*|__(wrap|real|cxa|cyg|gcov)_\w*|_dl_\w*|_ZTH\w*|_init|_fini)\b`)
	builtin  = regexp.MustCompile(`\b__builtin_\w+`)
	// Those that nvcc knows as well; others store and jump unobserved.
	plainBuiltin = regexp.MustCompile(`^__builtin_(expect|unreachable|assume|assume_aligned|trap|popcount(ll?)?|clz(ll?)?|ctz(ll?)?|ffs(ll?)?|bswap\d+|nanf?|inff?|huge_valf?|isnan|isinf|isfinite|signbit|bit_cast|mem(cpy|set|move)|offsetof|align_up|align_down|is_constant_evaluated)$`)
	// What lies inside of CUDA's own headers: the simulator's have nothing there, nvcc's may.
	insideCUDA = regexp.MustCompile(`\b(nvcuda|cooperative_groups|cuda)(\s*::\s*\w+)*\s*::\s*detail\b`)
	pasting    = regexp.MustCompile(`##`)
	digraph    = regexp.MustCompile(`%:|<:|<%`)
	global     = regexp.MustCompile(`<::([A-Za-z_])`) // since C++11 no digraph: '<' and '::'
	rawString  = regexp.MustCompile(`\b(u8|u|U|L)?R"`)
)

// CheckKernel looks at the text of a .cu file or a header. It is not a parser of C++: it
// refuses the words by which a kernel could leave the instrumented path
// (assembly, attributes, headers of the host), anywhere except in comments and
// strings.
func (r Rules) CheckKernel(path, text string) []Refusal {
	var refused []Refusal
	refuse := func(line int, what, do string) {
		refused = append(refused, Refusal{path, line, what, do})
	}
	plain, code := readable(text)
	if at := rawString.FindStringIndex(code); at != nil {
		refuse(1+strings.Count(code[:at[0]], "\n"), "holds a raw string", "a kernel needs none")
	}
	for i, l := range strings.Split(code, "\n") {
		if readsAsTrigraph(plain[i], l) {
			refuse(i+1, "holds a trigraph", "write the character itself")
		}
		r.checkHasInclude(i+1, plain[i], l, refuse)
		if d, ok := hashed(plain[i], l); ok {
			if open := strings.LastIndex(plain[i], "/*"); open >= 0 && !strings.Contains(plain[i][open:], "*/") {
				refuse(i+1, "a comment that runs on behind a directive", "end it on the same line")
			}
			r.checkDirective(i+1, d, refuse)
			if r.PTX && asmWord.MatchString(l) {
				refuse(i+1, asmWord.FindString(l)+" in a macro", "write the asm statement in a __device__ function, and call that")
				continue
			}
		}
		r.checkWords(i+1, l, refuse)
	}
	checkBroken(code, refuse)
	if r.PTX {
		checkStatements(code, refuse)
	}
	return refused
}

// VetSource checks what a program asks the compiler to build, macros among it:
// Go code can put a kernel together at run time. What is then compiled is its normal form.
func (r Rules) VetSource(src device.Source) (device.Source, error) {
	src.Text = Normal(src.Text)
	if r.Provided != nil && r.Provided(src) {
		r.PTX = true
	}
	src = src.With(r.Ladder)
	files := []File{{Name: src.Name, Path: src.Name, Data: []byte(src.Text)}}
	refused := r.CheckKernel(src.Name, src.Text)
	headers := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(src.Files)) {
		if !slices.Contains(r.Headers, name) {
			refused = append(refused, Refusal{src.Name, 0, fmt.Sprintf("Files has %q", name), "want headers that the task's rubric.toml lists among its files: " + r.headers()})
			continue
		}
		headers[name] = Normal(src.Files[name])
		refused = append(refused, r.CheckKernel(name, headers[name])...)
		files = append(files, File{Name: name, Path: name, Data: []byte(headers[name])})
	}
	if src.Files != nil {
		src.Files = headers
	}
	refused = append(refused, r.CheckIncludes(files)...)
	for name, value := range src.Defines {
		if asks.MatchString(name + " " + value) {
			refused = append(refused, Refusal{src.Name, 0, "in a macro: __has_include", "write it in the .cu file"})
		}
		Rules{}.checkWords(0, name+" "+value, func(_ int, what, do string) {
			refused = append(refused, Refusal{src.Name, 0, "in a macro: " + what, do})
		})
		if !macroName.MatchString(name) || !macroValue.MatchString(value) {
			refused = append(refused, Refusal{src.Name, 0, fmt.Sprintf("the macro %q = %q", name, value),
				"Defines take a name, and for it a number or one other name: what is more belongs into the .cu file"})
		}
	}
	for _, k := range src.Kernels {
		if !kernelName.MatchString(k) {
			refused = append(refused, Refusal{src.Name, 0, fmt.Sprintf("in Kernels: %q", k), "name a kernel, with its template's arguments: k<float, 4>"})
		}
		Rules{}.checkWords(0, k, func(_ int, what, do string) {
			refused = append(refused, Refusal{src.Name, 0, "in Kernels: " + what, do})
		})
	}
	for _, f := range files {
		if len(f.Data) > MaxFile {
			refused = append(refused, Refusal{f.Path, 0, "is larger than 1 MB", "hand in source text only"})
		}
	}
	if len(refused) > 0 {
		return src, &Error{refused}
	}
	return src, nil
}

const attributesAllowed = "only [[maybe_unused]], [[nodiscard]], [[likely]], [[unlikely]] and [[fallthrough]] are allowed"

var (
	macroName  = regexp.MustCompile(`^[A-Za-z_]\w{0,63}$`)
	kernelName = regexp.MustCompile(`^[A-Za-z_]\w*(?:<[\w ,:<>+-]*>)?$`)
	// A number, maybe negative or in parentheses, or one name: nothing of which a text could be put together.
	macroValue = regexp.MustCompile(`^(?:\(?-?\.?\d(?:[eEpP][+-]|[\w.]){0,62}\)?|[A-Za-z_]\w{0,63})?$`)
)

func (r Rules) checkDirective(line int, d string, refuse func(int, string, string)) {
	switch {
	case strings.HasPrefix(d, "include"):
		r.checkInclude(line, d, refuse)
	case lineMarker.MatchString(d):
		refuse(line, "#line", "remove it: messages name your own lines")
	case strings.HasPrefix(d, "pragma"):
		if !pragmaAllowed.MatchString(d) {
			refuse(line, "#"+d, "only #pragma unroll, once, region and nv_diag_… are allowed")
		}
	case plainHash.MatchString(d), nullDirective.MatchString(d):
	default:
		refuse(line, "#"+d, "this directive is not allowed in a kernel file")
	}
}

// checkBroken looks for attributes whose two brackets are on two lines: checkWords sees one line.
func checkBroken(code string, refuse func(int, string, string)) {
	for _, at := range cxxAttribute.FindAllStringIndex(code, -1) {
		if strings.Contains(code[at[0]:at[1]], "\n") && !cxxPlain.MatchString(code[at[0]:]) {
			refuse(1+strings.Count(code[:at[0]], "\n"), "a C++ attribute [[…]] over two lines", attributesAllowed)
		}
	}
}

// find is what an expression finds in a text; none without one of the words that all it finds contains.
// Looking for those is twenty times as fast, and most texts have none.
func find(e *regexp.Regexp, text string, words ...string) string {
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
		return ""
	}
	return e.FindString(text)
}

// reservedIn is the first reserved name of a text. What it finds is always a whole word, simt or one with a _ in it,
// so no other need be compared.
func reservedIn(text string) string {
	for from := 0; from < len(text); {
		end := from
		for end < len(text) && wordByte(text[end]) {
			end++
		}
		if word := text[from:end]; (strings.Contains(word, "_") || word == "simt") && reserved.FindString(word) == word {
			return word
		}
		from = end + 1
	}
	return ""
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (r Rules) checkWords(line int, l string, refuse func(int, string, string)) {
	if m := find(asmWord, l, "asm"); m != "" && !r.PTX {
		refuse(line, m, "inline assembly is not allowed in this task: write it in CUDA C++; tensorcore.h has mma and ldmatrix")
	}
	if m := find(pragmaWord, l, "_pragma", "_Pragma"); m != "" {
		refuse(line, m, "write #pragma unroll on a line of its own")
	}
	for _, at := range attribute.FindAllStringIndex(l, -1) {
		if !alignedOnly.MatchString(l[at[0]:]) {
			refuse(line, "__attribute__", "only __attribute__((aligned(n))) is allowed; __align__(n) and __launch_bounds__ are CUDA's own words")
		}
	}
	for _, at := range cxxAttribute.FindAllStringIndex(l, -1) {
		if !cxxPlain.MatchString(l[at[0]:]) {
			refuse(line, "a C++ attribute [[…]]", attributesAllowed)
		}
	}
	if m := reservedIn(l); m != "" {
		refuse(line, m, "this name is the simulator's own: take another")
	}
	if m := find(insideCUDA, l, "detail"); m != "" {
		refuse(line, m, "it lies inside of CUDA's headers: use what CUDA's manual names")
	}
	for _, m := range builtin.FindAllString(l, -1) {
		if !plainBuiltin.MatchString(m) {
			refuse(line, m, "this function of the host's compiler is not allowed: write it in CUDA C++")
		}
	}
	if m := pasting.FindString(l); m != "" {
		refuse(line, m, "write names out: macros that put words together are not allowed")
	}
	if m := digraph.FindString(global.ReplaceAllString(l, "< ::$1")); m != "" {
		refuse(line, "the digraph "+m, "write the character itself, or a space between the two")
	}
}
