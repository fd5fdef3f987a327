package run

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

var (
	solutionsMu sync.Mutex
	solutions   = map[string]*copies.Library{} // by a tree's folder
)

// published is what a submission is compared with in the same way as with what the course ships: its solutions, with
// their variants and versions. In a student's tree there are none. It is nil for solutions and specimens.
func (o Options) published() (*copies.Library, error) {
	if o.Subject.Solution || o.Subject.Mutant != "" || o.Subject.Edit != nil {
		return nil, nil
	}
	solutionsMu.Lock()
	defer solutionsMu.Unlock()
	if l := solutions[o.Root]; l != nil {
		return l, nil
	}
	all, err := rubric.LoadAll(o.Root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, t := range all {
		of, err := build.Published(o.Root, t)
		if err != nil {
			return nil, err
		}
		for _, s := range of {
			for name, data := range s.Files {
				files[path.Join(s.Folder, path.Base(name))] = data
			}
		}
	}
	solutions[o.Root] = copies.NewLibrary(files)
	return solutions[o.Root], nil
}

// noteLike keeps what a task's files are most like: of each solution the function that most of is there.
func noteLike(like []verdict.Like, dir string, found []copies.Copy) []verdict.Like {
	for _, c := range found {
		if !strings.HasPrefix(c.Of.File, dir+"/") { // another task's solution: what is shared there is shared by the course
			continue
		}
		one := verdict.Like{Of: c.Of.Place(), Share: c.Share}
		same := func(l verdict.Like) bool { return path.Dir(l.Of) == path.Dir(one.Of) }
		if i := slices.IndexFunc(like, same); i < 0 {
			like = append(like, one)
		} else if like[i].Share < one.Share {
			like[i] = one
		}
	}
	slices.SortStableFunc(like, func(a, b verdict.Like) int { return cmp.Compare(b.Share, a.Share) })
	return like[:min(len(like), mostCopies)]
}
