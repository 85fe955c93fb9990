# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034
# What is measured, for scripts/bench; how, is in peers.sh and devices.sh.
#
# row KIND NAME PEER TARGET COMMAND...   KIND: one of the tables of scripts/benchmark/report. PEER:
# name of the row whose figure is the 1 of the ratio. TARGET: of the ratio ("x"), or of the figure;
# both may be empty. COMMAND: a function and its arguments that prints the figure.
rows=()
row() {
	rows+=("$1|$2|$3|$4|${*:5}")
}

# target PINNED NOT-PINNED WIRE DAEMONS: the one of the arrangement $where, in $target.
target() {
	case $where in
	pinned) target=$1 ;;
	"not pinned") target=$2 ;;
	wire) target=$3 ;;
	daemons) target=$4 ;;
	esac
}

arrangements=(pinned "not pinned" wire daemons)

rows_latency() {
	local where target
	row latency "UCX tcp tag, 8 B" "" "" ucx tag_lat 8 20000
	row latency "UCX tcp put, 8 B" "" "" ucx ucp_put_lat 8 20000
	row latency "libfabric tcp, 8 B" "" "" fabric 8 10000 latency
	row latency "Open MPI tcp, 8 B" "" "" mpi latency 8 20000
	row latency "UDP polled, 8 B (limit)" "" "" limit udp-pingpong
	row latency "memory, three processes (limit)" "" "" limit hops
	row latency "UCX tcp tag, 4 KiB" "" "" ucx tag_lat 4096 20000
	row latency "UCX tcp put, 4 KiB" "" "" ucx ucp_put_lat 4096 20000
	row latency "libfabric tcp, 4 KiB" "" "" fabric 4096 10000 latency
	row latency "Open MPI tcp, 4 KiB" "" "" mpi latency 4096 20000
	for where in "${arrangements[@]}"; do
		target "<= 0.5 x" "<= 0.6 x" "<= 1.5 x" "<= 2.0 x"
		row latency "ib_send_lat 8 B, $where" "UCX tcp tag, 8 B" "$target" \
			perf_lat "${where// /-}" ib_send_lat 8
		target "<= 0.5 x" "<= 0.9 x" "<= 1.8 x" "<= 2.2 x"
		row latency "ib_send_lat 4 KiB, $where" "UCX tcp tag, 4 KiB" "$target" \
			perf_lat "${where// /-}" ib_send_lat 4096
		row latency "ib_write_lat 8 B one core, $where" "UCX tcp put, 8 B" "<= 25 us" \
			perf_lat_one_core "${where// /-}" ib_write_lat 8
		row latency "ib_read_lat 8 B, $where" "UCX tcp tag, 8 B" "<= 10 us" \
			perf_lat "${where// /-}" ib_read_lat 8
	done
	row latency "ib_send_lat 8 B, 256 idle clients" "ib_send_lat 8 B, pinned" "<= 1.1 x" \
		beside_idle 256 2 ib_send_lat 8
	row latency "ib_send_lat 8 B, 4090 idle QPs" "ib_send_lat 8 B, pinned" "<= 1.1 x" \
		beside_idle 1 4090 ib_send_lat 8
}

rows_bandwidth() { # BYTES
	local label="$(($1 / 1024)) KiB" where target op
	row bandwidth "UCX tcp tag, $label" "" "" ucx tag_bw "$1" $((2147483648 / $1))
	row bandwidth "UCX tcp put, $label" "" "" ucx ucp_put_bw "$1" $((2147483648 / $1))
	row bandwidth "libfabric tcp, $label" "" "" fabric "$1" 2000 bandwidth
	row bandwidth "Open MPI tcp, $label" "" "" mpi bandwidth "$1" $((2147483648 / $1))
	row bandwidth "memcpy, $label (limit)" "" "" limit memcpy "$1"
	row bandwidth "process_vm once, $label (limit)" "" "" limit vm-once "$1"
	row bandwidth "process_vm twice, $label (limit)" "" "" limit vm-twice "$1"
	[ "$1" != 65536 ] ||
		row bandwidth "UDP GSO, 4 KiB segments (limit)" "" "" limit udp-stream
	for where in "${arrangements[@]}"; do
		target ">= 10 x" ">= 2.0 x" ">= 1.2 x" ">= 0.9 x"
		[ "$1" = 65536 ] || target ">= 4.0 x" ">= 0.8 x" ">= 0.6 x" ">= 0.45 x"
		for op in write send read; do
			row bandwidth "ib_${op}_bw $label, $where" "UCX tcp tag, $label" "$target" \
				perf_bw "${where// /-}" "ib_${op}_bw" "$1"
		done
	done
}

