package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// TestKernelsShareNoVariable: a variable of a module is one for all launches of it, and two streams may launch at once.
// So a counter, say, lies in memory that the caller hands over. Held are the solutions, their versions, and what
// they and the models include.
func TestKernelsShareNoVariable(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	folders := []string{"nn", "device/include", "device/nvcc/include"}
	for _, one := range registry.All {
		folders = append(folders, one.Dir)
	}
	files := 0
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			name := strings.TrimSuffix(path, ".diff")
			short, relErr := filepath.Rel(root, path)
			require.NoError(t, relErr)
			_, _, students := registry.All.Owner(short)
			students = students && !strings.Contains(short, "/solution/")
			if err != nil || entry.IsDir() || students || !slices.Contains([]string{".cu", ".cuh", ".h"}, filepath.Ext(name)) {
				return err
			}
			text, err := os.ReadFile(path)
			if name != path {
				text = []byte(added(string(text)))
			}
			files++
			assert.Empty(t, variables(string(text)), "%s: a module keeps this between launches, and two streams may launch at once: hand it over as a parameter", short)
			return err
		}))
	}
	require.Greater(t, files, 100)
}

// added are the lines that a diff of a version adds.
func added(diff string) string {
	var lines []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") {
			lines = append(lines, line[1:])
		}
	}
	return strings.Join(lines, "")
}

var (
	comments  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(\\.|[^"\\\n])*"`)
	alignment = regexp.MustCompile(`\b(__align__|alignas|__attribute__)\s*\(+[^()]*\)+`)
	// What is declared, to where it is a function, or has a value, or ends. A function's name has its bracket behind it;
	// a pointer to a function has a star in it.
	declared = regexp.MustCompile(`\b(__device__|__managed__|static)\b[^;{}()=]*(\(\s*\*|[;{}()=])`)
	constant = regexp.MustCompile(`\b(const|constexpr|__constant__|__shared__)\b`)
)

// variables are the declarations of a kernel's text that a module keeps, and that code may write to.
func variables(text string) (found []string) {
	text = alignment.ReplaceAllString(comments.ReplaceAllString(text, " "), " ")
	for _, at := range declared.FindAllStringIndex(text, -1) {
		one := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
		line := text[strings.LastIndexAny(text[:at[0]], ";{}\n")+1 : at[1]] // with what is before the word
		function := strings.HasSuffix(one, "(") || strings.HasSuffix(one, ")")
		if !function && !constant.MatchString(line) {
			found = append(found, one)
		}
	}
	return found
}

func TestVariables(t *testing.T) {
	for _, text := range []string{
		"__device__ unsigned done[4];", "__device__ int n = 3;", "static __device__ float4 corner{1, 2};", "__managed__ int x;",
		"__device__ __align__(16) float room[64];", "__device__ float (*chosen)(float);", "__device__ void f() { static int calls; }",
		"template <int N> __device__ int of[N];", "extern __device__ int elsewhere;", "__device__ volatile int flag, other;",
	} {
		assert.Len(t, variables(text), 1, text)
	}
	for _, text := range []string{
		"__device__ __forceinline__ float f(float x) {", "__constant__ float table[4];", "static constexpr int N = 4;", "static __device__ int pair(int i) {",
		"__device__ const int N = 4;", "constexpr __device__ int N = 4;", "// __device__ int gone;", "__shared__ float tile[4]; __device__ void g();",
		"template <class T = int> __device__ T h(T x);", "__device__ operator float() const {", "const auto f = [] __device__(int x) {",
		`asm("__device__ int x;");`, "__device__ Zero(unsigned zero = 0) {", "struct S { static __device__ int n(); };",
	} {
		assert.Empty(t, variables(text), text)
	}
}
