package jail

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Around names the folders that a compiler needs in a sandbox besides the system's own, where it
// was installed elsewhere, as in /opt/gcc/bin: all of that installation, or its folder of
// programs alone where the one above may hold anything, as in /home/me/bin.
func Around(compiler string) (dirs []string) {
	names := []string{compiler}
	if real, err := filepath.EvalSymlinks(compiler); err == nil {
		names = append(names, real)
	}
	for _, name := range names {
		dir := filepath.Dir(name)
		if strings.HasPrefix(dir, "/usr/") || dir == "/bin" {
			continue
		}
		if top := filepath.Dir(dir); filepath.Base(dir) == "bin" && installed(top) {
			dir = top
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// installed tells whether a folder is a compiler's.
func installed(dir string) bool {
	for _, sub := range []string{"lib/gcc", "lib64/gcc", "libexec/gcc", "lib/clang"} {
		if _, err := os.Stat(filepath.Join(dir, sub)); err == nil {
			return true
		}
	}
	return false
}
