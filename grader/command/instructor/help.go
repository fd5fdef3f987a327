package instructor

import (
	"os"
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Screens writes what `make help` shows without a grader: here with these commands, in the students' tree with theirs.
func Screens(ours, students func() command.List) command.Command {
	return command.Command{Name: "screens", Summary: "write again what make help shows, here and in the students' tree", Group: command.Course,
		Define: command.Do(func() error {
			root, err := repo.Root()
			if err != nil {
				return err
			}
			for folder, list := range map[string]command.List{"": ours(), "grader/release/tree": students()} {
				text, err := list.Screen(filepath.Join(root, folder, "Makefile"), filepath.Join(root, "scripts", "commands.mk"))
				if err != nil {
					return err
				}
				file := filepath.Join(folder, "scripts", "help.txt")
				if err := os.MkdirAll(filepath.Join(root, folder, "scripts"), 0o755); err != nil {
					return err
				}
				if err := cache.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
					return err
				}
				harmless.Println("Written:", file)
			}
			return nil
		})}
}
