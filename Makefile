# flashlab: bare `make` lists what there is.

GRADER := out/bin/grader

# CUDA sources and the C++ of the simulator, as clang-format sees them.
CUDA_FILES = $(shell find . \( -name '*.cu' -o -name '*.cuh' -o -path './device/nvcc/include/*.h' -o -path './device/include/*.h' -o -path './device/sim/*' \( -name '*.cpp' -o -name '*.h' \) \) -not -path './out/*' -not -path './.*/*' -not -path '*/_bases/*')
CLANG_FORMAT ?= $(shell command -v clang-format-16 || command -v clang-format)

GRADE_FLAGS = $(if $(TASK),-task '$(TASK)') $(if $(CASE),-case '$(CASE)') \
	$(if $(SEED),-seed '$(SEED)') $(if $(DEVICE),-device '$(DEVICE)') \
	$(if $(THREAD),-thread '$(THREAD)') $(if $(BLOCK),-block '$(BLOCK)') $(if $(DETAILS),-details) \
	$(if $(SOLUTION),-solution) $(if $(VERSION),-version '$(VERSION)') $(if $(MUTANT),-mutant '$(MUTANT)') $(if $(VARIANT),-variant '$(VARIANT)')

MAKEFLAGS += --no-print-directory
export PROMPT # by the environment, for it may hold quotes
# As workers are built without a GPU: so that Go's library is compiled once, not twice. `grader env` turns it on.
export CGO_ENABLED ?= 0

COMMANDS := help setup grader demo test test-all test-gpu grade build watch bench show pack profile sanitize gpu plot tune e2e gpt2 five release lint \
	nvcc-check format clean
.PHONY: $(COMMANDS)
.DEFAULT_GOAL := help

# What each command takes; the others take nothing, and whatever else is given is an error.
takes.grade    := TASK CASE DETAILS SEED DEVICE THREAD BLOCK SOLUTION VERSION MUTANT VARIANT
takes.build    := TASK DEVICE SOLUTION MUTANT
takes.watch    := TASK CASE SEED DEVICE
takes.bench    := TASK SUBMISSION VERSION LADDER RUNS WORKLOAD DEVICE SEED DOCS MISTAKES AGAIN
takes.show     := TASK CASE SEED SOLUTION VERSION MUTANT
takes.profile  := TASK CASE SEED SOLUTION VERSION MUTANT WORKLOAD
takes.sanitize := TASK CASE SEED SOLUTION VERSION MUTANT
takes.gpu      := TASK CASE DEVICE SOLUTION DO
takes.plot     := TASK DEVICE SOLUTION
takes.tune     := TASK DEVICE SOLUTION DIM
takes.e2e      := SIZE KERNELS TOKENS DEVICE SOLUTION
takes.gpt2     := MODEL PROMPT KERNELS TOKENS PROMPT_TOKENS TEMPERATURE TOPK TOPP SEED REF PERPLEXITY CACHE WEIGHTS CALIBRATION HEAD STEP DEVICE SOLUTION
takes.five     := SHAPE MODEL BATCH PROMPT PERPLEXITY PROMPT_TOKENS TOKENS WAYS SEED DEVICE
takes.release  := VERSION COURSE
#= TASK=2               one task (grade, build and bench: all but task 0 and the bonus tasks without it; TASK=bonus is all of these)
#= CASE=softmax/17x113  one case of it; or one check, or a part of a name: CASE=gemm
#= DETAILS=1            every part of every check, and what was counted besides, without points
#= SEED=7               the inputs of an earlier run (a fresh seed without it); of gpt2, what is drawn
#= DEVICE=sim           sim or cuda (a GPU where there is one, else the simulator)
#= THREAD=3,0,0         with CASE: only this thread's printf; BLOCK=1,0,0 likewise
#= SOLUTION=1           the reference solution in place of your files
#= VERSION=4_quads      with SOLUTION=1, and of bench: an earlier version of it (solution/_versions);
#=                      of release: its name, such as 2027.1
#= LADDER=flash         bench times all versions of one kind of kernel in one run, and draws them (softmax, product, flash,
#=                      decode, rope, halves, codes, projection, fourbit, decode16, kivi, int4)
#= MUTANT=name          a known-wrong solution
#= VARIANT=window       grade as in a year with this variant; SOLUTION=1 is then the variant's
#= COURSE=course.toml   release what this class gets: the variant that it names
#= SUBMISSION=folder    bench times the files in it, the reference beside them
#= RUNS=5               how many runs of each bench times; WORKLOAD=flash-4 those whose name
#=                      begins so; of profile, the one of that name
#= DOCS=1               bench also writes docs/reference.md and its pictures
#= AGAIN=file.json      compares the ratios with an earlier run's, such as docs/reference.json
#= MISTAKES=1           measures wrongly on purpose (docs/measuring.md; with DOCS=1 its table)
#= DO=profile           the Slurm job does this, or sanitize, in place of grading
#= DIM=64               the heads' size for tune (128 without it)
#= SIZE=small           e2e's model: tiny, small, medium, large or full; the largest that fits without it
#= KERNELS=given        the course's kernels, not yours; of e2e with your layer on them
#= TOKENS=100           how many e2e times, or gpt2 or five writes
#= MODEL=folder         GPT-2 as Hugging Face has it, any size; the course's own without it; of five, a Llama
#= SHAPE=8B             five's model with random weights: tiny, 1B, 3B, 8B, 70B (without it 8B, in the simulator tiny);
#=                      BATCH=16 sequences; WAYS=1,2 these of the ways; 6 and 7 are steps as one kernel
#= PROMPT="In optics"   what to go on from; PROMPT_TOKENS=512 from so many random ones (of five with PERPLEXITY=file, of that)
#= TEMPERATURE=0.8 TOPK=40 TOPP=0.95   sampled; without a temperature, greedy
#= STEP=persistent      each token by one kernel, on a GPU from Hopper on, in place of a graph; STEP=persistent,bits=16 with matrices in halves
#= REF=1                beside the same model in plain Go, and Hugging Face's if there is one
#= PERPLEXITY=file      measured on a text; CACHE=kivi (halves, int8, int4, all) with a cache of so many bits, in plain Go;
#=                      WEIGHTS=gptq (full, int4, int4-zeros, gptq-zeros, all) with rounded matrices, in plain Go: GPTQ for
#=                      CALIBRATION=file (Newton's Opticks without it), less what PERPLEXITY's has of it;
#=                      HEAD=folder one head compared with PyTorch; of five with a MODEL=folder, in each of its ways

