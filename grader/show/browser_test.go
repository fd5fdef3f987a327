package show

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
)

// The page is laid out as wide as a desk's window and a phone's, and its script runs: one kernel shows,
// and folded lines are hidden.
func TestThePageFitsItsWindow(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no Chromium here: how the page looks in a browser is not tested")
	}
	r := sampled()
	r.Findings = []trace.Finding{race()}
	r.Sources[0].Text += strings.Repeat("\n// nothing", 80) + "\n" + strings.Repeat("wide_", 60)
	more := r.Counts[0]
	more.Kernel = strings.Repeat("g", 40)
	r.Counts = append(r.Counts, more)
	const script = `<script>onload = () => { const d = document.documentElement; parent.postMessage([name, "wide", d.scrollWidth, "of", d.clientWidth,
		"kernels", document.querySelectorAll("section.kernel:not([hidden])").length, "folded", document.querySelectorAll("tbody[hidden]").length].join(" "), "*") }</script></body>`
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page.html"), []byte(strings.Replace(written(t, r), "</body>", script, 1)), 0o644))
	frames := `<!DOCTYPE html><body><p id="said"></p><script>onmessage = m => { document.getElementById("said").textContent += m.data + ";" }</script>`
	for _, width := range []int{1280, 390} {
		frames += fmt.Sprintf(`<iframe name="w%d" src="page.html" style="border:0;width:%dpx;height:800px"></iframe>`, width, width)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames.html"), []byte(frames), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + t.TempDir(), "--window-size=1400,900",
		"--virtual-time-budget=3000", "--allow-file-access-from-files", "--dump-dom", "file://" + filepath.Join(dir, "frames.html")}
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...) // Chromium's own does not work for root
	}
	dom, err := exec.CommandContext(ctx, chromium, args...).Output()
	require.NoError(t, err)
	for _, width := range []int{1280, 390} {
		assert.Contains(t, string(dom), fmt.Sprintf("w%d wide %d of %d kernels 1 folded 2;", width, width, width))
	}
}
