# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of UCX: its transports rc_verbs and ud_verbs (UCT), what UCP makes of them, and connections
# that it makes by address through rdma_cm. ucx_perftest does not look at the data; io_demo does.
# Shared memory and TCP are not allowed, and the device's counters say that the bytes were its own.

ucx_info_complaint() {
	local t
	ucx_info -d >"$out/client" 2>&1 || echo "ucx_info ended with $?"
	for t in rc_verbs ud_verbs; do
		grep -A1 "Transport: $t\$" "$out/client" | grep -q "Device: $client_dev:1" ||
			echo "no $t on $client_dev"
	done
}

# Built with MPI (Debian 13) it takes itself for a process of mpirun, unless told otherwise.
ucx_alone() {
	ucx_perftest -h 2>/dev/null | grep -q -e '-P <0|1> .*MPI' && echo "-P 0"
}

ucx_pair_complaint() { # TLS ARGUMENTS
	local command="env UCX_TLS=$1 UCX_NET_DEVICES=$client_dev:1 ucx_perftest -p $port"
	command+=" ${ucx_mode=$(ucx_alone)}"
	run_pair "$command $2" "$command -n 200 -w 10 $2 $server_host"
	pair_complaint
	grep -q '^Final: *200 ' "$out/client" || echo "no result of 200 iterations"
}

ucx_row() { # NAME LEVEL BYTES TLS ARGUMENTS
	wanted ucx "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "ucx $1: UCX_TLS=$4 ucx_perftest $5" && return; }
	available ucx "$1" ucx_perftest || return 0
	next_port
	try ucx "$1" carries "$3" ucx_pair_complaint "$4" "$5"
}

rows_uct() {
	local rc="-d $client_dev:1 -x rc_verbs" ud="-d $client_dev:1 -x ud_verbs" big=1600000
	ucx_row uct-rc-am_lat core 400 all "$rc -t am_lat"
	ucx_row uct-rc-am_bw-zcopy full $big all "$rc -t am_bw -D zcopy -s 8000"
	ucx_row uct-rc-put_bw full $big all "$rc -t put_bw -D zcopy -s 65536"
	ucx_row uct-rc-get full $big all "$rc -t get -D zcopy -s 65536"
	ucx_row uct-rc-fadd full 400 all "$rc -t fadd"
	ucx_row uct-rc-cswap full 400 all "$rc -t cswap"
	ucx_row uct-rc-add_mr full 400 all "$rc -t add_mr"
	ucx_row uct-ud-am_lat core 400 all "$ud -t am_lat"
	ucx_row uct-ud-am_bw-bcopy full 200000 all "$ud -t am_bw -D bcopy -s 1000"
}

# What needs UD for the first exchange gets it as an auxiliary transport.
rows_ucp() {
	local t rc=rc_verbs,ud_verbs:aux
	for t in tag_lat tag_bw tag_sync_lat ucp_put_lat ucp_put_bw ucp_get stream_bw stream_lat \
		ucp_am_lat ucp_am_bw; do
		ucx_row "ucp-rc-$t" program 13107200 $rc "-t $t -s 65536"
		ucx_row "ucp-ud-$t" program 13107200 ud_verbs "-t $t -s 65536"
	done
	for t in ucp_add ucp_fadd ucp_swap ucp_cswap; do
		ucx_row "ucp-rc-$t" program 400 $rc "-t $t -s 8"
	done
	ucx_row ucp-rc-threads program 13107200 $rc "-t tag_bw -s 65536 -T 2 -M multi"
	ucx_row ucp-rc-iov program 13107200 $rc "-t tag_bw -D iov,iov -s 16384,32768,16384"
	# Both sides wait for events between messages.
	for t in tag_lat tag_bw ucp_am_lat; do
		ucx_row "ucp-rc-sleep-$t" program 13107200 $rc "-E sleep -t $t -s 65536"
		ucx_row "ucp-ud-sleep-$t" program 13107200 ud_verbs "-E sleep -t $t -s 65536"
	done
}

