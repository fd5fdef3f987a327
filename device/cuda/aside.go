//go:build cuda

package cuda

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"flashlab/device"
)

var _ device.Aside = (*gpu)(nil)

// CopyOutAside copies on a stream of its own, which waits for no other.
func (g *gpu) CopyOutAside(dst []byte, src device.Memory) error {
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("copy from %s: got room for %d bytes, want %d", src.Name, len(dst), src.Bytes)
	}
	return g.now("copy from "+src.Name, func() error {
		if err := g.holds("copy from", src); err != nil {
			return err
		}
		if g.aside == nil {
			stream, err := cu.MakeStream(cu.NonBlocking)
			if err != nil {
				return g.failed("cuStreamCreate(NON_BLOCKING)", err)
			}
			g.aside = &stream
		}
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), cu.DevicePtr(src.Addr), src.Bytes, *g.aside); err != nil {
			return g.failed(fmt.Sprintf("copy from %s: cuMemcpyDtoHAsync(%#x, %d bytes)", src.Name, src.Addr, src.Bytes), err)
		}
		if err := g.aside.Synchronize(); err != nil {
			return g.failed("cuStreamSynchronize()", err)
		}
		return nil
	})
}