# A column of a matrix, 16,384 elements of 8 bytes: the key beside the program's own copies.
rows_columns() {
	local where target
	for where in pinned "not pinned"; do
		target ">= 1.0 x" ">= 0.5 x"
		row bandwidth "column, bounce buffer, $where" "" "" \
			column_way "${where// /-}" bounce
		row bandwidth "column, key, $where" "column, bounce buffer, $where" "$target" \
			column_way "${where// /-}" key
	done
}

rows_rate() {
	local where target
	row rate "UCX tcp put, 8 B, rate" "" "" ucx ucp_put_bw 8 200000
	for where in "${arrangements[@]}"; do
		target ">= 10 x" ">= 2.0 x" ">= 4.0 x" ">= 3.0 x"
		row rate "ib_write_bw 8 B, $where" "UCX tcp put, 8 B, rate" "$target" \
			perf_rate "${where// /-}" 8
		row rate "ib_write_bw 8 B, 8 QPs, $where" "UCX tcp put, 8 B, rate" "$target" \
			perf_rate "${where// /-}" 8 -q 8
		row rate "ib_write_bw 8 B, lists of 32, $where" "UCX tcp put, 8 B, rate" "" \
			perf_rate "${where// /-}" 8 -l 32
	done
}

rows_cpu() {
	local where target
	row cpu "UCX tcp tag, 64 KiB, CPU" "" "" ucx_cpu tag_bw 65536 32768
	for where in "${arrangements[@]}"; do
		target "<= 0.1 x" "<= 0.1 x" "" ""
		row cpu "ib_write_bw 64 KiB, CPU, $where" "UCX tcp tag, 64 KiB, CPU" "$target" \
			perf_cpu "${where// /-}" 65536 20000
	done
	row cpu-messages "UCX tcp put, 8 B, CPU" "" "" ucx_cpu ucp_put_bw 8 1000000
	for where in "${arrangements[@]}"; do
		row cpu-messages "ib_write_bw 8 B, CPU, $where" "UCX tcp put, 8 B, CPU" "" \
			perf_cpu "${where// /-}" 8 1000000
	done
}

rows_registration() {
	local gib=$((1 << 30)) base="ibv_reg_mr 1 GiB untouched, not pinned"
	row registration "ibv_reg_mr 4 KiB, not pinned" "" "<= 40" \
		registers not-pinned 1 4096 touched
	row registration "ibv_reg_mr 4 KiB, again, pinned" "" "<= 40" \
		registers pinned 1 4096 touched warm
	row registration "ibv_reg_mr 64 KiB, not pinned" "" "" \
		registers not-pinned 1 65536 touched
	row registration "ibv_reg_mr 64 KiB, pinned" "" "" registers pinned 1 65536 touched
	row registration "$base" "" "" registers not-pinned 1 $gib
	row registration "ibv_reg_mr 1 GiB untouched, pinned" "$base" "<= 1.3 x" \
		registers pinned 1 $gib
	row registration "ibv_reg_mr 1 GiB touched, pinned" "$base" "<= 1.3 x" \
		registers pinned 1 $gib touched
	row registration "ibv_dereg_mr 1 GiB, not pinned" "" "<= 1000" \
		registers not-pinned 2 $gib touched
	row registration "ibv_dereg_mr 1 GiB, pinned" "" "<= 1000" \
		registers pinned 2 $gib touched
}

rows_latency
rows_bandwidth 65536
rows_bandwidth 1048576
rows_columns
rows_rate
rows_cpu
rows_registration

# What is said of figures that stand in different rows: NAME, that of ROW, to that of ROW.
quotients=()
quotient() { # NAME ROW ROW TARGET
	quotients+=("$1|$2|$3|$4")
}
quotient "half round trip inside, of memory that three processes poll" \
	"ib_send_lat 8 B, pinned" "memory, three processes (limit)" "<= 1.3 x"
quotient "64 KiB inside, of memcpy" \
	"ib_write_bw 64 KiB, pinned" "memcpy, 64 KiB (limit)" ">= 0.7 x"
quotient "1 MiB inside, of memcpy" \
	"ib_write_bw 1024 KiB, pinned" "memcpy, 1024 KiB (limit)" ">= 0.7 x"
quotient "64 KiB by UDP, of libfabric tcp" \
	"ib_write_bw 64 KiB, wire" "libfabric tcp, 64 KiB" ">= 1.0 x"
