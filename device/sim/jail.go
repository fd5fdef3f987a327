package sim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"flashlab/internal/jail"
)

// jailed is the same compiler, in a sandbox: what it reads is a stranger's.
func (c *compiler) jailed(o Options) (*compiler, error) {
	if o.Jail == nil {
		return c, nil
	}
	include, err := includeDir(o.Cache)
	if err != nil {
		return nil, err
	}
	other := *c
	other.jail, other.reads = o.Jail, append(jail.Around(c.path), include)
	for _, k := range []headerKind{{}, {marked: true}, {ptx: true}, {marked: true, ptx: true}} {
		if dir := c.precompiled(o.Cache, o.Checks, k); dir != "" {
			other.reads = append(other.reads, dir)
		}
	}
	return &other, nil
}

// compilerMemory bounds one compilation: templates can make a compiler take any
// amount.
const compilerMemory = 2 << 30

// command is one run of the compiler in a directory, which it may change.
func (c *compiler) command(ctx context.Context, dir string, args []string) (*exec.Cmd, error) {
	if c.jail == nil {
		cmd := exec.CommandContext(ctx, c.path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "TMPDIR="+dir)
		return cmd, nil
	}
	p := jail.Program{Path: c.path, Args: args, Dir: dir, Write: []string{dir}, Read: c.reads,
		Env: []string{"LC_ALL=C", "TMPDIR=" + dir, "PATH=" + filepath.Dir(c.path) + ":/usr/local/bin:/usr/bin:/bin"}, Memory: compilerMemory, CPU: compileTimeout}
	return c.jail(ctx, p)
}

// view is a folder that holds the modules of one process: in a sandbox it sees
// these, and not what others' kernels were compiled to. nil: it sees everything.
type view struct{ dir string }

func newView(o Options) (*view, error) {
	if o.Jail == nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp(o.Cache, ".view-*")
	if err != nil {
		return nil, err
	}
	return &view{dir}, os.Chmod(dir, 0o755)
}

// show puts a module into the view, and tells where the process finds it.
func (v *view) show(so string) (string, error) {
	if v == nil {
		return so, nil
	}
	name := filepath.Join(v.dir, filepath.Base(so))
	if err := os.Link(so, name); err != nil && !os.IsExist(err) {
		return "", err
	}
	return name, nil
}

func (v *view) remove() {
	if v != nil {
		_ = os.RemoveAll(v.dir)
	}
}

// process is the simulator's, ready to start. It gets none of our environment, and the
// locale must not change what it prints.
func (c *compiler) process(binary string, o Options, v *view) (*exec.Cmd, error) {
	emulator, err := c.emulator()
	if err != nil {
		return nil, err
	}
	env := []string{"LC_ALL=C"}
	if o.Jail == nil {
		words := append(emulator, binary)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = env
		return cmd, nil
	}
	if len(emulator) > 0 {
		return nil, fmt.Errorf("%s is for tests without a sandbox", emulatorVariable)
	}
	// Device memory, and several times that for what is known of each of its bytes.
	return o.Jail(context.Background(), jail.Program{Path: binary, Env: env, Read: []string{binary, v.dir}, Memory: 16 * o.Memory})
}