# Its server goes on until it is told to stop.
io_demo_complaint() { # TLS ARGUMENT...
	local command tls=$1 devices=$client_dev:1 way=rdmacm
	# It knows IPv4 addresses only: for IPv6 TCP connects it, and carries no data then.
	[ "$family" = 4 ] || tls+=,tcp devices+=,lo way=tcp
	command=(env UCX_TLS="$tls" UCX_NET_DEVICES="$devices" UCX_SOCKADDR_TLS_PRIORITY="$way"
		io_demo -p "$port" -d 1:262144 -q "${@:2}")
	start_server stdbuf -oL "${command[@]}"
	until_true server_says "started listener" || echo "the server does not listen"
	timeout -k 2 "$limit" "${command[@]}" -i 300 -o read,write "$server_addr" \
		>"$out/client" 2>&1 </dev/null || echo "client $(status_words $?)"
	kill "$server_pid" 2>/dev/null || echo "the server ended before it was told to"
	wait "$server_pid"
	grep -q "exit with status 'OK'" "$out/client" || echo "the client does not say OK"
	grep -hiE "ucx +error|corrupt|mismatch|assert" "$out/client" "$out/server" | head -n 1
}

io_demo_row() { # NAME LEVEL TLS ARGUMENT...
	wanted ucx "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "ucx $1: UCX_TLS=$3 io_demo -q ${*:4}" && return; }
	available ucx "$1" io_demo || return 0
	next_port
	# 300 messages of 1 to 262144 bytes: 39 MB, give or take 1.3.
	try ucx "$1" carries 30000000 io_demo_complaint "$3" "${@:4}"
}

# UCX's own example, of libucx-dev, connects by address. Its server goes on, too. The client leaves
# by force after its last message, which the server is sure to have only when it fetches it by READ.
client_server_built() {
	local source=/usr/share/doc/libucx-dev/examples/ucp_client_server.c
	[ ! -x "$out/ucx/client_server" ] || return 0
	mkdir -p "$out/ucx"
	cc -O1 -o "$out/ucx/client_server" $source -lucp -lucs >"$out/compiler" 2>&1 && return 0
	echo "ucp_client_server.c: $(head -n 1 "$out/compiler")"
	return 1
}

# What it sends is the alphabet over and over, and a zero at the end.
client_server_data() { # BYTES
	local alphabet=ABCDEFGHIJKLMNOPQRSTUVWXYZ
	head -c $((($1 / 26 + 1) * 26)) < <(yes $alphabet | tr -d '\n') | head -c $(($1 - 1))
}

client_server_complaint() { # ADDRESS
	local command=(env UCX_TLS="rc_verbs,ud_verbs:aux" UCX_NET_DEVICES="$client_dev:1"
		UCX_SOCKADDR_TLS_PRIORITY=rdmacm UCX_RNDV_THRESH=0
		stdbuf -oL "$out/ucx/client_server" -p "$port" -c tag -i 20 -s 30000)
	[ "$family" = 4 ] || command+=(-6)
	client_server_built || return 0
	start_server "${command[@]}"
	until_true server_says "Waiting for connection" || echo "the server does not listen"
	timeout -k 2 "$limit" "${command[@]}" -a "$1" >"$out/client" 2>&1 </dev/null ||
		echo "client $(status_words $?): $(last_words)"
	until_true server_says "iteration #20" || echo "the server does not see 20 messages"
	kill "$server_pid" 2>/dev/null || echo "the server ended"
	wait "$server_pid"
	# grep -F takes 300 ms for a pattern that repeats itself.
	[[ $(<"$out/server") == *"$(client_server_data 30000)"* ]] || echo "the data is another"
}

row_client_server() { # ADDRESS
	wanted ucx sockaddr program || return 0
	[ -z "$list_only" ] || { echo "ucx sockaddr: ucp_client_server -c tag" && return; }
	available ucx sockaddr cc || return 0
	next_port
	try ucx sockaddr carries 600000 client_server_complaint "$1"
}

rows_ucx() {
	local server_addr=127.0.0.1
	[ -n "$list_only" ] || server_addr=$(address_of "$UHCA_DIR" "$server_dev")
	row_client_server "$server_addr"
	[ "$family" = 4 ] || server_addr=127.0.0.1 # io_demo's
	if wanted ucx info core; then
		if [ -n "$list_only" ]; then
			echo "ucx info: ucx_info -d"
		else
			available ucx info ucx_info && try ucx info ucx_info_complaint
		fi
	fi
	rows_uct
	rows_ucp
	io_demo_row rdmacm-rc-tag core rc_verbs,ud_verbs:aux
	io_demo_row rdmacm-rc-am full rc_verbs,ud_verbs:aux -A
	[ "$family" = 4 ] || return 0 # beside ud_verbs, TCP would carry the data
	io_demo_row rdmacm-ud-tag program ud_verbs
	io_demo_row rdmacm-ud-am full ud_verbs -A
}
