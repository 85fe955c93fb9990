# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of qperf: one server serves all of them; a test prints its name and figures with units.

check_qperf() { # NAME
	grep -q "^$1:" "$out/client" || {
		echo "no '$1:' in the output"
		return
	}
	[[ $1 = ver_* ]] || grep -qE '^ +(bw|latency|send_bw|recv_bw|msg_rate)[a-z_]* += +[0-9.]+' \
		"$out/client" || echo "no figure in the output"
}

qp() { # NAME
	wanted qperf "$1" || return 0
	[ -z "$list_only" ] || { echo "qperf $1: qperf -t 1 $1" && return; }
	available qperf "$1" qperf || return 0
	local begin complaint
	begin=$(now_ms)
	timeout -k 2 "$limit" "${client_run[@]}" qperf -lp "$port" -li "$client_dev:1" \
		-ri "$server_dev:1" -t 1 "$server_host" "$1" >"$out/client" 2>&1 </dev/null
	client_status=$?
	server_status=0
	complaint=$(pair_complaint)
	[ -n "$complaint" ] || complaint=$(check_qperf "$1")
	if [ -z "$complaint" ]; then
		pass qperf "$1" "$(seconds_since "$begin")"
	else
		fail qperf "$1" "$complaint"
	fi
}

rows_qperf() {
	local t
	wanted qperf "" || [ ${#select_rows[@]} -gt 0 ] || return 0
	next_port
	if [ -z "$list_only" ] && command -v qperf >/dev/null; then
		timeout -k 2 600 "${server_run[@]}" qperf -lp "$port" \
			>"$out/server" 2>&1 </dev/null &
		server_pid=$!
		until_true 20 listens_or_is_gone "$server_pid" "$port"
	fi
	for t in rc_bw rc_bi_bw rc_lat uc_bw uc_bi_bw uc_lat ud_bw ud_bi_bw ud_lat \
		rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat \
		rc_rdma_write_poll_lat uc_rdma_write_bw uc_rdma_write_lat \
		uc_rdma_write_poll_lat rc_compare_swap_mr rc_fetch_add_mr \
		ver_rc_compare_swap ver_rc_fetch_add; do
		qp $t
	done
	if [ -z "$list_only" ] && [ -n "${server_pid:-}" ]; then
		kill "$server_pid" 2>/dev/null
		wait "$server_pid" 2>/dev/null
	fi
}
