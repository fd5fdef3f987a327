package build

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"flashlab/internal/cache"
)

// mostKept is how many workers are kept, of some megabytes each: those used last.
const mostKept = 32

// kept is where a worker of the same Go is, or will be; "" in a sandbox, where nothing that was built of one
// submission is handed to another. The go command reads from a binary what it was linked of: one that is still
// right it leaves as it is, so that a save of a kernel links nothing.
func (r Request) kept() string {
	if r.Jail != nil {
		return ""
	}
	base, err := cache.Dir()
	if err != nil {
		return ""
	}
	key := []string{"worker", r.Root, r.worker(), r.tags()}
	key = append(key, r.Env...)
	for _, f := range r.Files {
		if filepath.Ext(f.Name) == ".go" {
			key = append(key, f.Task, f.Name, string(f.Data))
		}
	}
	return filepath.Join(base, "workers", cache.Key(key...))
}

// begin puts a kept worker where the go command will look for it, and tells when it was linked.
func begin(kept, binary string) (linked time.Time) {
	data, err := os.ReadFile(kept)
	if err != nil || os.WriteFile(binary, data, 0o755) != nil {
		return time.Time{}
	}
	_ = os.Chtimes(kept, time.Time{}, time.Now())
	return modified(binary)
}

func modified(name string) time.Time {
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// keep keeps a worker for the next time. Without it, that only takes longer.
func keep(kept, binary string) {
	dir := filepath.Dir(kept)
	data, err := os.ReadFile(binary)
	if err != nil || os.MkdirAll(dir, 0o755) != nil || cache.WriteFile(kept, data, 0o755) != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return modified(filepath.Join(dir, b.Name())).Compare(modified(filepath.Join(dir, a.Name())))
	})
	for _, e := range entries[min(len(entries), mostKept):] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}
