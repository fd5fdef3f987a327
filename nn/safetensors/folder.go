package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
)

// The files of a folder: all weights in the first, or shards that the second
// lists.
const (
	Single = "model.safetensors"
	Index  = Single + ".index.json"
)

// Folder is the weights of a model's folder, in one file or in shards.
type Folder struct {
	about  string
	where  map[string]*shard // by tensor
	shards []*shard
}

type shard struct {
	*File
	name string
	io.Closer
}

// Open opens the weights of a folder and checks all headers. Where the folder
// has neither file, the error is fs.ErrNotExist.
func Open(dir fs.FS) (*Folder, error) {
	f := &Folder{about: Single, where: map[string]*shard{}}
	err := f.single(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f.about = Index
		err = f.sharded(dir)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Folder) single(dir fs.FS) error {
	s, err := f.open(dir, Single)
	if err != nil {
		return err
	}
	for name := range s.entries {
		f.where[name] = s
	}
	return nil
}

// sharded opens the shards of an index. A tensor is in the shard that the index
// says, and in no other.
func (f *Folder) sharded(dir fs.FS) error {
	data, err := fs.ReadFile(dir, Index)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("neither %s nor %s is there: %w", Single, Index, err)
	}
	if err != nil {
		return err
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return fmt.Errorf("%s: %w", Index, err)
	}
	if len(index.Map) == 0 {
		return fmt.Errorf("%s: its weight_map names no weight: the file is corrupt", Index)
	}
	files := map[string]*shard{}
	for _, name := range slices.Sorted(maps.Keys(index.Map)) {
		file := index.Map[name]
		if file == "" || file != path.Base(file) {
			return fmt.Errorf("%s: %s is in %q: want a file of the same folder", Index, name, file)
		}
		if files[file] == nil {
			s, err := f.open(dir, file)
			if errors.Is(err, fs.ErrNotExist) {
				// No %w: Open's caller would think that there are no weights at all.
				return fmt.Errorf("the shard %s is missing, where %s expects %s: put it into the folder", file, Index, name)
			}
			if err != nil {
				return err
			}
			files[file] = s
		}
		if _, ok := files[file].Shape(name); !ok {
			return fmt.Errorf("%s has no %s, which %s expects there: the shards belong to another model, or to another version of it", file, name, Index)
		}
		f.where[name] = files[file]
	}
	return nil
}

func (f *Folder) open(dir fs.FS, name string) (*shard, error) {
	r, size, err := OpenAt(dir, name)
	if err != nil {
		return nil, err
	}
	file, err := Parse(r, size)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &shard{file, name, r}
	f.shards = append(f.shards, s)
	return s, nil
}

// About names the file, or the index.
func (f *Folder) About() string { return f.about }

// Names lists the tensors.
func (f *Folder) Names() []string { return slices.Sorted(maps.Keys(f.where)) }

// Shape is a tensor's; ok is false where there is none of that name.
func (f *Folder) Shape(name string) (shape []int, ok bool) {
	s, ok := f.where[name]
	if !ok {
		return nil, false
	}
	return s.Shape(name)
}

// Read fills into with a tensor's values from number from on.
func (f *Folder) Read(name string, from int, into []float32) error {
	s, ok := f.where[name]
	if !ok {
		return fmt.Errorf("there is no %q", name)
	}
	if err := s.File.Read(name, from, into); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Close closes the files.
func (f *Folder) Close() error {
	var errs []error
	for _, s := range f.shards {
		errs = append(errs, s.Close())
	}
	f.shards = nil
	return errors.Join(errs...)
}

// ReaderAt is a file that can be read anywhere.
type ReaderAt interface {
	io.ReaderAt
	io.Closer
}

// OpenAt opens a file of a folder, and tells its size.
func OpenAt(dir fs.FS, name string) (ReaderAt, int64, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	r, ok := f.(ReaderAt)
	if !ok || info.IsDir() || info.Size() < 0 || info.Size() > math.MaxInt64-8 {
		f.Close()
		return nil, 0, fmt.Errorf("%s: this kind of file cannot be read at any place: copy it to a disk", name)
	}
	return r, info.Size(), nil
}
