package copies

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestStatements(t *testing.T) {
	count := func(name, text string) int { return len(statements(cut(name, []byte(text)))) }
	assert.Equal(t, 5, count("a.cu", "for (int i = 0; i < n; i++) { x[i] = y[i]; } if (a > b) x = y + 1; else z += w * 2;"))
	assert.Equal(t, 2, count("a.cu", "x[i] = f(a, b), y = z * 3;"))
	assert.Equal(t, 2, count("a.go", "x[i] = f(a, b)\ny = z * 3"))
	assert.Zero(t, count("a.cu", "{ i++; } )) ]"))
	one, other := statements(cut("a.cu", []byte("if (x > 3) y[i] = z;"))), statements(cut("b.cu", []byte("if (a > 7) { int t = 0 * a; b[j] = c; }")))
	assert.Equal(t, []uint64{one[0].hash, one[1].hash}, []uint64{other[0].hash, other[2].hash}, "braces, names and what stands between change nothing")
}

// computing are statements whose results nobody uses, around one of a function.
var computing = map[string][]string{
	".cu": {"… extra = 3 * threadIdx.x + 1;", "… if (extra > 5) { extra -= 2; }", "extra ^= 0x55; … extra += blockDim.x;", "if (extra != 7) { … }", "do { … } while (extra < 0);", "float unused = 2.0f * extra, … "},
	".go": {"extra = 3*len(more) + 1\n…", "if extra > 5 {\nextra -= 2\n}\n…", "extra ^= 0x55\n_ = extra\n…", "for extra < 0 {\nextra++\n}\n…"},
}

// surrounded is what a function of the course is, its statements surrounded.
func surrounded(name, body, by string) (string, error) {
	if path.Ext(name) == ".cu" {
		code := device.BlankNonCode(body)
		var text strings.Builder
		from, depth := 0, 0
		for i, c := range code {
			switch c {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '{', '}':
				text.WriteString(body[from : i+1])
				from = i + 1
			case ';':
				if depth == 0 {
					text.WriteString(strings.Replace(by, "…", comment.ReplaceAllString(body[from:i+1], ""), 1))
					from = i + 1
				}
			}
		}
		return text.String() + body[from:], nil
	}
	const head = "package p\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, head+body, 0)
	if err != nil {
		return "", err
	}
	var places []int
	ast.Inspect(file, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		}
		for _, one := range list {
			if _, clause := one.(*ast.CaseClause); !clause {
				places = append(places, set.Position(one.Pos()).Offset)
			}
		}
		return true
	})
	text := head + body
	slices.Sort(places)
	for _, at := range slices.Backward(slices.Compact(places)) {
		text = text[:at] + strings.TrimSuffix(by, "…") + text[at:]
	}
	return text, nil
}

// TestStatementsThatComputeHideNoCopy: each function that the course ships, with statements around each of its own whose
// results nobody uses. Those that consist of what many files have cannot be told that way.
func TestStatementsThatComputeHideNoCopy(t *testing.T) {
	root, l := course(t)
	walked, anybodys, kernels := 0, 0, 0
	for _, f := range l.Functions {
		ext := path.Ext(f.File)
		if f.own == 0 {
			anybodys++
			if ext == ".cu" {
				kernels++
			}
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, f.File))
		require.NoError(t, err)
		body := strings.Join(strings.Split(string(data), "\n")[f.From-1:f.To], "\n")
		for _, by := range computing[ext] {
			text, err := surrounded(f.File, body, by)
			require.NoError(t, err, "%s:%d", f.File, f.From)
			found := l.Find("task4_flash/kernels"+ext, []byte(text))
			assert.True(t, slices.ContainsFunc(found, func(c Copy) bool { return c.Of.File == f.File && c.Of.From == f.From || c.Share > 0.9 }), "%s:%d with %q", f.File, f.From, by)
			walked++
		}
	}
	assert.Greater(t, walked, 7000)
	assert.Less(t, kernels, 20)
	t.Logf("%d copies of %d functions; %d more are anybody's, %d of them kernels", walked, len(l.Functions)-anybodys, anybodys, kernels)
}