THIS := $(firstword $(MAKEFILE_LIST))
include scripts/variables.mk

help: ## this list
	@echo 'flashlab: attention kernels, from a softmax to a talking GPT-2'
	@echo
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(THIS)
	@echo
	@echo 'Variables, as in make grade TASK=2:'
	@echo
	@awk -F ':= ' 'sub(/^takes\./, "") { printf "  make %-10s %s\n", $$1, $$2 }' $(THIS)
	@echo
	@sed -n 's/^#= /  /p' $(THIS)

setup: ## check Go and the C++ compiler; install or name what is missing
	@sh scripts/setup.sh

# Built, not `go run`: that turns every exit code into 1.
grader: setup
	@go build -o $(GRADER) ./grader

demo: grader ## grade two reference solutions, show how a bug is reported, let GPT-2 write
	@echo
	@echo '== 1 of 3: the reference solutions of tasks 2 and 4, graded as yours will be: compiled, then'
	@echo '   run in the simulator. (make grade SOLUTION=1 grades all tasks, in two minutes.)'
	@for task in 2 4; do $(GRADER) grade -solution -task $$task || exit; done
	@echo
	@echo '== 2 of 3: the softmax of task 2 with one __syncthreads() taken out. The results may'
	@echo '   even be right; the simulator sees the race all the same, and says where it is.'
	@$(GRADER) grade -task 2 -mutant missing_barrier -case softmax; \
		code=$$?; [ $$code -ne 0 ] || echo 'demo: the mutant got full marks, which is a bug of the grader' >&2; \
		[ $$code -eq 1 ]
	@echo
	@echo 'Points were lost, as they should be.'
	@echo
	@echo '== 3 of 3: where it leads. A small GPT-2, with the attention kernels of tasks 4 and 5 and'
	@echo '   the layer of task 6. Without a GPU it runs in the simulator, a token at a time.'
	@echo '   Building it, and compiling its kernels …'
	@$(GRADER) run -task 7 -solution gpt2 -tokens 24
	@echo
	@echo 'Now you: task0_warmup/README.md, if CUDA is new to you; else task1_reference/README.md'

