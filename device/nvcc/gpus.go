package nvcc

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"flashlab/device"
)

var gpuLine = regexp.MustCompile(`(?m)^GPU \d+: (.+?)(?: \(UUID: .*\))?\s*$`)

// GPUs names the GPUs of this machine, without touching them. An error wraps
// device.ErrNoDevice and says why there is none.
func GPUs() ([]string, error) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, fmt.Errorf("%w: no nvidia-smi on the PATH, so no NVIDIA driver", device.ErrNoDevice)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-L")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: nvidia-smi -L did not answer within 10 seconds", device.ErrNoDevice)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: nvidia-smi -L: %w: %s", device.ErrNoDevice, err, strings.TrimSpace(string(out)))
	}
	var names []string
	for _, m := range gpuLine.FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: nvidia-smi -L lists none: %s", device.ErrNoDevice, strings.TrimSpace(string(out)))
	}
	return names, nil
}
