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

// GPUs names the GPUs that Cards lists.
func GPUs() (names []string, err error) {
	cards, err := Cards()
	for _, c := range cards {
		names = append(names, c.Name)
	}
	return names, err
}

// Cards are the GPUs of this machine that CUDA_VISIBLE_DEVICES leaves to this process, in
// its order, without touching them. An error wraps device.ErrNoDevice and says why there is none.
func Cards() ([]Card, error) {
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
	var all []Card
	for _, m := range gpuLine.FindAllStringSubmatch(string(out), -1) {
		all = append(all, Card{Index: m[1], Name: m[2], UUID: m[3]})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: nvidia-smi -L lists none: %s", device.ErrNoDevice, strings.TrimSpace(string(out)))
	}
	cards := shown(all)
	if len(cards) == 0 {
		return nil, fmt.Errorf("%w: %s=%q hides all GPUs of this machine, %d of them", device.ErrNoDevice, visibleEnv, os.Getenv(visibleEnv), len(all))
	}
	return cards, nil
}

// visibleEnv lists, separated by commas, which GPUs CUDA shows to a program: numbers, or the
// beginnings of UUIDs. On a node that several share without containers, Slurm sets it.
const visibleEnv = "CUDA_VISIBLE_DEVICES"

// Card is a GPU as nvidia-smi -L lists it.
type Card struct{ Index, Name, UUID string }

// is it what an entry of CUDA_VISIBLE_DEVICES means? The numbers are nvidia-smi's where all
// GPUs are of one kind, or CUDA_DEVICE_ORDER is PCI_BUS_ID.
func (c Card) is(entry string) bool {
	return entry == c.Index || strings.HasPrefix(entry, "GPU-") && strings.HasPrefix(c.UUID, entry)
}

// Alone is an environment in which CUDA shows this GPU and no other.
func (c Card) Alone(env []string) []string {
	entry := c.UUID
	if entry == "" {
		entry = c.Index
	}
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, visibleEnv+"=") })
	return append(env, visibleEnv+"="+entry)
}

// String is the GPU's name with what tells it from others of the same name.
func (c Card) String() string {
	short, _, _ := strings.Cut(strings.TrimPrefix(c.UUID, "GPU-"), "-")
	if short == "" {
		short = "number " + c.Index
	}
	return c.Name + " (" + short + ")"
}

// shown are those that CUDA shows: up to the first entry that means none.
func shown(all []Card) (cards []Card) {
	list, set := os.LookupEnv(visibleEnv)
	if !set || strings.HasPrefix(list, "MIG-") { // a part of a GPU has no separate line here
		return all
	}
	for entry := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(c Card) bool { return c.is(strings.TrimSpace(entry)) })
		if i < 0 {
			break
		}
		cards = append(cards, all[i])
	}
	return cards
}

// Apart are those of the cards that can be given to one program each. Times of different kinds cannot
// be compared, so all are of the first one's; and there are none where CUDA shows a part of a GPU, in
// place of which no program may get a whole one.
func Apart(cards []Card) []Card {
	if strings.HasPrefix(os.Getenv(visibleEnv), "MIG-") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(cards), func(c Card) bool { return c.Name != cards[0].Name })
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
