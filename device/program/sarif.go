package program

import (
	"encoding/json"
	"io"

	"flashlab/device/trace"
)

// WriteSARIF writes findings as SARIF 2.1.0, which GitHub shows beside the lines of a pull request. Paths are those of
// the files as they were named.
func WriteSARIF(w io.Writer, findings, notes []trace.Finding, path func(file string) string) error {
	type text struct {
		Text string `json:"text"`
	}
	type region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	type place struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region region `json:"region"`
	}
	type location struct {
		Physical place `json:"physicalLocation"`
	}
	type result struct {
		Rule      string     `json:"ruleId"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations,omitempty"`
	}
	results := []result{}
	add := func(all []trace.Finding, level string) {
		for _, f := range all {
			message := f.Message
			for _, n := range f.Notes {
				message += "\n" + n
			}
			if f.Hint != "" {
				message += "\nhint: " + f.Hint
			}
			r := result{Rule: f.Check + "/" + f.Kind, Level: level, Message: text{message}}
			if f.Line > 0 {
				var l location
				l.Physical.Artifact.URI = path(f.File)
				l.Physical.Region = region{f.Line, f.Column}
				r.Locations = append(r.Locations, l)
			}
			results = append(results, r)
		}
	}
	add(findings, "error")
	add(notes, "note")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"version": "2.1.0",
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "flashlab-run"}},
			"results": results,
		}},
	})
}
