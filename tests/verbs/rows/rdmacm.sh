# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of programs that connect through librdmacm. A server of theirs is ready when it listens.

# address_of DIR DEVICE: its first address, in an instance's folder.
address_of() {
	local gid hex
	gid=$(cat "$1/sys/class/infiniband/$2/ports/1/gids/0")
	[ "$family" = 4 ] || { echo "$gid" && return; }
	hex=$(echo "$gid" | sed 's/.*ffff://; s/://')
	printf '%d.%d.%d.%d' "0x${hex:0:2}" "0x${hex:2:2}" "0x${hex:4:2}" "0x${hex:6:2}"
}

# address6_of DIR DEVICE: its first IPv6 address; nothing when it has none.
address6_of() {
	cat "$1/sys/class/infiniband/$2/ports/1/gids"/* |
		grep -vE '^(0000:){5}(ffff|0000:0000:0000$)' | head -n 1
}

# What is put before programs that listen at the first address of getaddrinfo(), or know addresses
# by name only: in a mount namespace of their own IPv6 comes first, and "six" is the address.
ipv6_first() { # ADDRESS
	local way="unshare --mount"
	[ "$(id -u)" = 0 ] || way="unshare --user --map-root-user --mount"
	mkdir -p "$out/ipv6"
	# ::1 reaches :: (label 0 for both), so that glibc need not put 0.0.0.0 before it.
	printf '%s\n' "label ::1/128 0" "label ::/128 0" "label ::/0 1" "label ::ffff:0:0/96 4" \
		"precedence ::/0 40" "precedence ::ffff:0:0/96 10" >"$out/ipv6/gai.conf"
	printf '%s\n' "127.0.0.1 localhost" "$1 six" >"$out/ipv6/hosts"
	printf '%s\n' "mount --bind $out/ipv6/gai.conf /etc/gai.conf || exit" \
		"mount --bind $out/ipv6/hosts /etc/hosts || exit" 'exec "$@"' >"$out/ipv6/run"
	echo "$way sh $out/ipv6/run"
}

# Servers of rsockets' datagrams wait at a UDP port of the host, all others for rdma_cm: at $port,
# where their command names it. The server of the row before may be seen for a moment more.
cm_listens_or_is_gone() { # PID COMMAND
	local waits listens=' listening '
	waits=$(printf ':%04X .* 07 ' "$port")
	[[ " $2 " != *" $port "* ]] || listens=" listening +$port "
	is_gone "$1" || grep -qs "$waits" "/proc/$1/net/udp" "/proc/$1/net/udp6" ||
		"${server_run[@]}" "$UHCA_BUILDDIR/uhcactl" show cm_id 2>&1 | grep -qE "$listens"
}

# perftest -R connects twice, and its server begins to listen for the second connection when it has
# told the client to make it: where it is late its client is refused (8, or 1 for datagrams), tries
# again with an id that it has freed, and crashes. The server waits on, and takes for its second
# connection what would be another client's first: both must begin anew. One that has ended was not
# late: it failed.
listened_too_late() {
	[ "$client_status" != 0 ] && ! is_gone "$server_pid" &&
		grep -qE "EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1)\b" "$out/client" &&
		echo "its server listened too late: begun anew" >>"$out/commands"
}

# For a server of rsockets' datagrams: its service thread takes messages from a list of free ones
# (librdmacm's rsocket.c, smsg_free) under one lock, the program's own thread gives them back under
# another, and the list leads into a message (seen in core files: 9 of 10,800 runs on two busy
# processors). On one processor they take turns, where they poll (none of 9,600).
one_processor() {
	local cpus
	cpus=$(taskset -cp $BASHPID)
	cpus=${cpus##* }
	echo "taskset -c ${cpus%%[,-]*}"
}

# cm_pair SERVER CLIENT: as run_pair; "stays" as first word of SERVER: it never ends by itself.
cm_pair() {
	local server client end stays=
	read -r -a server <<<"$1"
	read -r -a client <<<"$2"
	[ "${server[0]}" != stays ] || stays=1 server=("${server[@]:1}")
	[[ ${client[0]} != ib_* ]] ||
		server=("$hasty" "${server[@]}") client=("$hasty" "${client[@]}")
	now_ms
	end=$((now + 20000))
	while :; do
		start_server "${server[@]}"
		until_true cm_listens_or_is_gone "$server_pid" "${server[*]}"
		timeout -k 2 "$limit" "${client_run[@]}" "${client[@]}" \
			>"$out/client" 2>&1 </dev/null
		client_status=$?
		listened_too_late || closed_under_its_thread || lost_its_clock || break
		now_ms
		[ "$now" -lt "$end" ] || break
		cp "$out/client" "$out/client.before"
		stop_server
		wait "$server_pid" 2>/dev/null
	done
	if [ -n "$stays" ]; then
		stop_server
	elif [ "$client_status" != 0 ]; then
		within 3 is_gone "$server_pid" || stop_server
	fi
	wait "$server_pid"
	server_status=$?
	[ -z "$stays" ] || [ "$client_status" != 0 ] || server_status=0
}

# hasty_complaint COUNT SERVER CLIENT: so often in a row, and tried again only where nobody listened
# yet, of which rstream says "refused", or "rpoll:" and a later error: cm_pair would hide a client
# that fails now and then.
hasty_complaint() {
	local i server client end
	read -r -a server <<<"$2"
	read -r -a client <<<"$3"
	for ((i = 0; i < $1; i++)); do
		start_server "${server[@]}"
		now_ms
		end=$((now + 20000))
		while :; do
			timeout -k 2 "$limit" "${client_run[@]}" "${client[@]}" \
				>"$out/client" 2>&1 </dev/null
			client_status=$?
			grep -qE '^rpoll:|refused' "$out/client" || break
			now_ms
			[ "$now" -lt "$end" ] || break
		done
		[ "$client_status" = 0 ] || within 3 is_gone "$server_pid" || stop_server
		wait "$server_pid"
		server_status=$?
		pair_complaint >"$out/complaint"
		[ ! -s "$out/complaint" ] || break
	done
	cat "$out/complaint"
}

cm_complaint() { # SERVER CLIENT
	cm_pair "$1" "$2"
	pair_complaint
}

cm_row() { # NAME LEVEL SERVER CLIENT
	local program=${4%% *}
	wanted rdmacm "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "rdmacm $1: $4" && return; }
	available rdmacm "$1" "$program" || return 0
	try rdmacm "$1" cm_complaint "$3" "$4"
}

# A reader that takes a hang-up for an error, whatever it has not read.
row_rstream_async() { # ADDRESS FORMAT
	local end="-S 4096 -C 100 -T a"
	wanted rdmacm rstream-async program || return 0
	[ -z "$list_only" ] || { echo "rdmacm rstream-async: rstream $end" && return; }
	available rdmacm rstream-async rstream || return 0
	try rdmacm rstream-async hasty_complaint 10 "rstream -b $1 $2 -p $port $end" \
		"rstream -s $1 $2 -p $port $end"
}

# In newer releases its two ends find each other by the address of a controller, and both end.
row_cmtime() { # NAME ADDRESS
	if cmtime -h 2>&1 | grep -q controller; then
		cm_row "$1" program "cmtime -L -b $2 -C $2 -p $port -c 50" \
			"cmtime -b $2 -C $2 -p $port -c 50"
	else
		cm_row "$1" program "stays cmtime -b $2 -p $port -c 50" \
			"cmtime -s $2 -p $port -c 50"
	fi
}

rows_rdmacm() {
	local a=127.0.0.1 format='' listens=''
	[ -n "$list_only" ] || a=$(address_of "${UHCA_PEER_DIR:-$UHCA_DIR}" "$server_dev")
	[ "$family" = 4 ] || format="-f ip" listens="$(ipv6_first "$a") "
	next_port
	cm_row rping core "rping -s -a $a -p $port -C 20 -V" "rping -c -a $a -p $port -C 20 -V"
	next_port
	cm_row rping-64k full "rping -s -a $a -p $port -C 10 -S 65000" \
		"rping -c -a $a -p $port -C 10 -S 65000 -V"
	next_port
	cm_row ucmatose core "ucmatose -b $a $format -p $port -C 20 -c 5" \
		"ucmatose -s $a $format -p $port -C 20 -c 5"
	cm_row udaddy core "udaddy -b $a" "udaddy -s $a" # its port cannot be chosen
	next_port
	cm_row rstream program "rstream -b $a $format -p $port -S 16384 -C 100 -T v" \
		"rstream -s $a $format -p $port -S 16384 -C 100 -T v"
	next_port
	row_rstream_async "$a" "$format"
	next_port
	cm_row riostream program "riostream -b $a $format -p $port -S 16384 -C 100" \
		"riostream -s $a $format -p $port -S 16384 -C 100"
	next_port
	cm_row udpong program "stays $(one_processor) udpong -b $a -p $port -S 512 -C 100" \
		"udpong -s $a -p $port -S 512 -C 100"
	next_port
	row_cmtime cmtime "$a"
	next_port
	cm_row rdma_client program "rdma_server -s $a -p $port" "rdma_client -s $a -p $port"
	next_port
	cm_row rdma_xclient program "${listens}rdma_xserver -c r -p $port" \
		"rdma_xclient -s $a -c r -p $port"
	next_port
	cm_row rdma_xclient-xrc program "${listens}rdma_xserver -c x -p $port" \
		"rdma_xclient -s $a -c x -p $port"
	[ "$family" = 4 ] || return 0 # perftest 4.5 asks rdma_getaddrinfo() for IPv4 only
	next_port
	cm_row send_bw-R program "ib_send_bw -R -F -p $port -n 500" \
		"ib_send_bw -R -F -p $port -n 500 $a"
	next_port
	cm_row send_bw-R-UD program "ib_send_bw -R -F -c UD -p $port -n 500" \
		"ib_send_bw -R -F -c UD -p $port -n 500 $a"
}

# The second listening is late by a second, which refuses the client, once.
late_listener_complaint() { # ADDRESS
	local rule command="ib_read_lat -R -F -n 100 -p $port"
	rule=$(uhcactl fault add "call.slow=1s call=rdma_listen nth=2") || echo "no rule"
	rule=${rule#rule }
	cm_complaint "$command" "$command $1"
	uhcactl fault remove "$rule" >/dev/null
	grep -q "too late" "$out/commands" || echo "its client was not refused"
}

row_late_listener() { # ADDRESS
	wanted rdmacm read_lat-R-late core || return 0
	[ -z "$list_only" ] || { echo "rdmacm read_lat-R-late: ib_read_lat -R" && return; }
	available rdmacm read_lat-R-late ib_read_lat || return 0
	next_port
	try rdmacm read_lat-R-late late_listener_complaint "$1"
}

# The receiver has to be in its group before the sender begins.
mckey_complaint() { # ADDRESS GROUP SENDER-OPTION...
	start_server stdbuf -oL mckey -b "$1" -m "$2" -C 10 -S 1000
	until_true server_says "joined dgid" || echo "the receiver did not join"
	timeout -k 2 "$limit" mckey -s "${@:3}" -b "$1" -m "$2" -C 10 -S 1000 \
		>"$out/client" 2>&1 </dev/null
	client_status=$?
	[ $client_status = 0 ] || within 3 is_gone "$server_pid" || kill "$server_pid"
	wait "$server_pid"
	server_status=$?
	pair_complaint
	grep -q "data transfers complete" "$out/server" || echo "the receiver has not all messages"
}

mckey_row() { # NAME LEVEL ADDRESS GROUP SENDER-OPTION...
	wanted rdmacm "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "rdmacm $1: mckey -m $4 ${*:5}" && return; }
	available rdmacm "$1" mckey || return 0
	try rdmacm "$1" mckey_complaint "${@:3}"
}

rows_rdmacm_ipv6() { # ADDRESS
	local a=$1
	next_port
	cm_row rping-ipv6 core "rping -s -a $a -p $port -C 20 -V" \
		"rping -c -a $a -p $port -C 20 -V"
	next_port
	cm_row ucmatose-ipv6 core "ucmatose -b $a -f ip -p $port -C 20 -c 5" \
		"ucmatose -s $a -f ip -p $port -C 20 -c 5"
	cm_row udaddy-ipv6 core "udaddy -b $a" "udaddy -s $a"
	next_port
	cm_row rstream-ipv6 core "rstream -b $a -f ip -p $port -S 16384 -C 100 -T v" \
		"rstream -s $a -f ip -p $port -S 16384 -C 100 -T v"
	next_port
	cm_row riostream-ipv6 full "riostream -b $a -f ip -p $port -S 16384 -C 100" \
		"riostream -s $a -f ip -p $port -S 16384 -C 100"
	next_port
	row_cmtime cmtime-ipv6 "$a"
	next_port
	cm_row rdma_client-ipv6 full "rdma_server -s $a -p $port" "rdma_client -s $a -p $port"
}

# Of write_lat, which spins on memory and never yields, a hundred round trips are enough: where
# others compute each may take a tenth of a second.
rows_perftest_cm() {
	local a t n
	a=127.0.0.1
	[ -n "$list_only" ] || a=$(address_of "$UHCA_DIR" "$server_dev")
	for t in write_bw read_bw atomic_bw write_lat read_lat send_lat; do
		next_port
		n=500
		[ "$t" != write_lat ] || n=100
		cm_row "$t-R" program "ib_$t -R -F -p $port -n $n" "ib_$t -R -F -p $port -n $n $a"
	done
	row_late_listener "$a"
}

# Over UDP on one machine the loopback interface must take groups for its own.
rows_mckey_ipv6() { # ADDRESS
	if [[ $variant = wire* ]] && ! ip -6 route get ff0e::77:1 oif lo 2>&1 | grep -q ^local; then
		! wanted rdmacm mckey core ||
			skip rdmacm mckey "no route: ip -6 route add local ff00::/8 dev lo"
		return
	fi
	mckey_row mckey core "$1" ff0e::77:1
	mckey_row mckey-sendonly core "$1" ff0e::77:2 -o
}

rows_rdmacm_more() {
	local a=127.0.0.1 a6=::1
	[ -n "$list_only" ] || a=$(address_of "$UHCA_DIR" "$server_dev")
	[ -n "$list_only" ] || a6=$(address6_of "$UHCA_DIR" "$server_dev")
	if [ "$family" = 6 ]; then
		rows_mckey_ipv6 "$a"
		return
	fi
	mckey_row mckey core "$a" 239.77.1.1
	mckey_row mckey-sendonly core "$a" 239.77.1.2 -o
	rows_perftest_cm
	if [ -z "$a6" ]; then
		! wanted rdmacm ipv6 core || skip rdmacm ipv6 "the device has no IPv6 address"
		return
	fi
	# Over UDP that needs a route, which the variant wire6 has.
	[ "$variant" = wire ] || mckey_row mckey-ipv6 core "$a6" ff0e::77:1
	rows_rdmacm_ipv6 "$a6"
}
