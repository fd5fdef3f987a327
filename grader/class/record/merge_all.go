package record

import (
	"errors"
	"fmt"
)

// MergeAll joins the records of several batches over the same submissions into a new folder, and
// counts them. note is called where they disagree.
func MergeAll(places []string, out string, note func(string)) (n int, err error) {
	if old, err := ReadAll(out); err != nil || len(old) > 0 {
		return 0, errors.Join(err, fmt.Errorf("%s holds records already: give a new folder", out))
	}
	merged := map[string]*Record{}
	for _, place := range places {
		records, err := ReadAll(place)
		if err != nil {
			return 0, err
		}
		if len(records) == 0 {
			return 0, fmt.Errorf("%s holds no records: want the folder that a batch wrote with O", place)
		}
		for _, r := range records {
			name := Name(r.Student.ID, r.Attempt)
			if old, ok := merged[name]; ok {
				both, notes := Merge(old, r)
				for _, n := range notes {
					note(n)
				}
				r = both
			}
			merged[name] = r
		}
	}
	for _, r := range merged {
		if err := Write(out, r); err != nil {
			return 0, err
		}
	}
	return len(merged), nil
}
