# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows about what uhcactl and the profiles do to devices, seen by stock programs.

ctl() {
	"$UHCA_BUILDDIR/uhcactl" "$@" >>"$out/ctl" 2>&1 ||
		echo "uhcactl $*: $(tail -n 1 "$out/ctl")"
}

is_watching() {
	grep -qi "async_fd\|async event" "$out/watch"
}

watched() { # TEXT
	grep -qi "$1" "$out/watch"
}

# Every order is an event of ibv_asyncwatch.
control_events() {
	local order text
	available control events ibv_asyncwatch || return 0
	stdbuf -oL ibv_asyncwatch -d uhca0 >"$out/watch" 2>&1 &
	watcher=$!
	until_true is_watching || echo "ibv_asyncwatch does not begin: $(cat "$out/watch")"
	while read -r order text; do
		# The order is one word, its blanks written as commas.
		# shellcheck disable=SC2086
		ctl ${order//,/ }
		until_true watched "$text" || echo "no '$text' after $order"
	done <<-ORDERS
		port,down,uhca0 EVENT_PORT_ERR
		port,up,uhca0 EVENT_PORT_ACTIVE
		event,uhca0,LID_CHANGE EVENT_LID_CHANGE
		event,uhca0,SM_CHANGE EVENT_SM_CHANGE
		event,uhca0,GID_CHANGE EVENT_GID_CHANGE
		device,fatal,uhca0 EVENT_DEVICE_FATAL
	ORDERS
	kill "$watcher"
	wait "$watcher" 2>/dev/null
}

# A port that is down, as ibv_devinfo and the files have it.
control_port() {
	ctl port down uhca0
	ibv_devinfo -d uhca0 >"$out/down"
	grep -q "state:.*PORT_DOWN" "$out/down" || echo "ibv_devinfo does not say PORT_DOWN"
	grep -q "1: DOWN" /sys/class/infiniband/uhca0/ports/1/state || echo "the file says ACTIVE"
	ctl port up uhca0
	ibv_devinfo -d uhca0 >"$out/up"
	grep -q "state:.*PORT_ACTIVE" "$out/up" || echo "ibv_devinfo does not say PORT_ACTIVE"
}

counted() { # NAME: more than 1000
	[ "$(cat "/sys/class/infiniband/uhca0/ports/1/$1")" -gt 1000 ]
}

control_counters() {
	next_port
	run_pair "ibv_rc_pingpong -g 0 -p $port" "ibv_rc_pingpong -g 0 -p $port 127.0.0.1"
	pair_complaint
	for name in counters/port_xmit_packets counters/port_rcv_data hw_counters/completions; do
		until_true counted "$name" || echo "$name stands still"
	done
}

control_walk() {
	local key
	next_port
	ibv_rc_pingpong -g 0 -s 300000 -p "$port" >"$out/server" 2>&1 &
	walker=$!
	until_true listens_or_is_gone "$walker" "$port"
	key=$("$UHCA_BUILDDIR/uhcactl" --json show mr | sed -n 's/.*"lkey": \([0-9]*\).*/\1/p' |
		head -n 1)
	ctl show mr "$key" --offset 200000
	grep -q "> \[4[89]\] 0x" "$out/ctl" || echo "no entry 48 or 49 in the walk"
	ctl show mr "$key" --svg "$out/walk.svg"
	grep -q "</svg>" "$out/walk.svg" || echo "no picture"
	kill "$walker"
	wait "$walker" 2>/dev/null
}

# What ibv_devinfo says under a profile.
control_profile() { # PROFILE PATTERN
	"$uhca_run" --private --profile "$1" -- ibv_devinfo -v >"$out/info" 2>&1 ||
		echo "ibv_devinfo: $(tail -n 1 "$out/info")"
	grep -qE "$2" "$out/info" || echo "ibv_devinfo does not say $2"
}

# Both ends in an instance of their own. The client is asked again while the server is not there.
pingpong_alone() { # PROFILE PROGRAM
	next_port
	# shellcheck disable=SC2016 # the inner shell's
	timeout -k 2 240 "$uhca_run" --private --profile "$1" -- bash -c '
		"$@" &
		until "$@" 127.0.0.1; do
			kill -0 $! || exit 1
		done
		wait $!' - "$2" -g 0 -p "$port" >"$out/pingpong" 2>&1 || {
		echo "$2 ended with $?: $(tail -n 1 "$out/pingpong")"
		return
	}
	[ "$(grep -c '^1000 iters in ' "$out/pingpong")" = 2 ] ||
		echo "$2 does not report 1000 iterations"
}

# An adapter's profile: what ibv_devinfo says, and that a pingpong gets through.
control_adapter() { # PROFILE PATTERN PROGRAM
	control_profile "$1" "$2"
	pingpong_alone "$1" "$3"
}

# Of EFA only datagrams are here, and who wants more hears of it.
control_efa() {
	control_adapter efa 'transport:\s+unspecified' ibv_ud_pingpong
	! "$uhca_run" --private --profile efa -- ibv_rc_pingpong -g 0 >"$out/rc" 2>&1 ||
		echo "efa has RC"
	grep -q "Couldn't create QP" "$out/rc" || echo "ibv_rc_pingpong: $(tail -n 1 "$out/rc")"
}

rows_control() {
	try control port control_port
	try control counters control_counters
	try control walk control_walk
	try control events control_events
	try control minimal control_profile minimal 'max_qp:\s+8$'
	try control large control_profile large 'max_mr:\s+1048576$'
	try control iwarp-like control_profile iwarp-like 'atomic_cap:\s+ATOMIC_NONE'
	try control ib-strict control_profile ib-strict 'max_srq:\s+0$'
	try control cx5 control_adapter cx5 'max_sge_rd:\s+30$' ibv_rc_pingpong
	try control cx7 control_adapter cx7 'atomic_cap:\s+ATOMIC_HCA' ibv_rc_pingpong
	try control e810 control_adapter e810 'max_qp_rd_atom:\s+8$' ibv_rc_pingpong
	try control bnxt control_adapter bnxt 'max_mw:\s+0$' ibv_rc_pingpong
	try control rxe control_adapter rxe 'max_cqe:\s+32767$' ibv_rc_pingpong
	try control siw control_adapter siw 'transport:\s+iWARP' ibv_rc_pingpong
	try control mana control_adapter mana 'max_sge:\s+15$' ibv_rc_pingpong
	try control efa control_efa
}