# No vet in either: make lint, which goes with them, runs all of it and not the few checks that go test would.
# One package more at a time than there are processors: some do little but wait for Slurm or for a deadline.
at_once = $$(($$(nproc) + 1))
# The longest begin first: by their names some would begin when all others are done, and end on one processor.
longest := ./grader/trial ./device/sim ./grader/tasks/skeleton ./grader/grading/build

test: grader ## run every test, the tasks with their solutions in place of the stubs
	@$(GRADER) overlay -o out/solutions.json
	@go test -vet=off -p $(at_once) -overlay=out/solutions.json $(longest) ./...

test-all: grader ## the same with every mutant (known-wrong solutions); some minutes
	@$(GRADER) overlay -o out/solutions.json
	@FLASHLAB_ALL=1 go test -vet=off -p $(at_once) -timeout 45m -overlay=out/solutions.json $(longest) ./...

test-gpu: grader ## run every test with the CUDA device (needs a GPU and nvcc)
	@$(GRADER) overlay -o out/solutions.json
	@settings=$$($(GRADER) env) && eval "$$settings" && \
		go test -tags cuda -overlay=out/solutions.json ./...

test-python: grader ## run python/flashlab's tests (those that need PyTorch, JAX or a GPU are skipped without)
	@PYTHONPATH=python python3 -m unittest discover -s python/tests -v

nvcc-check: grader ## vet the cuda build and compile every .cu with nvcc (no GPU needed)
	@scripts/nvcc-check.sh

grade: grader ## grade your files: TASK=2 (see below)
	@$(GRADER) grade $(GRADE_FLAGS) || [ $$? -eq 1 ] # 1: points were lost, which is no error of make's

build: grader ## only compile TASK=4's files, Go and kernels, with the compilers' messages
	@$(GRADER) build $(if $(TASK),-task '$(TASK)') $(if $(DEVICE),-device '$(DEVICE)') $(if $(SOLUTION),-solution) $(if $(MUTANT),-mutant '$(MUTANT)')

watch: grader ## grade TASK=2 at every save, first what failed last; Ctrl-C ends it
	@$(GRADER) watch $(if $(TASK),-task '$(TASK)') $(if $(CASE),-case '$(CASE)') $(if $(SEED),-seed '$(SEED)') $(if $(DEVICE),-device '$(DEVICE)')

bench: grader ## time the reference solutions beside cuBLAS and PyTorch (see below)
	@$(GRADER) bench $(if $(TASK),-task '$(TASK)') $(if $(SUBMISSION),-submission '$(SUBMISSION)') $(if $(VERSION),-version '$(VERSION)') $(if $(LADDER),-ladder '$(LADDER)') $(if $(RUNS),-runs '$(RUNS)') $(if $(WORKLOAD),-workload '$(WORKLOAD)') $(if $(DEVICE),-device '$(DEVICE)') \
		$(if $(DOCS),-o docs) $(if $(MISTAKES),-mistakes) $(if $(AGAIN),-again '$(AGAIN)') $(if $(SEED),-seed '$(SEED)')

pack: grader ## write out/submission.zip, to hand in, and print its receipt
	@$(GRADER) pack

WATCH_FLAGS = $(if $(TASK),-task '$(TASK)') $(if $(CASE),-case '$(CASE)') $(if $(SEED),-seed '$(SEED)') $(if $(SOLUTION),-solution) $(if $(VERSION),-version '$(VERSION)') $(if $(MUTANT),-mutant '$(MUTANT)')

show: grader ## write out/show.html: what the kernels of one CASE of TASK=2 do, line by line (in the simulator)
	@$(GRADER) show $(WATCH_FLAGS)

profile: grader ## what Nsight Compute counts of TASK=4's kernels, in words (needs a GPU)
	@$(GRADER) profile $(WATCH_FLAGS) $(if $(WORKLOAD),-workload '$(WORKLOAD)')

sanitize: grader ## TASK=4 under compute-sanitizer's four tools (needs a GPU)
	@$(GRADER) sanitize $(WATCH_FLAGS)

gpu: grader ## on a cluster's login node: grade TASK=4 as a short Slurm job (site.toml; DO=profile or sanitize)
	@$(GRADER) gpu $(if $(DO),-do '$(DO)') $(if $(TASK),-task '$(TASK)') $(if $(CASE),-case '$(CASE)') $(if $(DEVICE),-device '$(DEVICE)') $(if $(SOLUTION),-solution)

