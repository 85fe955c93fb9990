# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of the pingpong examples of rdma-core, and of the programs that only look at a device.

# Both sides print "B bytes in S seconds = M Mbit/sec" with B the traffic of both directions, and
# "N iters in S seconds = U usec/iter". Called more often than any other: no process.
check_pingpong() { # SIZE ITERATIONS
	local side lines said bytes=$(($1 * $2 * 2)) x='[0-9.]+'
	local total=$'\n'"$bytes bytes in $x seconds = $x Mbit/sec"
	local each=$'\n'"$2 iters in $x seconds = $x usec/iter"
	for side in server client; do
		mapfile -t lines <"$out/$side" || lines=()
		printf -v said '\n%s' "${lines[@]}"
		[[ $said =~ $total ]] || {
			echo "$side does not report $bytes bytes"
			return
		}
		[[ $said =~ $each ]] || {
			echo "$side does not report $2 iterations"
			return
		}
	done
}

pp() { # NAME LEVEL PROGRAM SIZE ITERATIONS FLAGS...
	local name=$1 lev=$2 program=$3 size=$4 n=$5 common
	shift 5
	wanted pingpong "$name" "$lev" || return 0
	# Some packets in a hundred are lost, each costs a timeout: a quarter sees enough of them.
	[ "$reliable" = 1 ] || n=$((n / 4 + 1))
	[ -z "$list_only" ] || { echo "pingpong $name: $program -s $size -n $n $*" && return; }
	available pingpong "$name" "$program" || return 0
	next_port
	common="-p $port -s $size -n $n $*"
	[[ " $* " = *" -g "* ]] || common+=" -g $gid"
	row pingpong "$name" "check_pingpong $size $n" "$program -d $server_dev $common" \
		"$program -d $client_dev $common $server_host"
}

rows_pingpong() {
	local s m
	pp rc core ibv_rc_pingpong 4096 1000
	pp rc-events core ibv_rc_pingpong 4096 1000 -e
	pp rc-check core ibv_rc_pingpong 4096 1000 -c
	[ "$variant" = wire ] || pp rc-40000 full ibv_rc_pingpong 4096 40000
	[ "$variant" = internal ] || pp rc-20000 full ibv_rc_pingpong 4096 20000
	for s in 1 4096 1000000; do
		pp "rc-size-$s" core ibv_rc_pingpong "$s" 50 -c
	done
	for m in 256 512 1024 2048 4096; do
		pp "rc-mtu-$m" full ibv_rc_pingpong 65536 200 -c -m $m
	done
	pp rc-timestamps core ibv_rc_pingpong 4096 1000 -t
	pp rc-new-post core ibv_rc_pingpong 4096 1000 -N
	pp rc-new-post-events full ibv_rc_pingpong 65536 500 -N -e -c
	# Not -t with -e: then the program ends when an event comes for what it has polled already,
	# which may happen to each who arms before polling.
	pp rc-new-post-timestamps full ibv_rc_pingpong 4096 500 -N -t -c
	pp rc-dm core ibv_rc_pingpong 4096 500 -j -c
	pp rc-odp core ibv_rc_pingpong 4096 500 -o -c
	pp rc-odp-implicit core ibv_rc_pingpong 4096 500 -o -O -c
	pp rc-odp-prefetch full ibv_rc_pingpong 4096 500 -o -P -c
	pp rc-one-receive full ibv_rc_pingpong 4096 500 -r 1
	if [ "${has_ipv6:-0}" = 1 ]; then
		pp rc-ipv6 full ibv_rc_pingpong 4096 1000 -g 1 -c
	fi
	pp srq core ibv_srq_pingpong 4096 1000
	pp srq-events full ibv_srq_pingpong 4096 1000 -e
	pp srq-check full ibv_srq_pingpong 4096 1000 -c
	xsrq xsrq core 1
	xsrq xsrq-3-clients core 3
	xsrq xsrq-events full 1 -e
	xsrq xsrq-large full 2 -s 100000
	[ "$reliable" = 1 ] || return 0
	pp uc core ibv_uc_pingpong 4096 1000
	pp uc-events full ibv_uc_pingpong 4096 1000 -e
	pp uc-check full ibv_uc_pingpong 65536 500 -c
	pp ud core ibv_ud_pingpong 1024 1000
	pp ud-events full ibv_ud_pingpong 2048 1000 -e
	pp ud-check full ibv_ud_pingpong 1024 1000 -c
}

