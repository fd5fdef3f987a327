// Package zipfile packs files so that equal files make equal zips.
package zipfile

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"slices"
	"time"
)

// Files packs files in the order of their names, all with one time, in the folder top, which is
// empty or ends in a slash. A nil runs means that none of them is to be run.
func Files(top string, files map[string][]byte, date time.Time, runs func(name string) bool) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: top + name, Method: zip.Deflate, Modified: date}
		h.SetMode(mode(runs != nil && runs(name)))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func mode(runs bool) os.FileMode {
	if runs {
		return 0o755
	}
	return 0o644
}
