package sim

import (
	"encoding/json"
	"os"

	"flashlab/device"
	"flashlab/internal/cache"
)

// vettedMark lies beside a module whose text has been vetted, and holds that text.
func vettedMark(so string) string { return so + ".vetted" }

func writeVetted(so string, forms [][]Line) error {
	text, err := json.Marshal(forms)
	if err != nil {
		return err
	}
	return cache.WriteFile(vettedMark(so), text, 0o644)
}

// vettedForms are the forms of a module's text that have been vetted; nil where nobody has.
func vettedForms(so string) (forms [][]Line) {
	text, err := os.ReadFile(vettedMark(so))
	if err != nil || json.Unmarshal(text, &forms) != nil {
		return nil
	}
	return forms
}

// tell tells whoever asked what was vetted of a module, today or before.
func (o Options) tell(src device.Source, so string) {
	if o.Vetted != nil {
		o.Vetted(src, vettedForms(so))
	}
}
