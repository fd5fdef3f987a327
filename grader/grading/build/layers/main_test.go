package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked gives the answers to requests, less the first, which says what is served.
func asked(t *testing.T, l layers, requests ...string) []response {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, l.serve(strings.NewReader(strings.Join(requests, "\n")), &out))
	var all []response
	for d := json.NewDecoder(&out); d.More(); {
		var a response
		require.NoError(t, d.Decode(&a))
		all = append(all, a)
	}
	require.Len(t, all, len(requests)+1)
	return all[1:]
}

const (
	putAB = `{"ID":1,"Command":"put","ActionID":"QQ==","OutputID":"Qg==","BodySize":3}` + "\n" + `"b25l"`
	getAB = `{"ID":2,"Command":"get","ActionID":"QQ=="}`
	getCD = `{"ID":3,"Command":"get","ActionID":"Qw=="}`
	putCD = `{"ID":4,"Command":"put","ActionID":"Qw==","OutputID":"RA==","BodySize":0}`
)

func TestWhatIsNewGoesToTheLastLayer(t *testing.T) {
	warm, own, another := t.TempDir(), t.TempDir(), t.TempDir()
	a := asked(t, layers{dirs: []string{warm}}, getAB, putAB, getAB, `{"ID":9,"Command":"close"}`)
	assert.True(t, a[0].Miss)
	assert.Equal(t, int64(9), a[3].ID)
	a = asked(t, layers{dirs: []string{warm, own}}, getAB, getCD, putCD, getCD)
	text, err := os.ReadFile(a[0].DiskPath)
	require.NoError(t, err)
	assert.Equal(t, "one", string(text))
	assert.Equal(t, "B", string(a[0].OutputID))
	assert.True(t, a[1].Miss)
	assert.True(t, strings.HasPrefix(a[3].DiskPath, own))
	assert.NotNil(t, a[3].Time)
	a = asked(t, layers{dirs: []string{warm, another}}, getAB, getCD)
	assert.False(t, a[0].Miss)
	assert.True(t, a[1].Miss, "it is the other one's")
}

func TestWhatCannotBeWrittenIsSaid(t *testing.T) {
	gone := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(gone, nil, 0o644))
	assert.Contains(t, asked(t, layers{dirs: []string{gone}}, putCD)[0].Err, "not a directory")
	assert.Contains(t, asked(t, layers{dirs: []string{t.TempDir()}}, strings.Replace(putAB, `":3`, `":4`, 1))[0].Err, "3 bytes came, 4 were announced")
	// An output that was cut off is a miss.
	dir := t.TempDir()
	a := asked(t, layers{dirs: []string{dir}}, putAB, getAB)
	require.NoError(t, os.Truncate(a[1].DiskPath, 1))
	assert.True(t, asked(t, layers{dirs: []string{dir}}, getAB)[0].Miss)
}

// TestWhatGoHasIsCopied has the go command itself fill a cache, and so say what its form is.
func TestWhatGoHasIsCopied(t *testing.T) {
	cache, warm := t.TempDir(), t.TempDir()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module made\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "made.go"), []byte("package made\n"), 0o644))
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOCACHE="+cache, "GOCACHEPROG=", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	entries, err := filepath.Glob(filepath.Join(cache, "*", "*-a"))
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, file := range entries {
		id, err := hex.DecodeString(strings.TrimSuffix(filepath.Base(file), "-a"))
		require.NoError(t, err)
		get := fmt.Sprintf(`{"ID":1,"Command":"get","ActionID":%q}`, base64.StdEncoding.EncodeToString(id))
		a := asked(t, layers{[]string{warm}, cache}, get)[0]
		require.False(t, a.Miss)
		text, err := os.ReadFile(a.DiskPath)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(a.DiskPath, warm))
		assert.Equal(t, int64(len(text)), a.Size)
		sum := sha256.Sum256(text)
		assert.Equal(t, sum[:], a.OutputID)
		assert.False(t, asked(t, layers{dirs: []string{warm}}, get)[0].Miss, "it is there to stay")
		// What was changed is not believed.
		output := filepath.Join(cache, hex.EncodeToString(sum[:])[:2], hex.EncodeToString(sum[:])+"-d")
		require.NoError(t, os.WriteFile(output, append(text, 'x'), 0o644))
		assert.True(t, asked(t, layers{[]string{t.TempDir()}, cache}, get)[0].Miss)
		require.NoError(t, os.WriteFile(output, text, 0o644))
	}
}
