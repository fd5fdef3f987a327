package ptx

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func everywhere(int) bool { return true }

// rewrite translates text whose strings hold no brackets and whose comments are gone.
func rewrite(text string) (string, []*Error) { return Rewrite(text, blankStrings(text), everywhere) }

func blankStrings(text string) string {
	out, inside := []byte(text), false
	for i, c := range out {
		switch {
		case c == '"':
			inside = !inside
		case inside && c != '\n':
			out[i] = ' '
		}
	}
	return string(out)
}

func TestLinesStayWhereTheyWere(t *testing.T) {
	text := "int a;\nasm volatile(\"add.u32 %0, %1, 1;\"\n  : \"=r\"(x)\n  : \"r\"(y)\n);\nint b;\n"
	got, errs := rewrite(text)
	require.Empty(t, errs)
	assert.Equal(t, strings.Count(text, "\n"), strings.Count(got, "\n"))
	assert.Equal(t, "int b;", strings.Split(got, "\n")[5])
	assert.NotContains(t, got, "asm")
}

func TestBrokenTextIsAnErrorNotAPanic(t *testing.T) {
	whole := "asm volatile(\"{ .reg .pred p<4>; setp.eq.and.s32 p0|p1, %1, -1, !p2; @!p0 ld.global.v2.u32 {%0, %2}, [%3+4]; }\" : \"=r\"(a) : \"r\"(b), [n] \"n\"(3), \"l\"(q) : \"memory\");"
	for i := range whole {
		_, _ = rewrite(whole[:i])
		_, _ = rewrite(whole[:i] + whole[min(i+1, len(whole)):])
	}
	for name := range families {
		for _, rest := range []string{"", ".", ".u32", ".sync", ".async.ca", ".sync.aligned.m8n8.x4.b16", ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ".f16x2", ".pred"} {
			for _, args := range []string{"", "%0", "%0, %0", "[%0], %0", "{%0, %0}, [%0]", "%0, %0, %0, %0", "{, }, [", "%0|, %9"} {
				_, _ = rewrite("asm(\"" + name + rest + " " + args + ";\" : \"+r\"(x));")
			}
		}
	}
}

// The README's list is made from the code: print Served() to renew it.
func TestTheREADMEListsWhatIsServed(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	list := "- " + strings.Join(Served(), "\n- ") + "\n"
	assert.Contains(t, string(readme), list, "device/sim/README.md should have\n%s", list)
}

// A blank before a dot may be left out, as ptxas has it; elsewhere there may be any number of them.
func TestBlanksAreAsFreeAsInPTXAS(t *testing.T) {
	for _, text := range []string{
		"{.reg .f32 t<2>;mov.f32 t1,%1;mov.f32 %0,t1;}",
		"{.reg.f32 t<2>;mov.f32 t1,%1;mov.f32 %0,t1;}",
		"{.reg.v2.f32 t;}",
		"{ \\n\\t.reg\\t.f32   t<2> ; mov.f32   t1 , %1 ;mov.f32 %0,t1; ; }",
	} {
		_, errs := rewrite("asm(\"" + text + "\" : \"=f\"(y) : \"f\"(x));")
		assert.Empty(t, errs, text)
	}
}
