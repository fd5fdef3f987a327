package sim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// The compiler decides for which processor kernels and the simulator's process are: this
// program's own, unless it is a cross compiler.

// targetOf is what a compiler compiles for, and whether that is AArch64; x86-64 is the other one that
// is known.
func targetOf(machine string) (target string, arm bool, err error) {
	target = strings.TrimSpace(machine)
	switch processor, _, _ := strings.Cut(target, "-"); processor {
	case "x86_64", "amd64":
		return target, false, nil
	case "aarch64", "arm64":
		return target, true, nil
	}
	return "", false, fmt.Errorf("it compiles for %s: the simulator runs on x86-64 and AArch64", target)
}

// machineFlags are those that only one of the processors has.
func (c *compiler) machineFlags() []string {
	if !c.arm {
		// No red zone: hooks are put between instructions (unseen.go), so nothing may lie
		// below the stack.
		return []string{"-fcf-protection=none", "-mno-red-zone"}
	}
	// A char has a sign in CUDA. Outlined atomics are calls of libgcc's.
	flags := []string{"-fsigned-char", "-mno-outline-atomics", "-mbranch-protection=none"}
	if !c.clang {
		// By __tls_get_addr, as on x86-64; and variables by their own names.
		flags = append(flags, "-mtls-dialect=trad", "-fno-section-anchors")
	}
	return flags
}

// runtimeFlags compile the simulator's own sources.
func (c *compiler) runtimeFlags() []string {
	flags := []string{"-std=c++17", "-O2", "-pthread"}
	if c.arm { // x86-64 does both anyway
		flags = append(flags, "-fsigned-char", "-ffp-contract=off")
	}
	return flags
}

// watch puts into the assembly what the compiler's own hooks leave out; on AArch64 the check of
// divisors, too.
func (c *compiler) watch(assembly string) (string, error) {
	assembly = withGaps(assembly)
	if c.arm {
		watched, err := seeAll(assembly, aarch64)
		return stopDivisions(watched), err
	}
	return seeAll(assembly, x86)
}

// emulatorVariable names a program, with its arguments, that runs what a cross compiler made:
// for trying the simulator of another processor.
const emulatorVariable = "FLASHLAB_EMULATOR"

// emulator is what the simulator's process has to be started with; of a machine's own compiler
// nothing.
func (c *compiler) emulator() ([]string, error) {
	if c.arm == (runtime.GOARCH == "arm64") {
		return nil, nil
	}
	words := strings.Fields(os.Getenv(emulatorVariable))
	if len(words) == 0 {
		return nil, fmt.Errorf("%s compiles for another processor than this machine's: take the machine's own (CXX), or name an emulator in %s",
			c.path, emulatorVariable)
	}
	return words, nil
}
