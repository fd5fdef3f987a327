package release

import (
	"context"
	"encoding/json"

	"flashlab/grader/edition"
)

// Grading is the tree that grades elsewhere. It is like the students', but with the instructors'
// commands and the hidden cases, and so not for students. Solutions, mutants and exploits stay behind
// here, too: grading strangers' code needs none of these, and that code must not read them.
func Grading(ctx context.Context, root string) (*Tree, error) {
	t, course, err := lastCommit(ctx, root, "", "")
	if err != nil {
		return nil, err
	}
	t.Contents, t.Files = map[string][]byte{}, map[string]string{}
	for name, data := range course {
		if grades(name) {
			t.Contents[name], t.Files[name] = data, edition.Sum(data)
		}
	}
	manifest, err := json.MarshalIndent(t.Manifest, "", "  ")
	if err != nil {
		return nil, err
	}
	t.Contents[edition.ManifestName] = append(manifest, '\n')
	return t, nil
}
