# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of librpma, Intel's library for remote persistent memory: our program rpma_check.c, a server
# and a client. What they flush is ordinary memory.

rpma_pair() {
	local address
	address=$(fabric_address 4)
	gcc -O1 -o "$out/rpma_check" "$here/ends/rpma_check.c" -lrpma -libverbs \
		>"$out/compiler" 2>&1 || {
		echo "gcc: $(head -n 1 "$out/compiler")"
		return
	}
	start_server "$out/rpma_check" server "$address" "$port"
	until_true server_says "listening" || echo "the server does not listen"
	timeout -k 2 "$limit" "${client_run[@]}" "$out/rpma_check" client "$address" "$port" \
		>"$out/client" 2>&1 </dev/null
	client_status=$?
	[ $client_status = 0 ] || within 3 is_gone "$server_pid" || stop_server
	wait "$server_pid"
	server_status=$?
	pair_complaint
	[ "$(cat "$out/server" "$out/client" | grep -c "all data as it should be")" = 2 ] ||
		echo "no result: $(last_words)"
}

rows_rpma() {
	wanted rpma read-write-flush core || return 0
	[ -z "$list_only" ] || { echo "rpma read-write-flush: rpma_check" && return; }
	[ -e /usr/include/librpma.h ] || {
		skip rpma read-write-flush "no librpma.h (scripts/deps --install clients)"
		return
	}
	next_port
	try rpma read-write-flush carries 500000 rpma_pair
}
