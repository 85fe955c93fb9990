# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows in which a process is killed during traffic: who is left gets an error or an event in time,
# nothing hangs, and the device serves the next pair. Each function prints what is wrong.

declare -A folder_of # of a daemon's pid

begin_instance() { # NAME OPTIONS...: sets daemon, and where that one's folder is
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	daemon=$("$uhca_run" --instance "$@" --idle-timeout 60 -- sh -c 'cat "$UHCA_DIR/pid"')
	[[ $daemon =~ ^[0-9]+$ ]] || { echo "no daemon: $daemon" && daemon=none; }
	folder_of[$daemon]=$TMPDIR/uhca-$(id -u)/$1
}

start() { # SIDE INSTANCE COMMAND...; sets pid_SIDE (wrapper) and prog_SIDE (program)
	local side=$1 instance=$2
	shift 2
	rm -f "$out/$side.pid"
	: >"$out/$side"
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	"$uhca_run" --instance "$instance" -- sh -c 'echo $$ >"$0"; exec stdbuf -oL "$@"' \
		"$out/$side.pid" "$@" >"$out/$side" 2>&1 </dev/null &
	printf -v "pid_$side" %d $!
	until_true test -s "$out/$side.pid" || echo "$side does not start"
	printf -v "prog_$side" %s "$(cat "$out/$side.pid")"
}

packets_of() { # INSTANCE
	UHCA_DIR=$TMPDIR/uhca-$(id -u)/$1 "$UHCA_BUILDDIR/uhcactl" counters |
		awk '$1 == "tx_packets" { n += $2 } END { print n + 0 }'
}

# Traffic flows: a hundred packets more than before it was asked for.
flows() { # INSTANCE PACKETS-BEFORE
	[ "$(packets_of "$1")" -gt $(($2 + 100)) ]
}

traffic() { # SERVER-INSTANCE CLIENT-INSTANCE COMMAND...
	local a=$1 b=$2 before
	shift 2
	before=$(packets_of "$b")
	next_port
	start server "$a" "$@" -p "$port"
	until_true listens_or_is_gone "$prog_server" "$port"
	start client "$b" "$@" -p "$port" 127.0.0.1
	until_true flows "$b" "$before" || echo "no traffic: $(last_words)"
}

ends() { # SIDE: not with success
	local pid=pid_$1 status
	until_true is_gone "${!pid}" || {
		echo "$1 still runs"
		kill -9 "${!pid}"
		return
	}
	wait "${!pid}"
	status=$?
	[ $status != 0 ] || echo "$1 ended as if nothing had happened"
	[ $status -lt 129 ] || [ $status = 130 ] || echo "$1 died of signal $((status - 128))"
}

says() { # SIDE PATTERN
	grep -qiE "$2" "$out/$1" || echo "$1 does not say '$2': $(tail -n 1 "$out/$1")"
}

# An instance works: a pair of fresh programs.
still_serves() { # INSTANCE [SERVER-INSTANCE]
	next_port
	timeout 240 "$uhca_run" --instance "${2:-$1}" -- ibv_rc_pingpong -g 0 -n 100 -p "$port" \
		>"$out/again-server" 2>&1 </dev/null &
	local pid=$!
	until_true someone_listens "$port" || echo "the next server does not listen"
	timeout 240 "$uhca_run" --instance "$1" -- ibv_rc_pingpong -g 0 -n 100 -p "$port" \
		127.0.0.1 >"$out/again-client" 2>&1 </dev/null || echo "the next client fails"
	wait $pid || echo "the next server fails"
}

someone_listens() {
	is_listening self "$1"
}

# What they can tell is kept before: nobody knows yet whether the row has failed.
end_instance() { # PID...
	local pid
	for pid in "$@"; do
		keep_instance "${folder_of[$pid]}" "$out/instances/$pid"
		kill "$pid" 2>/dev/null
		until_true is_gone "$pid" || echo "the daemon does not end at SIGTERM"
	done
}

write_bw=(ib_write_bw -F -D 60 -s 65536 -x 0)
send_bw_events=(ib_send_bw -F -n 2000000 -s 65536 -x 0 -e)

kill_target() { # COMMAND...
	begin_instance target
	traffic target target "$@"
	kill -9 "$prog_server"
	ends client
	says client "status 12|retry exceeded|transport retry counter exceeded"
	is_alive "$daemon" || echo "the daemon died too"
	still_serves target
	end_instance "$daemon"
}

kill_initiator() {
	begin_instance initiator
	traffic initiator initiator "${write_bw[@]}"
	kill -9 "$prog_client"
	ends server
	is_alive "$daemon" || echo "the daemon died too"
	still_serves initiator
	end_instance "$daemon"
}

kill_both() {
	begin_instance both
	traffic both both "${write_bw[@]}" -q 8 -b
	kill -9 "$prog_client" "$prog_server"
	wait "$pid_client" "$pid_server"
	is_alive "$daemon" || echo "the daemon died too"
	still_serves both
	end_instance "$daemon"
}

kill_daemon() { # FLAGS of ibv_rc_pingpong
	begin_instance fatal
	start watch fatal ibv_asyncwatch -d uhca0
	until_true grep -qs "async event FD" "$out/watch" || echo "asyncwatch does not watch"
	endless_pingpong fatal "$@"
	kill -9 "$daemon"
	ends client
	ends server
	until_true grep -qiE "catastrophic|device.fatal" "$out/watch" ||
		echo "no event: $(tail -n 1 "$out/watch")"
	kill "$prog_watch" 2>/dev/null
	wait "$pid_watch" 2>/dev/null
	begin_instance fatal
	still_serves fatal
	end_instance "$daemon"
}

