package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindingsAreWrittenAsJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, simulate("read_too_early", &b))
	var got outcome
	require.NoError(t, json.Unmarshal(b.Bytes(), &got), b.String())
	require.Len(t, got.Findings, 1)
	assert.Equal(t, "race", got.Findings[0].Kind)
	assert.Equal(t, "races.cu", got.Findings[0].File)
	assert.NotZero(t, got.Findings[0].Line)
	assert.Empty(t, got.Stopped)

	b.Reset()
	require.NoError(t, simulate("read_too_early_ok", &b))
	assert.Contains(t, b.String(), `"Findings": []`)

	assert.ErrorContains(t, simulate("no_such_bug", &b), "no_such_bug")
}
