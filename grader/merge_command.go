package main

import (
	"errors"
	"flag"
	"fmt"

	"flashlab/grader/class/record"
)

// mergeCommand joins the records of several batches over the same submissions.
func mergeCommand(args []string) (int, error) {
	var c classFlags
	f := flag.NewFlagSet("merge", flag.ContinueOnError)
	c.register(f)
	f.StringVar(&c.out, "o", "", "`folder` for what they come to together")
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if len(places) < 2 || c.out == "" {
		return exitFailed, errors.New("merge: want the folders of batches and one for the result: merge OUT1 OUT2 -o OUT")
	}
	if old, err := record.ReadAll(c.out); err != nil || len(old) > 0 {
		return exitFailed, errors.Join(err, fmt.Errorf("merge: %s holds records already: give a new folder", c.out))
	}
	merged := map[string]*record.Record{}
	for _, place := range places {
		records, err := record.ReadAll(place)
		if err != nil {
			return exitFailed, err
		}
		if len(records) == 0 {
			return exitFailed, fmt.Errorf("merge: %s holds no records: want the folder that a batch wrote with -o", place)
		}
		for _, r := range records {
			name := record.Name(r.Student.ID, r.Attempt)
			if old, ok := merged[name]; ok {
				both, notes := record.Merge(old, r)
				for _, n := range notes {
					fmt.Println("note:", n)
				}
				r = both
			}
			merged[name] = r
		}
	}
	for _, r := range merged {
		if err := record.Write(c.out, r); err != nil {
			return exitFailed, err
		}
	}
	first := c
	first.out = places[0]
	_, all, settings, err := first.open() // the first one's tables, unless others are given
	if err != nil {
		return exitFailed, err
	}
	first.out = c.out
	class, err := first.class(all, settings)
	if err != nil {
		return exitFailed, err
	}
	if err := settings.Save(c.out); err != nil {
		return exitFailed, err
	}
	fmt.Printf("%d records of %d batches joined.\n", len(merged), len(places))
	return first.write(class)
}
