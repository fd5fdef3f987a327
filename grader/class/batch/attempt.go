package batch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/internal/cache"
)

// attempt grades one attempt, task by task. Its record is written after each, so that
// being killed costs at most the current task. fresh counts the tasks that were graded.
func (b *batch) attempt(ctx context.Context, i intake.Item) (r *record.Record, fresh int, err error) {
	old, err := record.Read(filepath.Join(b.Out, record.Name(i.Student.ID, i.Attempt)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	r = &record.Record{Student: i.Student, Group: i.Group, Attempt: i.Attempt, Submitted: i.Submitted, MarkedLate: i.MarkedLate,
		Submission: record.Submission{File: i.File}, Release: b.Release, Trouble: i.Trouble}
	var content intake.Content
	if r.Trouble == "" {
		content, err = intake.Read(i.Path, intake.WantedOf(b.Tasks))
		var broken *intake.Trouble
		if errors.As(err, &broken) {
			r.Trouble = broken.Text
		} else if err != nil {
			return nil, 0, err
		}
	}
	if r.Trouble != "" {
		return r, 0, record.Write(b.Out, r)
	}
	r.Submission.SHA256, r.Submission.Extra, r.Submission.Notes = string(content.Receipt), content.Extra, content.Notes
	r.Submission.Answers = intake.Answers(content.Results)
	r.Submission.Leaderboard = handin.ChosenName(content.Board)
	if r.Submission.Requests, err = handin.Requests(content.Regrade); err != nil {
		r.Submission.Notes = append(r.Submission.Notes, handin.RegradeFile+" asks for nothing: "+err.Error())
	}
	known := b.known(r, old)
	var todo []*rubric.Task
	for _, t := range b.Tasks {
		key, kept := b.key(t, i.Student.ID, content.Files), record.Task{}
		for _, k := range known {
			if k.Key == key && k.Failed == "" {
				kept = k
			}
		}
		switch wanted := b.graded(t); {
		case kept.Key != "" && !(wanted && b.Regrade):
			r.Put(kept)
		case wanted:
			todo = append(todo, t)
		}
	}
	if len(todo) == 0 {
		return r, 0, record.Write(b.Out, r)
	}
	dir, err := b.unpack(content.Files)
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	for _, t := range todo {
		one := b.task(ctx, i, t, dir, content.Files)
		if ctx.Err() != nil {
			return nil, fresh, ctx.Err()
		}
		r.Put(one)
		if err := record.Write(b.Out, r); err != nil {
			return nil, fresh, err
		}
		fresh++
	}
	return r, fresh, nil
}

// known are tasks that were measured before: in this attempt's record, or in that of another
// attempt of the same student, where the same files need no second grading.
func (b *batch) known(r, old *record.Record) (tasks []record.Task) {
	if !b.Regrade {
		for n := 1; n <= r.Attempt+1; n++ {
			if other, err := record.Read(filepath.Join(b.Out, record.Name(r.Student.ID, n))); err == nil && n != r.Attempt {
				tasks = append(tasks, other.Tasks...)
			}
		}
	}
	if old != nil {
		tasks = append(tasks, old.Tasks...)
	}
	return tasks
}

// task grades one task.
func (b *batch) task(ctx context.Context, i intake.Item, t *rubric.Task, dir string, files map[string][]byte) record.Task {
	began := time.Now()
	one := record.Task{Name: t.Name, Key: b.key(t, i.Student.ID, files), Files: filesOf(t, files)}
	limited, cancel := context.WithTimeout(ctx, b.Course.TaskLimit())
	defer cancel()
	b.Watch.Step(i, t.Name, 0, 0)
	o := run.Options{Root: b.Root, Task: t, Ops: b.Ops, Subject: run.HandedIn(t, dir), Devices: b.Devices, Seed: b.seed(t, i.Student.ID, files),
		Output: b.Work, Release: b.Release, GPUs: b.gpus, Progress: func(done, all int, _ string) { b.Watch.Step(i, t.Name, done, all) }}
	v, err := b.Grade(limited, o)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		v = run.Refuse(v, t, "grading it took longer than "+b.Course.TaskLimit().String()+", the most that a task may take: does it compute far more than it needs to?")
	case err != nil:
		one.Failed = err.Error()
	}
	if t.OnDevice() {
		b.healthy()
	}
	one.Result, one.Device = v, v.Device
	one.Times = &record.Times{Began: began.UTC().Truncate(time.Second), Seconds: time.Since(began).Seconds()}
	return one
}

// key names everything that a task's measurement depends on.
func (b *batch) key(t *rubric.Task, student string, files map[string][]byte) string {
	return cache.Key("record", strconv.Itoa(record.Version), b.Tree.Of(t), b.Course.Key(), b.Devices.Name(), student, t.Dir, filesOf(t, files))
}

// seed draws the inputs' seed. It depends on the files too: a seed revealed by feedback
// is of no use for the next attempt.
func (b *batch) seed(t *rubric.Task, student string, files map[string][]byte) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.Course.Seed, student, t.Dir, filesOf(t, files)}, "\x00")))
	return binary.LittleEndian.Uint64(sum[:]) % run.Seeds
}

// filesOf is the hash of the files that a task's worker is built from.
func filesOf(t *rubric.Task, files map[string][]byte) string {
	names := handin.Names(t.All())
	own := map[string][]byte{}
	for name, data := range files {
		if slices.Contains(names, name) {
			own[name] = data
		}
	}
	return string(handin.Sum(own))
}

// unpack writes a submission's files to a separate folder.
func (b *batch) unpack(files map[string][]byte) (string, error) {
	if err := os.MkdirAll(b.Work, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(b.Work, "submission-")
	if err != nil {
		return "", err
	}
	for name, data := range files { // the names are the rubrics'
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}
