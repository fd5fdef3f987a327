package sim

import (
	"regexp"
	"strings"
)

// What a kernel's code may call outside of its own file. Whatever of it takes a pointer is a function of the
// runtime's: a hook, or one that the linker puts in the C library's place.

// libraryNumbers are functions of the C library's mathematics that take and give numbers alone, each of
// doubles and, with an f behind it, of floats.
var libraryNumbers = strings.Fields(`exp exp2 exp10 expm1 log log2 log10 log1p logb ilogb pow sqrt cbrt hypot
	sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma j0 j1 jn y0 y1 yn
	floor ceil round lround llround rint lrint llrint nearbyint trunc fmod remainder fma fmin fmax fdim fabs
	copysign nextafter ldexp scalbn scalbln`)

// libraryPointers are those that read or write where a pointer says (runtime/mathematics.cpp).
var libraryPointers = strings.Fields("frexp modf nan remquo sincos")

// libraryMemory moves and fills memory (runtime/hooks.cpp), and libraryHeap is the heap (runtime/heap.cpp):
// malloc, free, new and delete.
var (
	libraryMemory = strings.Fields("memcpy memmove memset")
	libraryHeap   = strings.Fields("malloc free _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm")
)

// floatsToo are names, and those of the same functions of floats.
func floatsToo(names []string) (all []string) {
	for _, name := range names {
		all = append(all, name, name+"f")
	}
	return all
}

// wrapped are functions of the C library's in whose place a module's calls reach __wrap_… of the runtime.
var wrapped = append(append(floatsToo(libraryPointers), libraryMemory...), libraryHeap...)

var wrapFlag = "-Wl,--wrap=" + strings.Join(wrapped, ",--wrap=")

// compilersCalls are the calls that compilers put into kernels, all of which the runtime has, and libgcc's bit count.
// _ZTH…: clang's initialiser of a thread-local variable, weak, of which there is none.
const compilersCalls = `__tsan_(unaligned_)?(volatile_)?(read|write|read_write)(1|2|4|8|16)|__tsan_(init|func_entry|func_exit)|__tsan_(read|write)_range|` +
	`__tsan_mem(cpy|set|move)|__ubsan_handle_out_of_bounds|__sanitizer_cov_trace_pc|__tls_get_addr|_GLOBAL_OFFSET_TABLE_|__popcountdi2|_ZTH\w+`

// allowedCalls are all: the simulator's own names among them, which no kernel's file can say.
var allowedCalls = regexp.MustCompile(`^(simt_\w+|` + compilersCalls + `|` + strings.Join(append(floatsToo(libraryNumbers), wrapped...), "|") + `)$`)
