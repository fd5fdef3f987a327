package talk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/task7/asked"
)

// TestABarFillsUpBehindTheText, and leaves nothing of itself.
func TestABarFillsUpBehindTheText(t *testing.T) {
	var out strings.Builder
	b := &bar{to: &out, on: true}
	b.progress(1, 2)
	b.progress(2, 2)
	b.clear()
	b.clear()
	assert.Equal(t, "▌\b█\b \b", out.String())
	out.Reset()
	b = &bar{to: &out}
	b.progress(1, 2)
	b.clear()
	assert.Empty(t, out.String(), "nobody watches")
	_, err := safe{&out}.Write([]byte("a\x1b[2Jb"))
	require.NoError(t, err)
	assert.Equal(t, "a⟨U+001B⟩[2Jb", out.String())
}

// TestChatsFlagsAreTold: the command hands on what the program reads, and nothing else.
func TestChatsFlagsAreTold(t *testing.T) {
	f := (&talk{Program: Program{Kernels: []string{"own"}}}).flags()
	for _, one := range asked.Chat {
		assert.NotNil(t, f.Lookup(one.Name), one.Name)
	}
}
