# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Rows of the examples of direct verbs (tests/examples): several processes each, on one device or on
# two, or on two daemons, that check what they did and say so.

# run_example SAID PROGRAM ARGUMENT...: SAID of its lines end with "verified".
run_example() {
	local said=$1 program=$2 n
	shift 2
	[ -z "${UHCA_PEER_DIR:-}" ] || set -- --peer-dir "$UHCA_PEER_DIR" "$@"
	LD_LIBRARY_PATH=$UHCA_BUILDDIR/.libs:${LD_LIBRARY_PATH:-} \
		timeout -k 2 "$limit" "$UHCA_BUILDDIR/tests/examples/$program" \
		--device "$server_dev" --peer-device "$client_dev" "$@" \
		>"$out/said" 2>&1 </dev/null ||
		echo "ended with $?: $(tail -n 1 "$out/said")"
	n=$(grep -c 'verified$' "$out/said")
	[ "$n" = "$said" ] || echo "$n of $said times verified"
}

direct() { # NAME SAID PROGRAM ARGUMENT...
	local name=$1
	shift
	[ -z "$list_only" ] || { echo "direct verbs $name: ${*:2}" && return; }
	try "direct verbs" "$name" run_example "$@"
}

# The same program on devices of another profile, in an instance of its own.
row_iwarp_read() {
	run_options=(--profile iwarp-like)
	[ "$variant" != wire ] || run_options+=(--wire)
	own_program examples/read_with_inv
	grep -q "without remote write: refused, local protection error: verified" "$out/said" ||
		echo "a READ fills what it should not"
}

rows_direct() {
	direct halo-exchange 2 halo_exchange
	direct halo-exchange-long 2 halo_exchange --rounds 200 --seed 2
	direct header-payload 12 header_payload
	direct storage-target 2 storage_target
	direct storage-target-seed-2 2 storage_target --rounds 1000 --seed 2
	direct lock-free-table 1 lock_free_table
	direct lock-free-table-8-clients 1 lock_free_table --clients 8 --rounds 300 --seed 2
	direct read-with-inv 13 read_with_inv
	[[ " internal wire " = *" $variant "* ]] || return 0
	[ -z "$list_only" ] || {
		echo "direct verbs read-with-inv-iwarp: read_with_inv"
		return
	}
	try "direct verbs" read-with-inv-iwarp row_iwarp_read
}
