# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows with programs, and a daemon, in a user, mount and process namespace of their own, as in a
# rootless container. There the two do not know each other by process numbers, and client memory
# is what the descriptor of /proc/self/mem gives.

# TERM does not end unshare: what ends it, ends what is inside.
inside_namespace=(unshare --user --map-root-user --pid --fork --mount --mount-proc --kill-child)

# With timeout(1) its whole group: unshare would stay, and what is inside.
end_namespace() { # PID of a timeout
	kill -9 -- "-$1" 2>/dev/null || kill -9 "$1"
	wait "$1" 2>/dev/null
}

# userns_row NAME: does such a row run? Says why when it cannot.
userns_row() {
	wanted userns "$1" core || return 1
	[ -z "$list_only" ] || { echo "userns $1" && return 1; }
	"${inside_namespace[@]}" true 2>"$out/errors" && return 0
	skip userns "$1" "no user namespaces here: $(head -n 1 "$out/errors")"
	return 1
}

userns_pingpong() {
	next_port
	row userns "$1" "check_pingpong 4096 500" \
		"ibv_rc_pingpong -d $server_dev -g $gid -p $port -c -n 500" \
		"ibv_rc_pingpong -d $client_dev -g $gid -p $port -c -n 500 $server_host"
}

userns_rping() {
	local a
	a=$(address_of "$UHCA_DIR" "$server_dev")
	next_port
	try userns "$1" cm_complaint "rping -s -a $a -p $port -C 20 -V" \
		"rping -c -a $a -p $port -C 20 -V"
}

# The daemon says how it reaches the memory of a program that sees other process numbers.
userns_memory() {
	timeout -k 1 240 "${inside_namespace[@]}" ibv_asyncwatch -d "$client_dev" \
		>"$out/client" 2>&1 </dev/null &
	local pid=$!
	until_true grep -q "async event FD" "$out/client" || echo "ibv_asyncwatch does not start"
	"$UHCA_BUILDDIR/uhcactl" show client | grep -q "ibv_asyncwatch *proc_mem" ||
		echo "not by proc_mem: $("$UHCA_BUILDDIR/uhcactl" show client | tail -n 1)"
	end_namespace "$pid"
}

# Programs inside, the daemon outside.
rows_userns() {
	local server_before=("${server_run[@]}") client_before=("${client_run[@]}")
	client_run+=("${inside_namespace[@]}")
	! userns_row client || userns_pingpong client
	server_run+=("${inside_namespace[@]}")
	! userns_row both || userns_pingpong both
	! userns_row rping || userns_rping rping
	server_run=("${server_before[@]}") client_run=("${client_before[@]}")
	! userns_row memory || try userns memory userns_memory
}

# Everything inside, and then the daemon alone.
rows_userns_daemon() {
	local pid
	! userns_row all-inside ||
		try userns all-inside userns_again "${inside_namespace[@]}" "$uhca_run" --private --
	userns_row daemon-inside || return 0
	# shellcheck disable=SC2016
	timeout -k 1 240 "${inside_namespace[@]}" "$uhca_run" --private -- \
		sh -c 'echo "$UHCA_DIR" >"$0.new" && mv "$0.new" "$0" && exec sleep 60' \
		"$out/dir" >"$out/errors" 2>&1 </dev/null &
	pid=$!
	until_true test -s "$out/dir" || {
		fail userns daemon-inside "no daemon: $(tail -n 1 "$out/errors")"
		end_namespace "$pid"
		return
	}
	UHCA_DIR=$(cat "$out/dir") try userns daemon-inside userns_again "$uhca_run"
	end_namespace "$pid"
}

# The rows of one pair, in another arrangement.
userns_again() { # COMMAND...
	local words said
	for words in "pingpong rc-check" "rdmacm rping"; do
		# shellcheck disable=SC2086 # two words
		said=$("$@" "$here/clients" --inside internal -- $words 2>&1) &&
			grep -q "^ok " <<<"$said" || echo "$words: $said"
	done
}
