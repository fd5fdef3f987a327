package gate

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The language's own list: what the simulator's headers declare for kernels to use. All else that they declare is the
// simulator's, and named so that the gate refuses it.
//
//go:embed testdata/language.txt
var languageList string

// language is that list by namespace; those outside of any are in "", and macros in "macros".
func language() map[string][]string {
	names, section := map[string][]string{}, ""
	for line := range strings.Lines(languageList) {
		switch title, isTitle := strings.CutSuffix(strings.TrimSpace(line), ":"); {
		case strings.HasPrefix(line, "#"):
		case isTitle:
			section = strings.TrimSuffix(title, ":")
		default:
			names[section] = append(names[section], strings.Fields(line)...)
		}
	}
	return names
}

// Whatever the simulator's headers declare is the language's, or no kernel can say it.
func TestNoNameOutsideTheLanguageResolves(t *testing.T) {
	listed, tried, refused := language(), 0, 0
	declared := newReader(t).declared()
	for namespace, names := range declared {
		for _, name := range names {
			said := namespace + "::" + name
			if namespace == "macros" {
				said = name
			}
			r := Rules{PTX: true}.CheckKernel("k.cu", "auto x = "+said+";")
			tried++
			if !slices.Contains(listed[namespace], name) {
				assert.NotEmpty(t, r, "kernels can say %s: if CUDA has it, add it to testdata/language.txt; else "+
					"give it a name that begins with simt_, or move it into a namespace that does", said)
				refused++
				continue
			}
			assert.Empty(t, r, "%s is of the language", said)
		}
	}
	for namespace, names := range listed {
		for _, name := range names {
			assert.Contains(t, declared[namespace], name, "testdata/language.txt has %s::%s, which no header declares", namespace, name)
		}
	}
	t.Logf("%d names tried, %d of them refused", tried, refused)
	assert.Greater(t, refused, 200)
	assert.Greater(t, tried-refused, 1000)
}

// A call finds the functions of its arguments' namespaces, too. Of types that a kernel can name, or deduce from a
// function that it can name, none lies where functions of the simulator's do.
func TestNoFunctionIsFoundByAnArgument(t *testing.T) {
	const types = `#include "everything.h"
template <class R> R rounding(__half (*)(double, R));
template <class L> L last(void (*)(const CUtensorMap &, const void *, int, int, int, L));
using namespace nvcuda::wmma;
struct Tile : cooperative_groups::thread_block_tile<32> {};
`
	arguments := []string{"decltype(rounding(&__half::from))", "decltype(last(&tma_store))", "Tile",
		"cooperative_groups::coalesced_group", "fragment<matrix_a, 16, 16, 16, half, row_major>", "curandState", "float4", "__half2", "__nv_bfloat16",
		"Mbarrier", "cuda::atomic<int>", "cuda::barrier<cuda::thread_scope_block>", "cuda::pipeline<cuda::thread_scope_thread>"}
	r := newReader(t)
	declared, everywhere := r.declared(), map[string]bool{}
	var all []qualified
	for _, inside := range declared {
		for _, name := range inside {
			all = append(all, qualified{"", name})
		}
	}
	known := r.resolving(library, all)
	for _, namespace := range []string{"", "nvcuda::wmma", "cooperative_groups", "cuda", "macros"} {
		for _, name := range declared[namespace] {
			everywhere[name] = true
		}
	}
	r.write("types.h", types)
	controls := []string{"namespace control { void f(cooperative_groups::coalesced_group &a) { sync(a); } }"} // which is found so
	for i, argument := range arguments {
		controls = append(controls, fmt.Sprintf("namespace control_%d { void f(%s &a) {} }", i, argument))
	}
	for i, wrong := range r.errorsOf("types.h", controls) {
		assert.Empty(t, wrong, controls[i])
	}
	var tries, names, bare []string
	for namespace, inside := range declared {
		if !strings.Contains(namespace, "simt") {
			continue
		}
		for _, name := range inside {
			for _, argument := range arguments {
				if !everywhere[name] && !known[qualified{"", name}] {
					bare = append(bare, name)
					names = append(names, name+" by an argument of type "+argument)
					tries = append(tries, fmt.Sprintf("namespace try_%d { void f(%s &a) { %s(a); } }", len(tries), argument, name))
				}
			}
		}
	}
	wrong := r.errorsOf("types.h", tries)
	for i, name := range names {
		assert.Regexp(t, `\W`+regexp.QuoteMeta(bare[i])+`\W+ was not declared in this scope`, wrong[i], "a kernel can call %s", name)
	}
	assert.Greater(t, len(tries), 1000)
}
