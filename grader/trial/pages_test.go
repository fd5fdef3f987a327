package trial

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWrongPagesAreNamed: task b6's optional check is a test of Go's that the grader does not run. So its
// mutants are edits of the solution's kernel that this test must fail, and it must say why.
func TestWrongPagesAreNamed(t *testing.T) {
	if os.Getenv(allMutants) == "" {
		t.Skip("make test-all tries the mutants")
	}
	t.Parallel()
	root := ready(t)
	for _, m := range []struct {
		name, says string
		edits      []string // what is found, and what takes its place
	}{
		{"table_off_by_one", "token p of sequence b is on page table[b, p / 16]", []string{
			"pages[key / KEYS] : 0", "pages[key / KEYS + 1] : 0",
			"pages[(key + step) / KEYS]", "pages[(key + step) / KEYS + 1]"}},
		{"one_row_of_the_table", "every sequence reads the first row of the table", []string{
			"table + sequence * ((slots + KEYS - 1) / KEYS)", "table"}},
		{"last_page_to_its_end", "the last page is read to its end, and 0 · NaN is NaN", []string{
			"fetch(to, k + (size_t)at(key) * pitch, pitch, length - key)", "fetch(to, k + (size_t)at(key) * pitch, pitch, KEYS)",
			"fetch(to + TILE, v + (size_t)at(key) * pitch, pitch, length - key)", "fetch(to + TILE, v + (size_t)at(key) * pitch, pitch, KEYS)"}},
		{"heads_before_slots", "key heads are mapped wrongly in the pool", []string{
			"pitch = kvHeads * DIM", "pitch = DIM",
			"return page * KEYS;", "return page * KEYS * kvHeads;",
			"cache = kvHead * DIM", "cache = kvHead * KEYS * DIM"}},
		{"length_rounded_up", "the length is rounded up to whole pages", []string{
			"min(max(lengths[sequence], 0), slots)", "min((max(lengths[sequence], 0) + KEYS - 1) / KEYS * KEYS, slots)"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			task := filepath.Join(root, "bonus", "b6_decode")
			kernel, err := os.ReadFile(filepath.Join(task, "solution", "kernels.cu"))
			require.NoError(t, err)
			text := string(kernel)
			for i := 0; i < len(m.edits); i += 2 {
				require.Equal(t, 1, strings.Count(text, m.edits[i]), "how often the kernel has %q", m.edits[i])
				text = strings.Replace(text, m.edits[i], m.edits[i+1], 1)
			}
			dir := t.TempDir()
			wrong, overlay := filepath.Join(dir, "kernels.cu"), filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(wrong, []byte(text), 0o644))
			files, err := json.Marshal(map[string]map[string]string{"Replace": {
				filepath.Join(task, "kernels.cu"): wrong,
				filepath.Join(task, "decode.go"):  filepath.Join(task, "solution", "decode.go"),
			}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, files, 0o644))
			test := exec.Command("go", "test", "-vet=off", "-overlay="+overlay, "./bonus/b6_decode", "-run", "TestPages")
			test.Dir = root
			said, err := test.CombinedOutput()
			require.Error(t, err, "the mutant passes")
			assert.Contains(t, string(said), m.says)
		})
	}
}
