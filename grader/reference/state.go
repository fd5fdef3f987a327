package reference

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// State is the GPU's, as its driver tells it.
type State struct {
	Driver      string
	SM, Memory  float64 // clocks, MHz
	Temperature float64 // degrees Celsius
	Power       float64 // watts
	Not         string  // why nothing is known
}

const stateQuery = "driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"

// Look asks nvidia-smi about the first GPU.
func Look(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu="+stateQuery, "--format=csv,noheader,nounits").Output()
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
	s := State{Driver: strings.TrimSpace(fields[0])}
	for i, to := range []*float64{&s.SM, &s.Memory, &s.Temperature, &s.Power} {
		*to, _ = strconv.ParseFloat(strings.TrimSpace(fields[i+1]), 64)
	}
	return s
}

func (s State) String() string {
	if s.Not != "" {
		return s.Not
	}
	return fmt.Sprintf("clocks %.0f and %.0f MHz, %.0f °C, %.0f W", s.SM, s.Memory, s.Temperature, s.Power)
}