kill_one_daemon() { # server|client COMMAND...
	local whose=$1 of_server of_client
	shift
	pick_addresses
	begin_instance one --addr "$first"
	of_server=$daemon
	begin_instance two --addr "$second"
	of_client=$daemon
	traffic one two "$@"
	if [ "$whose" = server ]; then
		kill -9 "$of_server"
		ends client
		says client "status 12|retry exceeded|transport retry counter exceeded"
		is_alive "$of_client" || echo "the other daemon died too"
		still_serves two
		end_instance "$of_client"
	else
		kill -9 "$of_client"
		ends client
		is_alive "$of_server" || echo "the other daemon died too"
		still_serves one
		end_instance "$of_server"
	fi
	ends server
}

# A daemon that is told to end, with clients: they get errors, and it leaves nothing behind.
terminate_daemon() { # FLAGS of ibv_rc_pingpong
	local left
	begin_instance term
	endless_pingpong term "$@"
	kill "$daemon"
	until_true is_gone "$daemon" || echo "the daemon does not end"
	ends client
	ends server
	left=$(ls "$TMPDIR/uhca-$(id -u)/term")
	[[ ! $left =~ (sock|ctl|sys|dev|pid) ]] || echo "left behind: $left"
	begin_instance term
	still_serves term
	end_instance "$daemon"
}

endless_pingpong() { # INSTANCE FLAGS...
	local before
	before=$(packets_of "$1")
	next_port
	start server "$1" ibv_rc_pingpong -g 0 -n 100000000 -p "$port" "${@:2}"
	until_true listens_or_is_gone "$prog_server" "$port"
	start client "$1" ibv_rc_pingpong -g 0 -n 100000000 -p "$port" "${@:2}" 127.0.0.1
	until_true flows "$1" "$before" || echo "no traffic: $(last_words)"
}

pause() { # SECONDS
	read -rt "$1" -u "$never_fd" || :
}

both_are_gone() {
	is_gone "$pid_client" && is_gone "$pid_server"
}

go_on_or_end() { # INSTANCE PACKETS-BEFORE
	both_are_gone || flows "$@"
}

# Both come to a good end; or they go on, where so many round trips take longer than one can wait.
# Who had but a hundred packets left goes on no more, and ends.
come_to_their_end() { # INSTANCE
	local side pid status
	if ! within 30 both_are_gone; then
		until_true go_on_or_end "$1" "$(packets_of "$1")" ||
			echo "they neither end nor go on"
	fi
	if ! both_are_gone; then
		kill -9 "$prog_client" "$prog_server"
		! grep -h "Failed status" "$out/client" "$out/server"
		wait "$pid_client" "$pid_server"
		return
	fi
	for side in client server; do
		pid=pid_$side
		wait "${!pid}"
		status=$?
		[ $status = 0 ] || echo "$side ended with $status: $(last_words)"
	done
}

# A program that is stopped for longer than all retries take keeps its peer waiting, and that is
# all: its receive queue is empty (RNR without limit), its device answers for it.
stop_program() { # SIDE COMMAND...
	local pid=prog_$1
	shift
	begin_instance stop
	traffic stop stop "$@"
	kill -STOP "${!pid}"
	pause 2
	still_serves stop
	kill -CONT "${!pid}"
	come_to_their_end stop
	end_instance "$daemon"
}

# A daemon that is stopped is a host that is gone, for the other daemon; and its own clients must
# not wait for it for ever.
stop_one_daemon() {
	local of_server
	pick_addresses
	begin_instance one --addr "$first"
	of_server=$daemon
	begin_instance two --addr "$second"
	traffic one two "${write_bw[@]}"
	kill -STOP "$of_server"
	ends client
	says client "status 12|retry exceeded|transport retry counter exceeded"
	still_serves two
	kill -CONT "$of_server"
	ends server
	still_serves one
	end_instance "$daemon" "$of_server"
}

# A row that failed half-way leaves nothing behind either.
try_kill() { # GROUP NAME FUNCTION...
	local file pid
	try "$@"
	for file in "$out"/*.pid "$TMPDIR"/uhca-*/*/pid; do
		pid=$(cat "$file" 2>/dev/null)
		[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	done
}

rows_kill() {
	export TMPDIR=$out.kill
	unset XDG_RUNTIME_DIR UHCA_DIR
	mkdir "$TMPDIR"
	try_kill kill target kill_target "${write_bw[@]}"
	try_kill kill target-send-events kill_target "${send_bw_events[@]}"
	try_kill kill initiator kill_initiator
	try_kill kill both kill_both
	try_kill kill daemon-polling kill_daemon
	try_kill kill daemon-sleeping kill_daemon -e
	try_kill kill one-daemon-server kill_one_daemon server "${write_bw[@]}"
	try_kill kill one-daemon-server-send-events kill_one_daemon server "${send_bw_events[@]}"
	try_kill kill one-daemon-client kill_one_daemon client "${write_bw[@]}"
	try_kill kill terminate-polling terminate_daemon
	try_kill kill terminate-sleeping terminate_daemon -e
	try_kill kill stop-target stop_program server ibv_rc_pingpong -g 0 -n 50000
	try_kill kill stop-initiator stop_program client ibv_rc_pingpong -g 0 -n 50000 -e
	try_kill kill stop-receiver stop_program server ib_send_bw -F -n 20000 -s 65536 -x 0
	try_kill kill stop-one-daemon stop_one_daemon
	try_kill kill fifty-clients own_program verbs/rogues/crash 50 "${UHCA_SEED:-1}"
	try_kill kill fork own_program verbs/rogues/forks
	try_kill kill threads own_program verbs/rogues/threads
	rm -rf "$TMPDIR"
}
