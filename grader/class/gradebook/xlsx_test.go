package gradebook

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

// The workbook has what the CSV has: numbers as numbers, and texts as texts, whatever they look like.
func TestTheWorkbookHasTheSameCells(t *testing.T) {
	roster := &intake.Roster{}
	require.NoError(t, roster.Add(record.Student{ID: "007", Name: "=HYPERLINK(\"x\")", Email: "a@x"}))
	require.NoError(t, roster.Add(record.Student{ID: "1e5", Name: "NaN"}))
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Roster: roster, Records: []*record.Record{attempt("007", 1, "2026-11-09 12:00", part("2", "x", 0.5))}}
	data, err := c.XLSX(c.Entries())
	require.NoError(t, err)
	again, err := c.XLSX(c.Entries())
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, again), "equal grades give equal bytes")
	f, err := excelize.OpenReader(bytes.NewReader(data))
	require.NoError(t, err)
	cells := 0
	for i, row := range c.rows(c.Entries()) {
		for j, want := range row {
			name, err := excelize.CoordinatesToCellName(j+1, i+1)
			require.NoError(t, err)
			got, err := f.GetCellValue("Gradebook", name)
			require.NoError(t, err)
			assert.Equal(t, want, got, name)
			formula, err := f.GetCellFormula("Gradebook", name)
			require.NoError(t, err)
			assert.Empty(t, formula, name)
			cells++
		}
	}
	assert.Equal(t, 3*16, cells)
	kind, err := f.GetCellType("Gradebook", "A2")
	require.NoError(t, err)
	assert.Equal(t, excelize.CellTypeSharedString, kind, "the id 007")
	kind, err = f.GetCellType("Gradebook", "I2")
	require.NoError(t, err)
	assert.NotEqual(t, excelize.CellTypeSharedString, kind, "points")
}
