package sim

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// addressOf is where the simulator's process has a symbol.
func addressOf(t *testing.T, d *Device, name string) int64 {
	pid := d.process.cmd.Process.Pid
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	require.NoError(t, err)
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	var base uint64
	_, err = fmt.Sscanf(regexp.MustCompile(`(?m)^([0-9a-f]+)-.* ` + regexp.QuoteMeta(path) + `$`).FindStringSubmatch(string(maps))[1], "%x", &base)
	require.NoError(t, err)
	for _, s := range symbols {
		if s.Name == name {
			return int64(base + s.Value)
		}
	}
	require.Fail(t, "no such symbol", name)
	return 0
}

// poke writes to the simulator's memory, as a kernel would that found a way.
func poke(t *testing.T, d *Device, address int64, data []byte) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", d.process.cmd.Process.Pid), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt(data, address)
	require.NoError(t, err)
}

// What a launch is checked by is altered while it runs: its checks are off, or where the shadow of memory lies is another
// place. Either is told, and a launch without it is not.
func TestAlteredStateIsTold(t *testing.T) {
	const steps, checks, readNeeds = 8, 44, 48 // in Worker: worker.h
	for what, at := range map[string]int64{"nothing": 0, "the checks": checks, "what a read needs": readNeeds} {
		d := start(t, Options{Checks: AllChecks(), Workers: 1})
		m, err := d.Compile(device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void k(float *y, int n) {\n    for (int i = 0; i < n; i++) y[i % 32] += 1;\n    y[1 << 20] = 1;\n}\n"})
		require.NoError(t, err)
		b := bench{t, d, m}
		y := upload(b, "y", make([]float32, 32))
		workers := int64(binary.LittleEndian.Uint64(peek(t, d, addressOf(t, d, "_ZN4simt7workersE"))))
		first := int64(binary.LittleEndian.Uint64(peek(t, d, workers)))
		require.Equal(t, uint32(31), binary.LittleEndian.Uint32(peek(t, d, first+checks))&31, "all of the checks")
		done := make(chan error)
		k, err := m.Kernel("k")
		require.NoError(t, err)
		go func() {
			done <- d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, y, int32(4_000_000))
		}()
		for binary.LittleEndian.Uint64(peek(t, d, first+steps)) == 0 { // it has yet to begin
			time.Sleep(time.Millisecond)
		}
		if at != 0 {
			poke(t, d, first+at, []byte{0})
		}
		launched := <-done
		r, err := d.Report()
		require.NoError(t, err)
		if at == 0 {
			assert.Error(t, launched)
			assert.Empty(t, r.Overfull)
			continue
		}
		if assert.NotEmpty(t, r.Overfull, what) {
			assert.Contains(t, r.Overfull[0].What, "altered", what)
		}
	}
}
