package release

import (
	"fmt"
	"path"
	"strings"

	"flashlab/grader/tasks/registry"
)

// fromFolder is the Makefile of a task's folder: make there does what make does above, and of this task.
func fromFolder(task registry.Task) []byte {
	up := strings.Repeat("../", strings.Count(path.Clean(task.Dir), "/")+1)
	return fmt.Appendf(nil, `# make in this folder is make in the course's: make grade here is make grade TASK=%[1]s there.
help:
	@$(MAKE) --no-print-directory -C %[2]s $@

Makefile: ;

%%: above
	@$(MAKE) --no-print-directory -C %[2]s $@ $(if $(TASK),,$(if $(filter grade watch show hint build regrade,$@),TASK=%[1]s))

.PHONY: help above
above: ;
`, task.Name, strings.TrimSuffix(up, "/"))
}
