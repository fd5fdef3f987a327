package gradebook

import (
	"slices"
	"strconv"

	"github.com/xuri/excelize/v2"

	"flashlab/internal/harmless"
)

// textColumns are those of the gradebook whose cells stay texts, whatever they look like: an id 007 is no 7.
var textColumns = []string{"id", "name", "email", "submitted", "receipt", "notes"}

// XLSX is the gradebook as a workbook: numbers are numbers in every language's spreadsheet, where a CSV's 2.5 becomes a
// date in half of them. No cell is a formula.
func (c Class) XLSX(entries []Entry) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	const sheet = "Gradebook"
	if err := f.SetSheetName("Sheet1", sheet); err != nil {
		return nil, err
	}
	rows := c.rows(entries)
	for i, row := range rows {
		for j, text := range row {
			cell, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				return nil, err
			}
			number, bad := strconv.ParseFloat(text, 64)
			switch {
			case text == "":
			case i == 0 || slices.Contains(textColumns, rows[0][j]) || bad != nil:
				err = f.SetCellStr(sheet, cell, harmless.Line(text))
			default:
				err = f.SetCellFloat(sheet, cell, number, -1, 64)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	// The header and the names stay in sight.
	if err := f.SetPanes(sheet, &excelize.Panes{Freeze: true, XSplit: 2, YSplit: 1, TopLeftCell: "C2", ActivePane: "bottomRight"}); err != nil {
		return nil, err
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
