package nvcc

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"flashlab/internal/glob"
)

// Cublas finds the file of cuBLAS: the toolkit's own, or the one that PyTorch's wheels
// bring; "" where there is neither, and the system's loader is left to look.
func (tk *Toolkit) Cublas() string {
	root := filepath.Dir(filepath.Dir(tk.Nvcc))
	if file := newest(under([]string{root}, "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")); file != "" {
		return file
	}
	return newest(wheels())
}

// wheels are the folders of NVIDIA's libraries that pip has installed for python3. Their
// names depend on the release of CUDA.
func wheels() (dirs []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// Finding a package, unlike importing it, takes no time.
	out, err := exec.CommandContext(ctx, "python3", "-c",
		"import importlib.util as u; s = u.find_spec('nvidia'); print('\\n'.join(s.submodule_search_locations if s else []))").Output()
	if err != nil {
		return nil
	}
	for _, dir := range strings.Fields(string(out)) {
		dirs = append(dirs, filepath.Join(dir, "cublas", "lib"))
		versions, _ := glob.In(dir, "cu[0-9]*/lib")
		dirs = append(dirs, versions...)
	}
	return dirs
}

// newest is the library with the highest number in the first folder that has any.
func newest(dirs []string) string {
	for _, dir := range dirs {
		files, _ := glob.In(dir, "libcublas.so.[0-9][0-9]") // in order
		if len(files) > 0 {
			return files[len(files)-1]
		}
	}
	return ""
}
