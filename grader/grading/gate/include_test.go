package gate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/preprocess"
)

var withHeaders = Rules{Headers: []string{"tile.cuh", "merge.cuh"}}

func TestOwnHeadersByTheirPlainNames(t *testing.T) {
	assert.Empty(t, withHeaders.CheckKernel("k.cu", "#include \"tile.cuh\" // loads\n#include <cuda_fp16.h>\n # include\"merge.cuh\"\n"))
	for name, c := range map[string]struct{ text, want string }{
		"the system's":        {`#include "/etc/passwd"`, `k.cu:1: #include "/etc/passwd": name a header of the task's own folder, without a path: tile.cuh, merge.cuh`},
		"a folder above":      {`#include "../tile.cuh"`, `k.cu:1: #include "../tile.cuh": name a header of the task's own folder`},
		"the folder itself":   {`#include "./tile.cuh"`, `#include "./tile.cuh": name a header of the task's own folder`},
		"an absolute one":     {`#include "/tmp/tile.cuh"`, `#include "/tmp/tile.cuh": name a header`},
		"angle brackets":      {`#include <tile.cuh>`, `k.cu:1: #include <tile.cuh>: write #include "tile.cuh" for a file of your own`},
		"not listed":          {`#include "other.cuh"`, `#include "other.cuh": a kernel may include CUDA's headers (cuda_fp16.h, mma.h …), tensorcore.h, early.h, math.h, float.h, stdint.h and the like, and of the task's files tile.cuh, merge.cuh`},
		"the host's":          {`#include <stdlib.h>`, `#include <stdlib.h>: a kernel may include`},
		"another kernel":      {`#include "append.cu"`, `#include "append.cu": a kernel may include`},
		"a Go file":           {`#include "cache.go"`, `#include "cache.go": a kernel may include`},
		"by a macro":          {"#define H \"tile.cuh\"\n#include H\n", "k.cu:2: #include H: write #include <header.h>"},
		"a line that goes on": {"#include \"../\\\ntile.cuh\"\n", `k.cu:1: #include "../tile.cuh": name a header`},
		"two names":           {`#include "tile.cuh" "merge.cuh"`, `k.cu:1: #include "tile.cuh" "merge.cuh"`},
		"next":                {`#include_next "tile.cuh"`, "k.cu:1: #include_next"},
		"embed":               {`#embed "tile.cuh"`, ": this directive is not allowed in a kernel file"},
		"other letters":       {`#include "TILE.CUH"`, `#include "TILE.CUH": a kernel may include`},
	} {
		assert.Contains(t, (&Error{withHeaders.CheckKernel("k.cu", c.text)}).Error(), c.want, name)
	}
	assert.Contains(t, (&Error{Rules{}.CheckKernel("k.cu", `#include "tile.cuh"`)}).Error(), "other helpers go into the file itself", "a task without headers")
}

func TestHoppersHeaderWhereInlinePTXIsAllowed(t *testing.T) {
	const text = "#include <tensorcore.h>\n#include \"early.h\"\n#include <hopper.h>\n"
	assert.Empty(t, Rules{PTX: true}.CheckKernel("k.cu", text))
	assert.EqualError(t, &Error{Rules{}.CheckKernel("k.cu", text)},
		"k.cu:3: #include <hopper.h>: it has inline PTX's instructions, which this task does not allow: write CUDA C++; tensorcore.h has mma and ldmatrix")
	assert.Contains(t, (&Error{Rules{PTX: true}.CheckKernel("k.cu", "#include <unistd.h>\n")}).Error(), "tensorcore.h, early.h, hopper.h, math.h")
	p := preprocess.Text{File: "k.cu", Headers: "/cache/include", Includes: []preprocess.Line{{File: "k.cu", Number: 3, Text: "/cache/include/hopper.h"}}}
	assert.NoError(t, Rules{PTX: true}.VetPreprocessed(p), "also where nothing is translated")
	assert.ErrorContains(t, Rules{}.VetPreprocessed(p), "k.cu:3: #include of /cache/include/hopper.h")
}

func TestFilesThatIncludeThemselves(t *testing.T) {
	check := func(k, tile, merge string) string {
		return (&Error{withHeaders.CheckIncludes([]File{{Name: "k.cu", Path: "k.cu", Data: []byte(k)},
			{Name: "tile.cuh", Path: "t/tile.cuh", Data: []byte(tile)}, {Name: "merge.cuh", Path: "t/merge.cuh", Data: []byte(merge)}})}).Error()
	}
	const tile, merge = "#include \"tile.cuh\"\n", "#include \"merge.cuh\"\n"
	assert.Empty(t, check(tile+merge, "#pragma once\n", tile))
	assert.Equal(t, `t/tile.cuh:2: #include "tile.cuh": a file cannot include itself: remove the line`, check(tile, "#pragma once\n"+tile, ""))
	got := check(tile, merge, tile)
	assert.Contains(t, got, `t/merge.cuh:1: #include "tile.cuh": a file cannot include itself by way of others (tile.cuh → merge.cuh → tile.cuh)`)
	assert.Contains(t, got, `t/tile.cuh:1: #include "merge.cuh"`)
	assert.Contains(t, check(tile, "#if 0\n"+tile+"#endif\n", ""), "cannot include itself", "whatever the condition")
	got = check(strings.Repeat(tile, 50), strings.Repeat(merge, 50), "")
	assert.Contains(t, got, "k.cu: its own headers are read more than 100 times: include each once")
}

