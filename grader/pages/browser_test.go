package pages

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
)

// browser finds a Chromium, or skips the test.
func browser(t *testing.T) func(args ...string) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return func(args ...string) string {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				all := append([]string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + t.TempDir()}, args...)
				if os.Getuid() == 0 {
					all = append([]string{"--no-sandbox"}, all...) // Chromium's own does not work for root
				}
				out, err := exec.CommandContext(ctx, path, all...).Output()
				require.NoError(t, err)
				return string(out)
			}
		}
	}
	t.Skip("there is no Chromium here: how the pages look in a browser is not tested")
	return nil
}

// The pages are laid out in a window of a desktop's and of a phone's width. PAGES_SHOTS=FOLDER keeps
// pictures of them.
func TestPagesFitTheirWindows(t *testing.T) {
	chromium := browser(t)
	out := t.TempDir()
	require.NoError(t, Write(out, sample(t, 60)))
	feedback := filepath.Join("students", "s004", Feedback)
	for _, name := range []string{Report, Class, feedback} {
		page, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		for _, width := range []int{1280, 390} {
			// The page in a frame of that width: the window itself cannot be so narrow. What is wider than the
			// frame would have to be scrolled sideways.
			frame := filepath.Join(out, "frame.html")
			const probe = `<!DOCTYPE html><body style="margin:0"><iframe src="probed.html" style="border:0;width:%dpx;height:800px"></iframe><p id="said"></p>
<script>onmessage = m => { document.getElementById("said").textContent = m.data }</script>`
			const script = `<script>onload = () => { const d = document.documentElement; parent.postMessage("wide " + d.scrollWidth + " of " + d.clientWidth + ", high " + d.scrollHeight, "*") }</script></body>`
			probed := strings.Replace(string(page), "</body>", script, 1)
			probed = strings.Replace(probed, "default-src 'none';", "", 1) // for our own script
			require.NoError(t, os.WriteFile(filepath.Join(out, "probed.html"), []byte(probed), 0o644))
			require.NoError(t, os.WriteFile(frame, fmt.Appendf(nil, probe, width), 0o644))
			dom := chromium("--window-size=1400,900", "--virtual-time-budget=3000", "--allow-file-access-from-files", "--dump-dom", "file://"+frame)
			assert.Contains(t, dom, fmt.Sprintf("wide %d of %d", width, width), "%s in %d pixels", name, width)
		}
	}
	if shots := os.Getenv("PAGES_SHOTS"); shots != "" {
		require.NoError(t, os.RemoveAll(filepath.Join(shots, "pages")))
		require.NoError(t, os.CopyFS(filepath.Join(shots, "pages"), os.DirFS(out)))
	}
}
