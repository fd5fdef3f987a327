#!/usr/bin/env bash
# On a GPU machine: the simulator's sectors and operations beside the hardware's
# counters (ncu), for five kernels. Prints a Markdown table.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v ncu >/dev/null || { echo 'ncu-agreement: no ncu here (it comes with CUDA)' >&2; exit 1; }
mkdir -p out/bin out/ncu
go build -o out/bin/grader ./grader
eval "$(out/bin/grader env)"
go test -tags cuda -c -o out/bin/sim.test ./device/sim
export FLASHLAB_COUNTS=1
metrics=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
for op in fadd fmul ffma; do metrics+=,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum; done
(cd device/sim && ncu --clock-control none --csv --print-units base --metrics "$metrics" \
    ../../out/bin/sim.test -test.run TestCountsForProfiler -test.v) >out/ncu/raw.txt 2>&1 ||
    { tail -n 20 out/ncu/raw.txt >&2; exit 1; }
# One CSV row for each kernel and metric: name in column 5, metric 13, value 15.
awk '
    /^sim / { read[$2] = $3; written[$2] = $4; flops[$2] = $5; order[++n] = $2 }
    /^"[0-9]+"/ {
        line = $0; gsub(/^"|"$/, "", line); split(line, f, "\",\"")
        kernel = f[5]; sub(/\(.*/, "", kernel); value = f[15]; gsub(/,/, "", value)
        hw[kernel, f[13]] = value
    }
    END {
        print "| kernel | sectors read: simulator, ncu | sectors written: simulator, ncu | FLOPs: simulator, ncu |"
        print "| --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            k = order[i]; p = "smsp__sass_thread_inst_executed_op_"; s = "_pred_on.sum"
            ncu = hw[k, p "fadd" s] + hw[k, p "fmul" s] + 2 * hw[k, p "ffma" s]
            printf "| %s | %d, %d | %d, %d | %d, %d |\n", k, read[k], hw[k, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], written[k], hw[k, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], flops[k], ncu
        }
    }' out/ncu/raw.txt
