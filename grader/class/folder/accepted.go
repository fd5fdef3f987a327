package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flashlab/grader/class/record"
)

// acceptedName is the file in a batch's folder that remembers for which attempts overrides without a receipt were
// given. Where it is lost, they count for the attempts that count by then.
const acceptedName = "overrides.json"

func readAccepted(out string) (map[string]string, error) {
	all := map[string]string{}
	if out == "" {
		return all, nil
	}
	name := filepath.Join(out, acceptedName)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: write receipts into overrides.csv, and remove the file", name, err)
	}
	return all, nil
}

func saveAccepted(out string, all map[string]string) error {
	if len(all) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return record.Durable(filepath.Join(out, acceptedName), append(data, '\n'))
}
