package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/command"
	"flashlab/internal/repo"
)

// What make help shows without a grader is what the grader would say, and fits a screen.
func TestHelpFitsOneScreen(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for folder, list := range map[string]command.List{"": commands, "grader/release/tree": commonCommands(nil)} {
		want, err := list.Screen(filepath.Join(root, folder, "Makefile"), filepath.Join(root, "scripts", "commands.mk"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(root, folder, "scripts", "help.txt"))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), "make screens writes it")
		lines := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
		assert.GreaterOrEqual(t, len(lines), 24)
		assert.LessOrEqual(t, len(lines), 30)
		for _, line := range lines {
			assert.LessOrEqual(t, len([]rune(line)), 80, line)
		}
	}
}

// grader/README.md lists every command, in the folder and the order of the lists.
func TestTheReadmeListsEveryCommand(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for folder, list := range map[string]command.List{"student": commonCommands(nil), "instructor": instructors()} {
		_, body, found := strings.Cut(string(text), "    command/"+folder+"/")
		require.True(t, found, folder)
		end := regexp.MustCompile(`\n(\n| {4}\S)`).FindStringIndex(body)
		require.NotNil(t, end, folder)
		var want []string
		for _, c := range list {
			if !c.Hidden {
				want = append(want, c.Name)
			}
		}
		assert.Equal(t, strings.Join(want, ", "), strings.Join(strings.Fields(body[:end[0]]), " "), "grader/README.md: the commands in command/%s", folder)
	}
}

// A students' tree has neither solutions nor mutants, so no variable of its commands picks one.
func TestStudentsAreOfferedNoSolutions(t *testing.T) {
	for _, c := range commonCommands(nil) {
		f := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Define(f)
		f.VisitAll(func(one *flag.Flag) {
			assert.NotContains(t, []string{"solution", "mutant", "version", "mutants", "ladder", "docs"}, one.Name, c.Name)
			for _, word := range []string{"SOLUTION", "MUTANT", "VERSION"} {
				assert.NotContains(t, one.Usage, word, "%s %s", c.Name, one.Name)
			}
		})
		assert.NotContains(t, c.Usage+c.Summary, "SOLUTION", c.Name)
	}
}
