# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of RDMA's memory model (docs/explanation/litmus.md): no outcome that it forbids is seen, as
# the device is and with legal chaos by some seeds, where a round takes four times as long.
litmus() { # ROUNDS OPTION...
	run_options=("${@:2}")
	[ "$variant" != wire ] || run_options+=(--wire)
	own_program verbs/litmus/litmus "$1"
	[ "$(grep -c ', seen ' "$out/said")" = 19 ] || echo "not all tests were run"
}

# What is seen with this relaxation only.
litmus_late() {
	litmus 40 --chaos=1,late-writes
	grep -q 'put-poll-tell: allowed, seen [1-9]' "$out/said" || echo "no WRITE was late"
}

rows_litmus() {
	local seed
	[ -z "$list_only" ] || {
		echo "litmus plain chaos-1 chaos-2 chaos-3 late-writes: litmus 100, with chaos 40"
		return
	}
	try litmus plain litmus 100
	for seed in 1 2 3; do
		try litmus "chaos-$seed" litmus 40 "--chaos=$seed"
	done
	try litmus late-writes litmus_late
}
