package sim

import (
	"encoding/json"
	"os"

	"flashlab/device"
	"flashlab/internal/cache"
)

// vetted is what is known of a module's text that has been vetted.
type vetted struct {
	Forms   [][]Line  // the text
	Refused []refused // kernels that come to what is not understood
}

// vettedMark lies beside a module whose text has been vetted, and holds that.
func vettedMark(so string) string { return so + ".vetted" }

func (v vetted) write(so string) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return cache.WriteFile(vettedMark(so), text, 0o644)
}

// readVetted finds it; Forms are nil where nobody has vetted the text.
func readVetted(so string) (v vetted) {
	text, err := os.ReadFile(vettedMark(so))
	if err != nil || json.Unmarshal(text, &v) != nil {
		return vetted{}
	}
	return v
}

// tell tells whoever asked what was vetted of a module, today or before.
func (o Options) tell(src device.Source, so string) {
	if o.Vetted != nil {
		o.Vetted(src, readVetted(so).Forms)
	}
}
