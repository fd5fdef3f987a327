# What the course's Makefile and the students' have in common. The grader does nearly every goal, with the variables of
# make's command line as they were typed (MAKEFLAGS has them); its own table says what each goal takes, and explains it.

GRADER := out/bin/grader
MAKEFLAGS += --no-print-directory
# As workers are built without a GPU: so that Go's library is compiled once, not twice. `grader env` turns it on.
export CGO_ENABLED ?= 0
CLANG_FORMAT ?= $(shell command -v clang-format-16 || command -v clang-format)

GOALS := $(or $(MAKECMDGOALS),help)
export FLASHLAB_GOALS := $(GOALS)
# The goals with recipes of their own: those that end with ## and a word on them.
OWN := $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*\#\# .*/\1/p' $(MAKEFILE_LIST))
.PHONY: $(OWN) $(GOALS) built checked
.DEFAULT_GOAL := help

help: ## this list
	@$(if $(MAKEOVERRIDES),$(GRADER) make $(MAKEFILE_LIST) help,cat scripts/help.txt)

setup: ## check Go and the C++ compiler; install or name what is missing
	@sh scripts/setup.sh

clean: ## remove everything that programs wrote (out/)
	@rm -rf out

# Built, not `go run`: that turns every exit code into 1.
built:
	@sh scripts/setup.sh
	@go build -o $(GRADER) ./grader

# Refuses unknown goals and variables, before anything runs: `make grade TSAK=2` would else grade all tasks.
checked: built
	@$(GRADER) make $(MAKEFILE_LIST) check

grader: checked ## build out/bin/grader

# These alone need no grader, and take no variables.
ifneq ($(filter-out help setup clean,$(GOALS))$(MAKEOVERRIDES),)
$(filter-out checked built,$(GOALS)): checked
endif

$(filter-out $(OWN) checked built,$(GOALS)):
	@$(GRADER) make $(MAKEFILE_LIST) '$@'