func TestVetSourceLooksAtHeaders(t *testing.T) {
	src := device.Source{Name: "k.cu", Text: "#include \"tile.cuh\"\r\n", Files: map[string]string{"tile.cuh": "int x;\r\n", "merge.cuh": ""}}
	vetted, err := withHeaders.VetSource(src)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"tile.cuh": "int x;\n", "merge.cuh": ""}, vetted.Files, "what is compiled is the normal form")
	assert.Equal(t, "int x;\r\n", src.Files["tile.cuh"], "the caller's stays")
	for name, c := range map[string]struct{ file, text, want string }{
		"not listed":      {"other.cuh", "int x;", `k.cu: Files has "other.cuh": want headers that the task's rubric.toml lists among its files: tile.cuh, merge.cuh`},
		"a path":          {"../tile.cuh", "int x;", `Files has "../tile.cuh"`},
		"CUDA's":          {"cuda_fp16.h", "int x;", `Files has "cuda_fp16.h"`},
		"assembly":        {"tile.cuh", "int x;\nvoid f() { asm(\"nop\"); }", "tile.cuh:2: asm: inline assembly"},
		"#line":           {"tile.cuh", "#line 7\n", "tile.cuh:1: #line"},
		"the simulator's": {"tile.cuh", "int simt_access;", "tile.cuh:1: simt_access"},
		"itself":          {"tile.cuh", "#include \"tile.cuh\"\n", `tile.cuh:1: #include "tile.cuh": a file cannot include itself`},
		"too large":       {"tile.cuh", strings.Repeat(" ", MaxFile+1), "tile.cuh: is larger than 1 MB"},
	} {
		src.Files = map[string]string{c.file: c.text}
		_, err := withHeaders.VetSource(src)
		assert.ErrorContains(t, err, c.want, name)
	}
	src.Files = map[string]string{"tile.cuh": "int x;"}
	_, err = Rules{}.VetSource(src)
	assert.ErrorContains(t, err, "it lists none")
}

func TestVetPreprocessedHeaders(t *testing.T) {
	p := preprocess.Text{File: "k.cu", Includes: []preprocess.Line{{File: "k.cu", Number: 1, Text: "tile.cuh"}}}
	assert.NoError(t, withHeaders.VetPreprocessed(p))
	assert.ErrorContains(t, Rules{}.VetPreprocessed(p), "k.cu:1: #include of tile.cuh")
	for _, path := range []string{"/tmp/tile.cuh", "/usr/include/tile.cuh", "sub/tile.cuh"} {
		p.Includes = []preprocess.Line{{File: "merge.cuh", Number: 3, Text: path}}
		assert.ErrorContains(t, withHeaders.VetPreprocessed(p), "merge.cuh:3: #include of "+path)
	}
	p = preprocess.Text{File: "k.cu", Lines: []preprocess.Line{{File: "tile.cuh", Number: 4, Text: `void f() { asm("nop"); }`}}}
	assert.ErrorContains(t, withHeaders.VetPreprocessed(p), "tile.cuh:4: asm")
}

func TestReadHeaders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	names := []string{"k.cu", "tile.cuh", "merge.cuh"}
	write("k.cu", "#include \"tile.cuh\"\n")
	write("tile.cuh", "#include \"merge.cuh\"\n")
	refused := func() string {
		_, err := withHeaders.Read(dir, "p", names)
		var e *Error
		require.True(t, errors.As(err, &e), "%v", err)
		return e.Error()
	}
	assert.Contains(t, refused(), "merge.cuh: is missing")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "merge.cuh")))
	assert.Contains(t, refused(), "merge.cuh: is a symbolic link")
	require.NoError(t, os.Remove(filepath.Join(dir, "merge.cuh")))
	write("merge.cuh", "#include \"tile.cuh\"\n")
	assert.Contains(t, refused(), "by way of others")
	write("merge.cuh", "asm(\"nop\");\n")
	assert.Contains(t, refused(), "merge.cuh:1: asm")
	write("merge.cuh", "#pragma once\n")
	files, err := withHeaders.Read(dir, "p", names)
	require.NoError(t, err)
	assert.Len(t, files, 3)
}
