# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of RDMA's memory model (docs/litmus.md): no outcome that it forbids is seen, as the device is
# and with legal chaos by some seeds.
litmus() { # OPTION...
	run_options=("$@")
	[ "$variant" != wire ] || run_options+=(--wire)
	own_program verbs/litmus/litmus 100
	[ "$(grep -c ', seen ' "$out/said")" = 19 ] || echo "not all tests were run"
}

# What is seen with this liberty only.
litmus_late() {
	litmus --chaos=1,late-writes
	grep -q 'put-poll-tell: allowed, seen [1-9]' "$out/said" || echo "no WRITE was late"
}

rows_litmus() {
	local seed
	[ -z "$list_only" ] || {
		echo "litmus plain chaos-1 chaos-2 chaos-3 late-writes: litmus 100"
		return
	}
	try litmus plain litmus
	for seed in 1 2 3; do
		try litmus "chaos-$seed" litmus "--chaos=$seed"
	done
	try litmus late-writes litmus_late
}
