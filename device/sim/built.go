package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"flashlab/device"
	"flashlab/internal/cache"
)

// built is what is known of a module besides its code: kept beside it.
type built struct {
	Entries   []entry
	Constants []string // names of __constant__ variables, which kernels may not write
	Unset     []string // those among them that have no initialiser
	Refused   []refused
}

// refused is a kernel that the simulator cannot run.
type refused struct {
	Kernel string
	Why    device.Diagnostic
}

// refusal is why a kernel is not there, or nil.
func (b built) refusal(name string) error {
	base, _, _ := strings.Cut(name, "<")
	for _, r := range b.Refused {
		if r.Kernel == strings.TrimSpace(base) {
			return &device.CompileError{File: r.Why.File, Diagnostics: []device.Diagnostic{r.Why}, Output: r.Why.Text}
		}
	}
	return nil
}

func beside(so string) string { return strings.TrimSuffix(so, ".so") + ".json" }

// write comes before the module itself is there.
func (b built) write(so string) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return cache.WriteFile(filepath.Clean(beside(so)), text, 0o644)
}

// readBuilt finds a module that was built before.
func readBuilt(so string) (b built, err error) {
	if _, err := os.Stat(so); err != nil {
		return b, err
	}
	text, err := os.ReadFile(beside(so))
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}
