package instructor

import (
	"errors"
	"flag"
	"fmt"

	"flashlab/grader/class/folder"
	"flashlab/grader/class/record"
	"flashlab/grader/command"
	"flashlab/internal/harmless"
)

// Gradebook makes the grades again from what a batch measured: after a change to course.toml or a
// table.
var Gradebook = ofBatch("gradebook", "make the grades again from what a batch measured", func(c folder.Folder) (int, error) {
	o, err := open(&c)
	if err != nil {
		return command.Failed, err
	}
	if err := c.Write(o.class); err != nil {
		return command.Failed, fmt.Errorf("gradebook: %w", err)
	}
	return command.Full, o.settings.Save(c.Out)
})

// Report draws the pages again from what a batch measured.
var Report = ofBatch("report", "draw the pages again", func(c folder.Folder) (int, error) {
	o, err := open(&c)
	if err != nil {
		return command.Failed, err
	}
	if o.class.Records, err = record.ReadAll(c.Out); err != nil {
		return command.Failed, err
	}
	if len(o.class.Records) == 0 {
		return command.Failed, fmt.Errorf("report: %s holds no records: want the folder that a batch wrote with O", c.Out)
	}
	entries := o.class.Entries()
	if err := c.Pages(o.class, entries, o.class.Notices(entries)); err != nil {
		return command.Failed, err
	}
	return command.Full, o.settings.Save(c.Out)
})

// Merge joins the records of several batches over the same submissions.
var Merge = command.Command{Name: "merge", Summary: "join batches, of a GPU and of the simulator, say", Usage: "OUT1 OUT2 O=OUT", Args: command.Places,
	Define: func(f *flag.FlagSet) command.Run {
		var c folder.Folder
		define(&c, f)
		f.StringVar(&c.Out, "o", "", "`folder` for the merged records")
		return func(places []string) (int, error) {
			if len(places) < 2 || c.Out == "" {
				return command.Failed, errors.New("merge: want the folders of batches and one for the result: merge OUT1 OUT2 O=OUT")
			}
			return merge(c, places)
		}
	}}

func merge(c folder.Folder, places []string) (int, error) {
	n, err := record.MergeAll(places, c.Out, func(note string) { harmless.Println("note:", note) })
	if err != nil {
		return command.Failed, fmt.Errorf("merge: %w", err)
	}
	first := c
	first.Out = places[0]
	o, err := open(&first) // the first one's tables, unless others are given
	if err != nil {
		return command.Failed, err
	}
	first.Out = c.Out
	if err := o.settings.Save(c.Out); err != nil {
		return command.Failed, err
	}
	harmless.Printf("Joined: %s of %s.\n", record.Plural(n, "record"), record.Plural(len(places), "batch"))
	return command.Full, first.Write(o.class)
}
