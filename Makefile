# flashlab: bare `make` lists what there is. The grader does what has no recipe here: grade, show, bench …

include scripts/commands.mk

# CUDA sources and the C++ of the simulator, as clang-format sees them.
CUDA_FILES = $(shell find . \( -name '*.cu' -o -name '*.cuh' -o -path './device/nvcc/include/*.h' -o -path './device/include/*.h' -o \( -path './device/sim/*' -o -path './device/program/*' \) \( -name '*.cpp' -o -name '*.h' \) \) -not -path './out/*' -not -path './.*/*' -not -path '*/_bases/*')

demo: checked ## two solutions graded, a race found, GPT-2 writes
	@echo
	@echo '== 1 of 3: the reference solutions of tasks 2 and 4, graded as yours will be: compiled, then'
	@echo '   run in the simulator. (make grade SOLUTION=1 grades all tasks, in two minutes.)'
	@for task in 2 4; do $(GRADER) grade SOLUTION=1 TASK=$$task || exit; done
	@echo
	@echo '== 2 of 3: the softmax of task 2 with one __syncthreads() taken out. The results may'
	@echo '   even be right; the simulator sees the race all the same, and says where it is.'
	@$(GRADER) grade TASK=2 MUTANT=missing_barrier CASE=softmax; \
		code=$$?; [ $$code -ne 0 ] || echo 'demo: the mutant got full marks, which is a bug of the grader' >&2; \
		[ $$code -eq 1 ]
	@echo
	@echo 'Points were lost, as they should be.'
	@echo
	@echo '== 3 of 3: where it leads. A small GPT-2, with the attention kernels of tasks 4 and 5 and'
	@echo '   the layer of task 6. Without a GPU it runs in the simulator, a token at a time.'
	@echo '   Building it, and compiling its kernels …'
	@$(GRADER) gpt2 SOLUTION=1 TOKENS=24
	@echo
	@echo 'Now you: task0_warmup/README.md, if CUDA is new to you; else task1_reference/README.md'

# No vet in either: make lint, which goes with them, runs all of it and not the few checks that go test would. And no
# tables for a debugger, which are most of what linking a hundred tests takes.
tests = go test -vet=off -ldflags=-w -p $(at_once) -overlay=out/solutions.json
# One package more at a time than there are processors: some do little but wait for Slurm or for a deadline.
at_once = $$(($$(nproc) + 1))
# The longest begin first: by their names some would begin when all others are done, and end on one processor.
longest := ./grader/trial ./device/sim ./grader/tasks/skeleton ./grader/grading/build

run: checked ## compile and run a whole CUDA program; FILE=prog.cu: its source; ARGS=words: its own arguments
	@go build -o out/bin/flashlab-run ./device/program/cmd/flashlab-run
	@out/bin/flashlab-run $(FILE) $(ARGS)

dist: checked ## the program that does it, for Linux on amd64 and arm64, into out/dist
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch go build -trimpath -ldflags='-s -w' -o out/dist/flashlab-run-linux-$$arch \
			./device/program/cmd/flashlab-run || exit; done
	@ls -l out/dist

test: checked ## every test, with solutions in place of the stubs
	@$(GRADER) overlay
	@$(tests) $(longest) ./...

test-all: checked ## the same with every specimen and every slow test; FRESH=1: those on record, too
	@$(GRADER) overlay
	@FLASHLAB_ALL=1 FLASHLAB_FRESH=$(FRESH) $(tests) -timeout 60m $(longest) ./...

test-gpu: checked ## run every test with the CUDA device (needs a GPU and nvcc)
	@$(GRADER) overlay
	@settings=$$($(GRADER) env) && eval "$$settings" && \
		go test -tags cuda -overlay=out/solutions.json ./...

test-python: checked ## run python/flashlab's tests (those that need PyTorch, JAX or a GPU are skipped without)
	@PYTHONPATH=python python3 -m unittest discover -s python/tests -v

race: setup ## the tests of all packages that start goroutines, under the race detector
	@scripts/race.sh

fuzz: setup ## every fuzz target, for half a minute each
	@scripts/fuzz.sh 30s

nvcc-check: checked ## vet the cuda build and compile every .cu that is not on record with nvcc (no GPU needed)
	@scripts/nvcc-check.sh

lint: ## gofmt, go vet, staticcheck, pyflakes, clang-format
	@unformatted=$$(find . -name '*.go' -not -path './out/*' -exec gofmt -l {} +); [ -z "$$unformatted" ] || \
		{ echo "not formatted (make format): $$unformatted" >&2; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...
	@scripts/lint-solutions.sh
	@if command -v pyflakes3 >/dev/null; then \
		find . -name '*.py' -not -path './out/*' -not -path './.*/*' -exec pyflakes3 {} +; \
	else \
		echo 'lint: no pyflakes here, so names in .py files were not checked'; \
	fi
	@if [ -n "$(CLANG_FORMAT)" ]; then \
		"$(CLANG_FORMAT)" --dry-run -Werror $(CUDA_FILES); \
	else \
		echo 'lint: no clang-format here, so .cu files were not checked'; \
	fi

format: ## gofmt and clang-format, written to the files
	@find . -name '*.go' -not -path './out/*' -exec gofmt -w {} +
	@[ -z "$(CLANG_FORMAT)" ] || "$(CLANG_FORMAT)" -i $(CUDA_FILES)
