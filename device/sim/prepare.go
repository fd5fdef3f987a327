package sim

import (
	"os"
	"path/filepath"
)

// vetBuilt vets the file of a module that is there.
func (c *compiler) vetBuilt(include string, s moduleSource, so string) error {
	dir, err := os.MkdirTemp(filepath.Dir(so), ".build-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	_, _, err = c.prepare(include, dir, s, so)
	return err
}

// prepare writes a file and what it includes into a folder, has it preprocessed, takes its
// host side, and vets it. It returns the arguments to compile what is left, too.
func (c *compiler) prepare(include, dir string, s moduleSource, so string) (stripped, []string, error) {
	if err := s.write(dir); err != nil {
		return stripped{}, nil, err
	}
	links := s.headers.links()
	links[headersLink] = include
	if err := link(dir, links); err != nil {
		return stripped{}, nil, err
	}
	args := append(c.kernelFlags(s.checks), hidePath(dir), "-I", headersLink, "-include", "simt.h", "-include", definesName)
	r, err := c.strip(dir, args, s)
	if err != nil {
		return stripped{}, nil, err
	}
	if s.vet != nil {
		var v vetted
		if v.Forms, err = c.vet(dir, r, s); err == nil {
			v.Refused, err = r.unserved(s)
		}
		if err == nil {
			err = v.write(so)
		}
		if err != nil {
			return stripped{}, nil, err
		}
	}
	return r, r.args, nil
}
