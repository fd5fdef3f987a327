//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"flashlab/device"
)

// unasked is the shared memory, static and dynamic, that every kernel may use.
const unasked = 48 << 10

// own refuses kernels of other devices.
func (g *gpu) own(k device.Kernel) (*kernel, error) {
	ours, ok := k.(*kernel)
	if !ok || ours == nil || ours.gpu != g {
		return nil, device.Refuse("(unknown)", "the kernel was not compiled by this device: got a %T", k)
	}
	return ours, nil
}

// Launch queues a kernel, or makes it part of the graph that is recorded.
func (g *gpu) Launch(k device.Kernel, l device.Launch, args ...any) error {
	ours, err := g.own(k)
	if err != nil {
		return err
	}
	name := ours.sig.Name
	l, err = device.CheckLaunch(name, l, g.info)
	if err != nil {
		return err
	}
	if err := ours.fits(l); err != nil {
		return err
	}
	values, err := device.LayOut(ours.sig, args)
	if err != nil {
		return err
	}
	return g.do(func() error {
		if err := g.alive(ours.sig, values); err != nil {
			return err
		}
		if err := ours.ask(l.Shared); err != nil {
			return g.failed(fmt.Sprintf("cuFuncSetAttribute(%s, MAX_DYNAMIC_SHARED_SIZE_BYTES, %d)", name, l.Shared), err)
		}
		params := make([]unsafe.Pointer, len(values))
		for i := range values {
			if params[i] = unsafe.Pointer(&values[i].Bits); len(values[i].More) > 0 {
				params[i] = unsafe.Pointer(&values[i].More[0])
			}
		}
		launch := func() error {
			return ours.fn.Launch(l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z, l.Shared, g.stream(), params)
		}
		clusters := l.Cluster.X > 0
		if l.Cooperative || clusters {
			switch {
			case !plain(values):
				return device.Refuse(name, "a cooperative launch, or one of clusters, takes numbers, pointers and tensor maps: put structs into device memory")
			case clusters && !overlaps(g.info.Arch):
				return device.Refuse(name, "clusters of blocks take a GPU from Hopper on (sm_90), this one is %s", g.info.Arch)
			case clusters && l.Cooperative:
				return device.Refuse(name, "a cooperative launch of clusters: let blocks meet within clusters, or in a grid without them")
			}
			launch = func() error { return launchWith(ours.fn, l, g.stream(), values) }
		} else if hasMaps(values) { // which leave no room for more
			launch = func() error { return launchMaps(ours.fn, l, g.stream(), values) }
		} else if l.Early && g.recording != nil && overlaps(g.info.Arch) && plain(values) {
			launch = func() error { return launchWith(ours.fn, l, g.stream(), values) }
		}
		err := launch()
		if l.Cooperative && errors.Is(err, cu.CooperativeLaunchTooLarge) {
			return device.Refuse(name, "a cooperative launch needs all its blocks at once, and the GPU does not hold %v of %v threads and %d bytes of dynamic shared memory: launch fewer, with a loop over the rest", l.Grid, l.Block, l.Shared)
		}
		if clusters && errors.Is(err, noSuchCluster) {
			return device.Refuse(name, "the GPU does not hold a cluster of %v blocks of %v threads and %d bytes of dynamic shared memory at once", l.Cluster, l.Block, l.Shared)
		}
		if errors.Is(err, cu.InvalidValue) || errors.Is(err, cu.LaunchOutOfResources) {
			return device.Refuse(name, "grid %v, block %v, %d bytes of dynamic shared memory: %v", l.Grid, l.Block, l.Shared, err)
		}
		if err != nil {
			return g.failed(fmt.Sprintf("cuLaunchKernel(%s, grid %v, block %v, %d bytes shared)", name, l.Grid, l.Block, l.Shared), err)
		}
		if g.recording != nil {
			g.recording.launched(ours.sig, values)
			return nil
		}
		g.launched(name)
		return nil
	})
}

// plain tells whether all arguments are numbers and pointers.
func plain(values []device.Value) bool {
	for _, v := range values {
		if len(v.More) > 0 {
			return false
		}
	}
	return true
}

// fits checks what depends on the compiled kernel, not on the GPU alone.
func (k *kernel) fits(l device.Launch) error {
	threads := l.Block.X * l.Block.Y * l.Block.Z
	if threads > k.maxThreads {
		return device.Refuse(k.sig.Name, "a block of %d threads: this kernel allows %d at most, by its __launch_bounds__ or the registers that it uses", threads, k.maxThreads)
	}
	if k.static+l.Shared > k.gpu.info.MaxShared {
		return device.Refuse(k.sig.Name, "%d bytes of dynamic shared memory and %d that the kernel declares: a block may have %d at most", l.Shared, k.static, k.gpu.info.MaxShared)
	}
	return nil
}

// ask raises the kernel's limit of dynamic shared memory where needed.
func (k *kernel) ask(dynamic int) error {
	if dynamic <= k.allowed || k.static+dynamic <= unasked {
		return nil
	}
	if err := allowShared(k.fn, dynamic); err != nil {
		return err
	}
	k.allowed = dynamic
	return nil
}

// alive refuses buffers that were freed.
func (g *gpu) alive(sig device.Signature, values []device.Value) error {
	for i, p := range sig.Params {
		if m := values[i].Map; m != nil && g.blocks.find(m.Memory.Addr, m.Memory.Bytes) < 0 {
			return device.Refuse(sig.Name, "argument %d (%s %s): the tensor's memory was freed, or belongs to another device", i+1, p.Type, p.Name)
		}
		if p.Kind == device.Pointer && values[i].Bits != 0 && g.blocks.find(values[i].Bits, 1) < 0 {
			return device.Refuse(sig.Name, "argument %d (%s %s): the buffer was freed, or belongs to another device", i+1, p.Type, p.Name)
		}
	}
	return nil
}
