package page

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"flashlab/device/nvcc"
)

// State is the GPU's, as its driver tells it.
type State struct {
	Card        string `json:",omitempty"` // the first 8 digits of its UUID: two of a kind are not quite as fast
	Driver      string
	SM, Memory  float64 // clocks, MHz
	Temperature float64 // degrees Celsius
	Power       float64 // watts
	Not         string  // why nothing is known
}

const stateQuery = "uuid,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"

// Look asks nvidia-smi about the GPU that the workers use.
func Look(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	args := append(nvcc.First(), "--query-gpu="+stateQuery, "--format=csv,noheader,nounits")
	out, err := exec.CommandContext(ctx, "nvidia-smi", args...).Output()
	if err != nil {
		return State{Not: "nvidia-smi does not tell: " + err.Error()}
	}
	return stateOf(string(out))
}

// stateOf reads one line. What a GPU does not tell is 0.
func stateOf(csv string) State {
	line, _, _ := strings.Cut(strings.TrimSpace(csv), "\n")
	fields := strings.Split(line, ",")
	if len(fields) != strings.Count(stateQuery, ",")+1 {
		return State{Not: fmt.Sprintf("nvidia-smi says %q", line)}
	}
	s := State{Card: cardOf(fields[0]), Driver: strings.TrimSpace(fields[1])}
	for i, to := range []*float64{&s.SM, &s.Memory, &s.Temperature, &s.Power} {
		*to, _ = strconv.ParseFloat(strings.TrimSpace(fields[i+2]), 64)
	}
	return s
}

// cardOf shortens "GPU-0619416a-8689-93d0-30cc-496bc5dc4e74".
func cardOf(uuid string) string {
	parts := strings.Split(strings.TrimSpace(uuid), "-")
	if len(parts) < 2 || parts[0] != "GPU" {
		return ""
	}
	return parts[1]
}

// another says whether the two were certainly different cards.
func (s State) another(t State) bool { return s.Card != "" && t.Card != "" && s.Card != t.Card }

func (s State) String() string {
	if s.Not != "" {
		return s.Not
	}
	return fmt.Sprintf("clocks %.0f and %.0f MHz, %.0f °C, %.0f W", s.SM, s.Memory, s.Temperature, s.Power)
}