plot: grader ## draw traffic against SRAM (TASK=3), or splitting against none (TASK=5)
	@TASK='$(or $(TASK),3)' SOLUTION='$(SOLUTION)' DEVICE='$(DEVICE)' scripts/plot.sh

tune: grader ## try tile sizes for TASK=4, parts for TASK=5: what they move, or how fast they are
	@$(GRADER) tune -task '$(or $(TASK),4)' $(if $(SOLUTION),-solution) $(if $(DEVICE),-device '$(DEVICE)') $(if $(DIM),-dim '$(DIM)')

# The worker of task 7 holds your kernels of tasks 4 and 5, too.
e2e: grader ## task 6's model on your kernels: time to the first token, and between tokens
	@$(GRADER) run -task $(if $(filter given,$(KERNELS)),6,7) $(if $(SOLUTION),-solution) $(if $(DEVICE),-device '$(DEVICE)') e2e \
		$(if $(SIZE),-size '$(SIZE)') $(if $(TOKENS),-tokens '$(TOKENS)')

# KERNELS=given needs none of your code: it is built on the solutions, and uses none of these.
gpt2: grader ## GPT-2 writes, on your kernels (see below)
	@$(GRADER) run -task 7 $(if $(SOLUTION)$(filter given,$(KERNELS)),-solution) $(if $(DEVICE),-device '$(DEVICE)') gpt2 \
		$(if $(MODEL),-model '$(MODEL)') $(if $(findstring command,$(origin PROMPT)),-prompt "$$PROMPT") $(if $(KERNELS),-kernels '$(KERNELS)') \
		$(if $(TOKENS),-tokens '$(TOKENS)') $(if $(PROMPT_TOKENS),-prompt-tokens '$(PROMPT_TOKENS)') $(if $(REF),-ref) \
		$(if $(TEMPERATURE),-temperature '$(TEMPERATURE)') $(if $(TOPK),-topk '$(TOPK)') $(if $(TOPP),-topp '$(TOPP)') \
		$(if $(SEED),-seed '$(SEED)') $(if $(PERPLEXITY),-perplexity '$(PERPLEXITY)') $(if $(CACHE),-cache '$(CACHE)') \
		$(if $(WEIGHTS)$(CALIBRATION),-weights '$(WEIGHTS)' -calibration $(if $(CALIBRATION),'$(CALIBRATION)',"$$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt")) \
		$(if $(HEAD),-head '$(HEAD)') $(if $(STEP),-step '$(STEP)')

five: grader ## a whole Llama in halves, with our attention, a cache and weights of 4 bits, and all of it: what each brings
	@$(GRADER) five $(if $(DEVICE),-device '$(DEVICE)') -- $(if $(SHAPE),-shape '$(SHAPE)') $(if $(MODEL),-model '$(MODEL)') $(if $(BATCH),-batch '$(BATCH)') \
		$(if $(findstring command,$(origin PROMPT)),-text "$$PROMPT") $(if $(PERPLEXITY),-perplexity '$(PERPLEXITY)') \
		$(if $(PROMPT_TOKENS),-prompt '$(PROMPT_TOKENS)') $(if $(TOKENS),-tokens '$(TOKENS)') $(if $(WAYS),-ways '$(WAYS)') $(if $(SEED),-seed '$(SEED)')

release: grader ## write the students' tree, without solutions, to out/release (VERSION=2027.1)
	@$(GRADER) release $(if $(VERSION),-version '$(VERSION)') $(if $(COURSE),-course '$(COURSE)') out/release

lint: ## gofmt, go vet, staticcheck, clang-format
	@unformatted=$$(find . -name '*.go' -not -path './out/*' -exec gofmt -l {} +); [ -z "$$unformatted" ] || \
		{ echo "not formatted (make format): $$unformatted" >&2; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...
	@if [ -n "$(CLANG_FORMAT)" ]; then \
		"$(CLANG_FORMAT)" --dry-run -Werror $(CUDA_FILES); \
	else \
		echo 'lint: no clang-format here, so .cu files were not checked'; \
	fi

format: ## gofmt and clang-format, written to the files
	@find . -name '*.go' -not -path './out/*' -exec gofmt -w {} +
	@[ -z "$(CLANG_FORMAT)" ] || "$(CLANG_FORMAT)" -i $(CUDA_FILES)

clean: ## remove everything that programs wrote (out/)
	@rm -rf out