# One row of each program, with data checked where the program can.
rows_pingpong_each() {
	pp rc-check core ibv_rc_pingpong 4096 500 -c
	pp uc-check core ibv_uc_pingpong 65536 100 -c
	pp ud-check core ibv_ud_pingpong 1024 500 -c
	pp srq-check core ibv_srq_pingpong 4096 500 -c
	xsrq xsrq core 1
}

# ibv_xsrq_pingpong prints "success" on both sides and has no figures. It serves several clients.
check_xsrq() { # CLIENTS
	local n
	grep -qx success "$out/server" || echo "the server does not say success"
	n=$(grep -cx success "$out/client")
	[ "$n" = "$1" ] || echo "$n of $1 clients say success"
}

xsrq() { # NAME LEVEL CLIENTS FLAGS...
	local name=$1 lev=$2 n=$3 common
	shift 3
	wanted pingpong "$name" "$lev" || return 0
	[ -z "$list_only" ] || { echo "pingpong $name: ibv_xsrq_pingpong -c $n $*" && return; }
	available pingpong "$name" ibv_xsrq_pingpong || return 0
	next_port
	common="-p $port -g $gid $*"
	row pingpong "$name" "check_xsrq $n" "ibv_xsrq_pingpong -d $server_dev -c $n $common" \
		"$here/system/several $n ibv_xsrq_pingpong -d $client_dev $common $server_host"
}

# look NAME PATTERN COMMAND...: a program that ends by itself and says something.
look() {
	local name=$1 pattern=$2 begin status line
	shift 2
	wanted device "$name" core || return 0
	[ -z "$list_only" ] || { echo "device $name: $*" && return; }
	available device "$name" "$1" || return 0
	now_ms
	begin=$now
	timeout -k 2 "$limit" "${client_run[@]}" "$@" >"$out/client" 2>&1 </dev/null
	status=$?
	if [ $status != 0 ]; then
		fail device "$name" "$1 $(status_words $status): $(last_words)"
	elif ! grep -qE "$pattern" "$out/client"; then
		fail device "$name" "no '$pattern' in what $1 says"
	elif line=$(grep -m 1 -iE "failed|unable|cannot|error" "$out/client"); then
		fail device "$name" "it said: $line"
	else
		seconds_since "$begin"
		pass device "$name" "$seconds"
	fi
}

# ibv_asyncwatch stays until an event comes: it must have opened the device and go on waiting,
# and end at SIGINT as a program does that has no handler for it.
row_asyncwatch() {
	wanted device asyncwatch core || return 0
	[ -z "$list_only" ] || { echo "device asyncwatch: ibv_asyncwatch" && return; }
	available device asyncwatch ibv_asyncwatch || return 0
	local begin
	now_ms
	begin=$now
	: >"$out/client"
	: >"$out/server"
	stdbuf -oL timeout -s INT -k 2 "$limit" "${client_run[@]}" ibv_asyncwatch -d "$client_dev" \
		>"$out/server" 2>&1 </dev/null &
	server_pid=$!
	if until_true grep -qs "async event FD" "$out/server" && is_alive "$server_pid"; then
		seconds_since "$begin"
		pass device asyncwatch "$seconds"
	else
		fail device asyncwatch "$(last_words)"
	fi
	kill -INT "$server_pid" 2>/dev/null
	until_true is_gone "$server_pid" || fail device asyncwatch "does not end at SIGINT"
	wait "$server_pid" 2>/dev/null
}

rows_device() {
	look ibv_devices "^ *${client_dev}[[:space:]]+[0-9a-f]{16}" ibv_devices
	look ibv_devinfo "state:[[:space:]]+PORT_ACTIVE" ibv_devinfo -d "$client_dev"
	look ibv_devinfo-v "GID\[ *0\]:.*RoCE v2" ibv_devinfo -v -d "$client_dev"
	look ibv_devinfo-link "link_layer:[[:space:]]+Ethernet" ibv_devinfo -d "$client_dev"
	look ibv_devinfo-list "1 HCAs? found|[0-9]+ HCAs? found" ibv_devinfo -l
	look fi_info "domain: $client_dev" fi_info -p verbs
	row_asyncwatch
}
