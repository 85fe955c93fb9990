# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of qperf. It addresses its peer by LID only, unless it connects through rdma_cm; a RoCE port
# has no LID and needs a GRH, so that without rdma_cm qperf cannot work on any RoCE device. What
# can be asked for is that it is told so at once, and that its server goes on.

qperf_is_refused() { # TEST [OPTION...]
	timeout -k 2 240 "${client_run[@]}" qperf -lp "$port" -li "$client_dev:1" \
		-ri "$server_dev:1" -t 1 "${@:2}" "$server_host" "$1" >"$out/client" 2>&1 </dev/null
	local status=$?
	[ $status = 1 ] || echo "$1 $(status_words $status), not with 1"
	# Client and server are refused at the same time, and the one that is heard says why.
	grep -qE "failed to (modify QP to RTR|create address handle)|server: |failed" \
		"$out/client" || echo "$1 says: $(tr '\n' ' ' <"$out/client")"
}

qperf_refusals() {
	local t
	next_port
	start_server qperf -lp "$port"
	until_true listens_or_is_gone "$server_pid" "$port"
	for t in rc_bw rc_lat uc_bw uc_lat rc_rdma_read_lat rc_rdma_write_bw \
		rc_compare_swap_mr ud_bw ud_lat; do
		qperf_is_refused $t
	done
	# Its tests of datagrams address the peer by LID with -cm, too.
	qperf_is_refused ud_lat -cm 1
	is_alive "$server_pid" || echo "the server ended"
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
}

rows_qperf() {
	wanted qperf refused-without-rdma_cm core || return 0
	[ -z "$list_only" ] || { echo "qperf refused-without-rdma_cm" && return; }
	available qperf refused-without-rdma_cm qperf || return 0
	try qperf refused-without-rdma_cm qperf_refusals
}

qperf_pair() { # TEST...; sets client_status
	start_server qperf -lp "$port"
	until_true listens_or_is_gone "$server_pid" "$port"
	timeout -k 2 "$limit" qperf -lp "$port" -cm 1 -t 1 "$server_host" "$@" \
		>"$out/client" 2>&1 </dev/null
	client_status=$?
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
}

# qperf's server tells its client the port of rdma_cm before it listens there: where others keep it
# from the processor just then, the client is refused.
qperf_listened_too_late() {
	[ "$client_status" != 0 ] &&
		grep -q "unexpected event from RDMA CM: Event rejected" "$out/client"
}

# With rdma_cm; a test takes a second.
qperf_cm_complaint() { # TEST...
	local again=0
	qperf_pair "$@"
	while [ $again -lt 10 ] && qperf_listened_too_late; do
		echo "its server listened too late: begun anew" >>"$out/commands"
		qperf_pair "$@"
		again=$((again + 1))
	done
	[ $client_status = 0 ] || echo "$(status_words $client_status): $(last_words)"
	[ "$(grep -cE '^ +(bw|latency|msg_rate) += +[1-9]' "$out/client")" -ge $# ] ||
		echo "not $# results"
}

rows_qperf_cm() {
	[ "$family" = 4 ] || return 0 # its server listens at an IPv4 address only
	# Each looks at memory for a second, on both sides: all of them by UDP.
	local tests="rc_bw rc_rdma_read_bw"
	[ "$variant" != wire ] || tests+=" rc_lat rc_rdma_write_lat rc_fetch_add_mr"
	wanted qperf rdma_cm core || return 0
	[ -z "$list_only" ] || { echo "qperf rdma_cm: qperf -cm 1 $tests" && return; }
	available qperf rdma_cm qperf || return 0
	next_port
	# shellcheck disable=SC2086
	try qperf rdma_cm carries 10000000 qperf_cm_complaint $tests
}
