package nn

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nvcc-check compiles the kernels without Go, so its script tells their macros, too: the same names, or a file fails
// there alone.
func TestNvccCheckKnowsTheMacros(t *testing.T) {
	script, err := os.ReadFile("../scripts/nvcc-check.sh")
	require.NoError(t, err)
	wanted := map[string]map[string]int{"hopper.cu": hopperDefines(128)}
	for name, macros := range defines {
		wanted[name] = macros
	}
	for name, macros := range wanted {
		line := regexp.MustCompile(`(?m)^ *\./nn/` + regexp.QuoteMeta(name) + `\) echo '(.*)' ;;$`).FindSubmatch(script)
		require.NotNil(t, line, "scripts/nvcc-check.sh has no macros for nn/%s", name)
		for macro := range macros {
			found := slices.ContainsFunc(strings.Fields(string(line[1])), func(flag string) bool {
				return strings.HasPrefix(flag, "-D"+macro+"=")
			})
			require.True(t, found, "nn/%s needs %s; scripts/nvcc-check.sh defines %s", name, macro, line[1])
		}
	}
}
