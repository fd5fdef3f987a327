package synthetic

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// pack writes a submission in one of the ways that students do.
func pack(into, id string, files map[string][]byte, way int) error {
	switch way % 4 {
	case 0:
		for name, data := range files {
			file := filepath.Join(into, id, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return err
			}
		}
		return nil
	case 1:
		data, err := tarred(files)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(into, id+".tar.gz"), data, 0o644)
	}
	top := ""
	if way%4 == 3 {
		top = "my work/"
	}
	data, err := zipped(files, top)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, id+".zip"), data, 0o644)
}

func zipped(files map[string][]byte, top string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(top + name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func tarred(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// cut is an upload that broke off.
func cut(packed []byte) (string, []byte) { return ".zip", packed[:len(packed)/2] }

// slip is an archive whose file would end up outside the folder that it is unpacked in.
func slip(packed []byte) (string, []byte) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("../../task1_reference/attention.go")
	if err == nil {
		_, err = f.Write([]byte("package reference\n"))
	}
	if err != nil || w.Close() != nil {
		return ".zip", nil
	}
	return ".zip", b.Bytes()
}
