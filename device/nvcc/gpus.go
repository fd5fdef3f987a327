package nvcc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"flashlab/device"
)

var gpuLine = regexp.MustCompile(`(?m)^GPU (\d+): (.+?)(?: \(UUID: (.*)\))?\s*$`)

// GPUs names the GPUs of this machine that CUDA_VISIBLE_DEVICES leaves to this process, in
// its order, without touching them. An error wraps device.ErrNoDevice and says why there is none.
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
	var all []card
	for _, m := range gpuLine.FindAllStringSubmatch(string(out), -1) {
		all = append(all, card{index: m[1], name: m[2], uuid: m[3]})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: nvidia-smi -L lists none: %s", device.ErrNoDevice, strings.TrimSpace(string(out)))
	}
	names := shown(all)
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s=%q hides all GPUs of this machine, %d of them", device.ErrNoDevice, visibleEnv, os.Getenv(visibleEnv), len(all))
	}
	return names, nil
}

// visibleEnv lists, separated by commas, which GPUs CUDA shows to a program: numbers, or the
// beginnings of UUIDs. On a node that several share without containers, Slurm sets it.
const visibleEnv = "CUDA_VISIBLE_DEVICES"

// card is a GPU as nvidia-smi -L lists it.
type card struct{ index, name, uuid string }

// is it what an entry of CUDA_VISIBLE_DEVICES means? The numbers are nvidia-smi's where all
// GPUs are of one kind, or CUDA_DEVICE_ORDER is PCI_BUS_ID.
func (c card) is(entry string) bool {
	return entry == c.index || strings.HasPrefix(entry, "GPU-") && strings.HasPrefix(c.uuid, entry)
}

// shown are the names of those that CUDA shows: up to the first entry that means none.
func shown(all []card) (names []string) {
	list, set := os.LookupEnv(visibleEnv)
	if !set || strings.HasPrefix(list, "MIG-") { // a part of a GPU has no separate line here
		for _, c := range all {
			names = append(names, c.name)
		}
		return names
	}
	for entry := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(c card) bool { return c.is(strings.TrimSpace(entry)) })
		if i < 0 {
			break
		}
		names = append(names, all[i].name)
	}
	return names
}

// First are the arguments that make nvidia-smi speak of the GPU that a worker uses, the first
// of CUDA_VISIBLE_DEVICES; none where that names none, and all of them are shown.
func First() []string {
	entry, _, _ := strings.Cut(os.Getenv(visibleEnv), ",")
	entry = strings.TrimSpace(entry)
	if _, err := strconv.ParseUint(entry, 10, 16); err != nil && !strings.HasPrefix(entry, "GPU-") {
		return nil
	}
	return []string{"--id=" + entry}
}
