//go:build !graded

package persistent

import (
	"embed"
	"io/fs"

	"flashlab/device"
)

//go:embed *.cuh
var shared embed.FS

// Provide has devices find a folder's kernels: the headers beside them and those that all have are theirs to include.
func Provide(folder string, files embed.FS) bool {
	own, err := fs.Sub(files, "persistent")
	return err == nil && device.Provide(folder, own, shared)
}
