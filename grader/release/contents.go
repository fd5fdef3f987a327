package release

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// What goes along from the course's root. Anything new there stays behind until
// it is named here.
var kept = []string{
	".clang-format", ".clangd", ".devcontainer", ".editorconfig", ".gitattributes", ".gitignore", ".vscode", "Containerfile", "LICENSE", "Results.md",
	"compile_flags.txt", "go.mod", "go.sum",
	"attn", "bench", "device", "docs", "grader", "hbm", "internal", "nn", "python", "scripts", "tensor",
}

// The parts of it that stay behind.
var left = []string{
	"device/corpus",       // the simulator's own corpus: among it whole attention kernels
	"docs/attacks.md",     // what was tried
	"docs/instructors.md", // not for students
	"docs/teaching.md",    // nor exam questions and their answers
	"docs/threats.md",     // nor what the sandbox does not hold
	"grader/README.md",    // of rooms that are not there
	"grader/release/tree", // becomes the root's README.md and Makefile
	"grader/trial/_bases", // solutions
	"grader/trial/specimens",
	"grader/grading/judge/judgetest",
	"device/include/split.h",                                // b6's and b7's solutions
	"attn/attntest/both.go", "attn/attntest/overlapping.go", // for tests of solutions
	"device/devicetest",        // for tests alone
	"grader/slurm/slurmtest",   // too
	"internal/fates",           // too
	"internal/mutate",          // too
	"python/tests",             // too
	"python/racing",            // what races of solutions share
	"scripts/fuzz.sh",          // of the course's own CI
	"scripts/nvcc-check.sh",    // too
	"scripts/race.sh",          // too
	"scripts/slurm-cluster.sh", // for tests alone
	"scripts/walk-release.sh",
}

// What only the instructors' commands need: a tree that grades elsewhere has it, but students do not.
var instructors = []string{"grader/instructor.go", "grader/command/instructor", "grader/class", "grader/trial", "grader/handouts", "grader/release", "grader/tasks/skeleton",
	"grader/bench/estimates",       // of all versions of the solutions
	"grader/bench/talk",            // what solutions and mutants say
	"grader/bench/ways", "nn/half", // a whole model in halves, which shows how the bonus tasks' kernels are done
	"nn/flash.cu", "nn/flash.go", // task 4, further on
	"nn/persistent", "nn/gpt2/persistent", "nn/gpt2/persistent.go", "nn/gpt2/persistent_memory.go", "nn/gpt2/persistent_texts.go"} // a step as one kernel: task 5's splitting, and b8's copies

// pair is a file that students get, and a solution.
type pair struct{ file, solution string }

// shared are pairs that may have some text in common, and how many runs of it (see
// leakRun): each with its reason.
var shared = map[pair]int{
	// A float32 as two halves is told the same way in all of them (nn/copies_test.go): nn is
	// open to students, and neither task asks for tensor cores.
	{"nn/pieces.cu", "task2_unfused/solution/kernels.cu"}: 334,
	{"nn/pieces.cu", "task4_flash/solution/kernels.cu"}:   265,
	// The operands of mma.sync, which have one order: b2's handout prints them, too.
	{"device/nvcc/include/tensorcore.h", "bonus/b2_halves/solution/kernels.cu"}: 18,
}

var agreement = regexp.MustCompile(`^scripts/.*-agreement\.sh$`)

// ofATask tells whether a file of the course is in a task's folder.
func ofATask(name string) bool {
	_, _, ok := registry.All.Owner(name)
	return ok
}

// replaced is where the students' own README.md and Makefile are.
const replaced = "grader/release/tree/"

// goes tells whether students get a file of the course.
func goes(name string) bool {
	return !below(name, instructors) && !within(name, rubric.VariantsDir) && grades(name)
}

// grades tells whether a tree that grades elsewhere gets it.
func grades(name string) bool {
	if ofATask(name) {
		return !within(name, "solution")
	}
	top, _, _ := strings.Cut(name, "/")
	switch {
	case name == "device/corpus/AGREEMENT.md" || name == "device/corpus/HOPPER.md": // pages about the simulator
		return true
	case !slices.Contains(kept, top) || agreement.MatchString(name) || below(name, left):
		return false
	}
	// The course's own tests need its solutions, mutants and corpus, and all of
	// testdata belongs to them. A task's tests are its public checks.
	return !within(name, "testdata") && !strings.HasSuffix(name, "_test.go")
}

// below tells whether a file is one of these, or in one.
func below(name string, these []string) bool {
	return slices.ContainsFunc(these, func(one string) bool { return name == one || strings.HasPrefix(name, one+"/") })
}

// within tells whether a folder of this name is on a file's path.
func within(name, folder string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), folder)
}
