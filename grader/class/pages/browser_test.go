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

// The pages are laid out as wide as a desktop's window and a phone's. PAGES_SHOTS=FOLDER keeps the pages,
// to look at.
func TestPagesFitTheirWindows(t *testing.T) {
	chromium := browser(t)
	out := t.TempDir()
	require.NoError(t, Write(out, sample(t, 60)))
	// Each page in a frame of each width, for a window cannot be so narrow. What is wider than its frame would
	// have to be scrolled sideways.
	const script = `<script>onload = () => { const d = document.documentElement; parent.postMessage(name + ": wide " + d.scrollWidth + " of " + d.clientWidth, "*") }</script></body>`
	frames := `<!DOCTYPE html><body><p id="said"></p><script>onmessage = m => { document.getElementById("said").textContent += m.data + ";" }</script>`
	widths := []int{1280, 390}
	names := []string{Report, Class, Leaderboard, filepath.Join("students", "s004", Feedback)}
	for i, name := range names {
		page, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		probed := strings.Replace(string(page), "</body>", script, 1)
		probed = strings.Replace(probed, "default-src 'none';", "", 1) // for our own script
		require.NoError(t, os.WriteFile(filepath.Join(out, fmt.Sprintf("probed%d.html", i)), []byte(probed), 0o644))
		for _, width := range widths {
			frames += fmt.Sprintf(`<iframe name="%s" src="probed%d.html" style="border:0;width:%dpx;height:800px"></iframe>`, name, i, width)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(out, "frames.html"), []byte(frames), 0o644))
	dom := chromium("--window-size=1400,900", "--virtual-time-budget=3000", "--allow-file-access-from-files", "--dump-dom", "file://"+filepath.Join(out, "frames.html"))
	for _, name := range names {
		for _, width := range widths {
			assert.Contains(t, dom, fmt.Sprintf("%s: wide %d of %d;", name, width, width))
		}
	}
	if shots := os.Getenv("PAGES_SHOTS"); shots != "" {
		require.NoError(t, os.RemoveAll(shots))
		require.NoError(t, os.CopyFS(shots, os.DirFS(out)))
	}
}
