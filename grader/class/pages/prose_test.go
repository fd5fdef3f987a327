package pages

import (
	"html/template"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommandsInMessagesAreCode(t *testing.T) {
	for text, want := range map[string]string{
		"hand in the zip that `make pack` writes": "hand in the zip that <code>make pack</code> writes",
		"`<script>`": "<code>&lt;script&gt;</code>", "<b>`</b>": "&lt;b&gt;`&lt;/b&gt;", "a ` b": "a ` b", "``": "``", "`a` and `b`": "<code>a</code> and <code>b</code>",
	} {
		assert.Equal(t, template.HTML(want), prose(text, 100), text)
	}
}
