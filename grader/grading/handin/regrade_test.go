package handin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARequestComesBackAsItWasWritten(t *testing.T) {
	var file []byte
	var want []Request
	for i, reason := range []string{"It is right.", "two\nlines", `a "quoted" \ word`, `"""`, `\`, `"`, "# no comment", "[[request]]", "ends with a quote\"", "Привет 作業"} {
		r := Request{Task: "2", Check: "softmax", Case: fmt.Sprint(i, "x113"), Receipt: "ab12 cd34 ef56", Reason: reason}
		file, want = AddRequest(file, r), append(want, r)
		got, err := Requests(file)
		require.NoError(t, err, "%q", reason)
		assert.Equal(t, want, got, "%q", reason)
	}
	assert.Equal(t, 1, strings.Count(string(file), "make pack"), "the remarks stand once")
	plain, err := Requests([]byte("[[request]]\ntask = 2\ncheck = \"softmax\"\nreason = \"r\"\n"))
	require.NoError(t, err)
	assert.Equal(t, []Request{{Task: "2", Check: "softmax", Reason: "r"}}, plain, "a number is a task, too")
	assert.Equal(t, "2/softmax", plain[0].What())
	none, err := Requests(nil)
	assert.NoError(t, err)
	assert.Empty(t, none)
}

func TestWhatIsWrongWithARequestIsSaid(t *testing.T) {
	good := "[[request]]\ntask = \"2\"\ncheck = \"softmax\"\nreason = \"r\"\n"
	for file, why := range map[string]string{
		"[[request]\n": "line 2", "[[request]]\ncheck = \"a\"\nreason = \"r\"\n": "task or check is missing", "[[request]]\ntask = 2\nreason = \"r\"\n": "task or check is missing",
		"[[request]]\ntask = 2\ncheck = \"softmax\"\nreason = \"\"\"\n\n\"\"\"\n": "2/softmax has no reason", "[[request]]\npoints = 5\n": "a key \"request.points\"",
		"request = 3\n": "", strings.Repeat(good, 21): "21 requests", good + "#" + strings.Repeat("x", largestFile): "64 are read",
		strings.Replace(good, `"r"`, `"`+strings.Repeat("é", 2001)+`"`, 1): "2001 characters", strings.Replace(good, "softmax", strings.Repeat("s", 101), 1): "101 characters",
	} {
		_, err := Requests([]byte(file))
		require.Error(t, err, "%.60q", file)
		assert.ErrorContains(t, err, why, "%.60q", file)
	}
}

func TestARequestHasAnIDOfItsOwn(t *testing.T) {
	r := Request{Task: "2", Check: "softmax", Case: "a", Receipt: "ab12 cd34 ef56", Reason: "r"}
	seen := map[string]bool{r.ID("ada"): true}
	for _, other := range []Request{{"4", "softmax", "a", r.Receipt, "r"}, {"2", "gemm", "a", r.Receipt, "r"}, {"2", "softmax", "", r.Receipt, "r"}, {"2", "softmax", "a", "", "r"}, {"2", "softmax", "a", r.Receipt, "s"}} {
		assert.False(t, seen[other.ID("ada")], "%+v", other)
		seen[other.ID("ada")] = true
	}
	assert.False(t, seen[r.ID("bob")])
	r.Receipt = "ab12cd34ef56"
	assert.True(t, seen[r.ID("ada")], "blanks in a receipt are nothing")
	assert.Len(t, r.ID("ada"), 8)
}
