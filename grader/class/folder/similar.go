package folder

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/class/similar"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

// alikeIn looks for submissions that are alike: each student's last readable attempt, with those of earlier
// years and with the course's own solutions. It returns the files of those that are in a pair, too. nil if it is
// not known where the submissions are.
func alikeIn(root string, all []*rubric.Task, s batch.Settings, records []*record.Record) (*similar.Result, map[similar.Origin]map[string][]byte, error) {
	if s.Submissions == "" {
		return nil, nil, nil
	}
	names := intake.WantedOf(all)
	in := similar.Input{Stubs: map[string][]byte{}}
	var left []string
	for _, r := range latest(records) {
		content, err := intake.Read(filepath.Join(s.Submissions, r.Submission.File), names)
		switch {
		case err != nil:
			left = append(left, fmt.Sprintf("%s: %s cannot be read any more", r.Student.ID, r.Submission.File))
			continue
		case string(content.Receipt) != r.Submission.SHA256:
			left = append(left, fmt.Sprintf("%s: %s is not what was graded", r.Student.ID, r.Submission.File))
			continue
		}
		in.Works = append(in.Works, similar.Work{Origin: similar.Origin{ID: r.Student.ID, Name: r.Student.Name, Attempt: r.Attempt}, Files: content.Files})
	}
	for _, dir := range s.Past {
		items, err := intake.Find(dir, nil)
		if err != nil {
			return nil, nil, fmt.Errorf("-past: %w", err)
		}
		for _, i := range items {
			content, err := intake.Read(i.Path, names)
			if err == nil && i.Trouble == "" {
				in.Past = append(in.Past, similar.Work{Origin: similar.Origin{ID: i.Student.ID, Name: i.Student.Name, Attempt: i.Attempt, Past: filepath.Base(dir)}, Files: content.Files})
			}
		}
	}
	for _, t := range all {
		stub, err := build.TaskFiles(root, t, t.Dir)
		if err != nil {
			return nil, nil, err
		}
		for name, data := range stub {
			in.Stubs[name] = data
		}
		solutions, err := build.Published(root, t)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range solutions {
			in.Published = append(in.Published, similar.Work{Origin: similar.Origin{ID: s.Folder, Past: similar.Published}, Files: s.Files})
		}
	}
	result := similar.Compare(in)
	result.Left = left
	var err error
	if result.Shipped, err = shippedIn(root, all, in.Works); err != nil {
		return nil, nil, err
	}
	result.Shipped = append(result.Shipped, likeSolutions(records)...)
	return result, textsOf(result, in), nil
}

// likeSolutions are the functions of published solutions that were found when the class was graded, by the comparison that
// macros and inserted statements hide nothing from.
func likeSolutions(records []*record.Record) (found []similar.Copied) {
	for _, r := range latest(records) {
		for _, t := range r.Tasks {
			if like := t.Result.Like; len(like) > 0 { // the first is the most
				found = append(found, similar.Copied{By: similar.Origin{ID: r.Student.ID, Name: r.Student.Name, Attempt: r.Attempt}, Task: t.Result.Dir, Of: like[0].Of, Share: like[0].Share})
			}
		}
	}
	return found
}

// shippedIn finds what releases ship: of each task and file of the course's the function of which most is there.
func shippedIn(root string, all []*rubric.Task, works []similar.Work) (found []similar.Copied, err error) {
	if all, err = rubric.WithWarmUp(root, all); err != nil {
		return nil, err
	}
	library, err := copies.Of(root, handin.Names(all))
	if err != nil {
		return nil, err
	}
	for _, w := range works {
		seen := map[[2]string]bool{}
		for _, name := range slices.Sorted(maps.Keys(w.Files)) {
			for _, c := range library.Find(name, w.Files[name]) { // the largest share first
				if key := [2]string{path.Dir(name), c.Of.File}; !seen[key] {
					seen[key] = true
					found = append(found, similar.Copied{By: w.Origin, Task: path.Dir(name), Of: c.Of.Place(), Share: c.Share})
				}
			}
		}
	}
	return found, nil
}

// textsOf are the files of those that are in a pair.
func textsOf(r *similar.Result, in similar.Input) map[similar.Origin]map[string][]byte {
	texts := map[similar.Origin]map[string][]byte{}
	for _, p := range r.Pairs {
		texts[p.A], texts[p.B] = nil, nil
	}
	for _, w := range slices.Concat(in.Works, in.Past, in.Published) {
		if _, wanted := texts[w.Origin]; wanted {
			texts[w.Origin] = w.Files
		}
	}
	return texts
}

// latest are the last readable attempts, one a student or group; records are in order of these.
func latest(records []*record.Record) (last []*record.Record) {
	for _, r := range records {
		switch n := len(last); {
		case r.Trouble != "":
		case n > 0 && last[n-1].Student.ID == r.Student.ID:
			last[n-1] = r
		default:
			last = append(last, r)
		}
	}
	return last
}
