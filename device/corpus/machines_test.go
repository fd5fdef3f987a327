package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/sim"
	"flashlab/device/trace"
)

// onBothMachines starts the simulator for x86-64 and for AArch64, or skips the test: that wants a cross
// compiler, and an emulator by its variable (device/sim/README.md).
func onBothMachines(t *testing.T, o sim.Options) map[string]*sim.Device {
	const cross = "aarch64-linux-gnu-g++"
	if _, err := exec.LookPath(cross); err != nil || os.Getenv("FLASHLAB_EMULATOR") == "" {
		t.Skipf("%s and FLASHLAB_EMULATOR are for trying AArch64", cross)
	}
	o.Memory = 8 << 20 // an emulator takes long to reserve what a worker may need to know of more
	machines := map[string]*sim.Device{}
	for machine, compiler := range map[string]string{"x86-64": "g++", "AArch64": cross} {
		o.Compiler = compiler
		machines[machine] = simulator(t, o)
	}
	return machines
}

// counts are what a kernel's launches came to, apart from steps and operations, which the
// compilers have their own ways with.
func counts(t *testing.T, d *sim.Device) string {
	r, err := d.Report()
	require.NoError(t, err)
	text := ""
	for _, l := range r.Launches {
		l.Steps, l.LongestBlock, l.FLOPs, l.Spilled = 0, 0, 0, 0
		line, err := json.Marshal(l)
		require.NoError(t, err)
		text += string(line) + "\n"
	}
	return text
}

func TestTheSameIsCountedOnAarch64(t *testing.T) {
	machines := onBothMachines(t, sim.Options{Workers: 1}) // how often a compare-and-swap is tried depends on the others
	of := map[string][]string{}
	for machine, d := range machines {
		load := newLoader(d, false)
		for _, c := range Cases() {
			require.NoError(t, d.Reset())
			o, err := c.on(load, nil)
			require.NoError(t, err, c.Name)
			worst, at := distance(o.got, o.want)
			assert.LessOrEqual(t, worst, o.bound, "%s on %s: element %d", c.Name, machine, at)
			of[machine] = append(of[machine], counts(t, d))
		}
	}
	for i, c := range Cases() {
		assert.Equal(t, of["x86-64"][i], of["AArch64"][i], c.Name)
	}
}

func TestTheSameIsFoundOnAarch64(t *testing.T) {
	o := SimOptions()
	o.Timeout = 5 * time.Second // emulation takes its time
	machines := onBothMachines(t, o)
	bugs, err := Bugs()
	require.NoError(t, err)
	for _, b := range bugs {
		of := map[string]string{}
		for machine, d := range machines {
			for _, twin := range []bool{false, true} {
				found, launch, err := Simulate(d, NewRunner(d), b, twin)
				require.NoError(t, err, b.Name)
				of[machine] += fmt.Sprint(short(found), launch != nil, "\n")
			}
		}
		if b.Kind != "stack overflow" { // at the line that came to the end of the stack first
			assert.Equal(t, of["x86-64"], of["AArch64"], b.Name)
		}
	}
}

// short is what a finding says of the source.
func short(found []trace.Finding) (text string) {
	for _, f := range found {
		text += fmt.Sprintln(f.Check, f.Kind, f.Kernel, f.Line, f.Fatal, f.Count)
	}
	return text
}
