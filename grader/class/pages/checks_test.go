package pages

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTableOfChecksHasEachCheckOnce(t *testing.T) {
	in := sample(t, 40)
	rows, err := csv.NewReader(strings.NewReader(written(t, in)[Checks])).ReadAll()
	require.NoError(t, err)
	want := 0
	for _, task := range in.Entries[0].Tasks {
		want += len(task.Rubric.Checks)
	}
	assert.Len(t, rows, want+1)
	for _, row := range rows[1:] {
		assert.Len(t, row, len(rows[0]))
		of, err := strconv.ParseFloat(row[3], 64)
		require.NoError(t, err)
		mean, err := strconv.ParseFloat(row[7], 64)
		require.NoError(t, err, "%v", row)
		assert.True(t, mean >= 0 && mean <= of, "%v", row)
		students, _ := strconv.Atoi(row[4])
		begun, _ := strconv.Atoi(row[5])
		assert.True(t, begun <= students && students <= 40, "%v", row)
	}
}
