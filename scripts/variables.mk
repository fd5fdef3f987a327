# Holds the variables on make's command line to the table of the Makefile that includes this
# (takes.grade := TASK …): `make grade TSAK=2` would else grade all tasks, and say nothing.

# What Go, the compilers and our own programs read from the environment goes with every command.
settings := CC CXX CGO_% CLANG_FORMAT CUDA_HOME FLASHLAB_% GO% MAKE% NO_COLOR NVCC_% PATH SHELL TMPDIR V %_proxy %_PROXY

asked := $(or $(MAKECMDGOALS),help)
taken := $(foreach a,$(asked),$(takes.$a))
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v))
strange := $(strip $(filter-out $(taken) $(settings),$(given)))

# Of a command that there is not, make itself will say so.
ifeq ($(filter-out $(COMMANDS),$(asked)),)
ifneq ($(strange),)
$(error make $(asked): no variable $(strange) (it takes $(or $(taken),none)))
endif
endif
