# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of perftest, which runs with a hasty clock. The client prints a table: its lines begin with
# size and iterations; a bandwidth table has "BW peak, BW average, MsgRate" behind them, a latency
# table times in us. Of a bandwidth either of the last two will do: that of few small messages is
# rounded to 0.00, the rate of slow large ones to 0.000000.

# check_table SIZES ITERATIONS: the sizes (separated by commas) are there, in this order, each
# with a figure above zero. Bidirectional runs and several QPs multiply the iterations.
check_table() {
	local lines line words wanted n=$2 rows=0 i=0
	local -a size=() iterations=() figure=()
	IFS=, read -r -a wanted <<<"$1"
	mapfile -t lines <"$out/client" || lines=()
	for line in "${lines[@]}"; do
		[[ $line =~ ^\ *[0-9]+\ +[0-9]+\ +[0-9.] ]] || continue
		read -r -a words <<<"$line"
		size[rows]=${words[0]} iterations[rows]=${words[1]}
		# A time, or bandwidth and rate: a digit of them is not 0.
		figure[rows]="${words[3]:-} ${words[4]:-}"
		[ ${#words[@]} -lt 7 ] || figure[rows]=${words[5]}
		rows=$((rows + 1))
	done
	[ $rows = ${#wanted[@]} ] || {
		echo "the table has $rows lines, not ${#wanted[@]}"
		return
	}
	for ((; i < rows; i++)); do
		if [ "${size[i]}" != "${wanted[i]}" ]; then
			echo "line $((i + 1)) is for size ${size[i]}"
		elif [ "${iterations[i]}" -lt "$n" ]; then
			echo "${iterations[i]} iterations, not $n"
		elif [[ ${figure[i]} != *[1-9]* ]]; then
			echo "size ${size[i]}: nothing measured"
		else
			continue
		fi
		return
	done
}

all_sizes() { # LOG2-OF-LAST
	local i s=2 list=2
	for ((i = 2; i <= $1; i++)); do
		s=$((s * 2))
		list+=,$s
	done
	echo "$list"
}

pt() { # NAME LEVEL PROGRAM SIZES ITERATIONS FLAGS...
	local name=$1 lev=$2 program=$3 sizes=$4 n=$5 common
	shift 5
	wanted perftest "$name" "$lev" || return 0
	common="-F -n $n $*"
	# In cycles: for microseconds it looks at its clocks once more before each line. One row
	# does.
	[[ $program != *_lat || $name = send_lat-RC ]] || common+=" -C"
	[[ $sizes = *,* ]] || common+=" -s $sizes"
	[ -z "$list_only" ] || { echo "perftest $name: $program $common" && return; }
	available perftest "$name" "$program" || return 0
	next_port
	common+=" -p $port"
	[[ " $* " = *" -x "* ]] || common+=" -x $gid"
	program="$hasty $program"
	row perftest "$name" "check_table $sizes $n" "$program -d $server_dev $common" \
		"$program -d $client_dev $common $server_host"
}

# Of messages of latency fewer do: programs that look at memory and never sleep take both processors
# for a slice of time each, and the device waits for its turn.
rows_services() { # bw|lat
	local t=$1 c n=1000 rare=core services="RC XRC" depth=()
	[ "$t" = bw ] || n=100 rare=full
	[ "$reliable" = 0 ] || services="RC XRC UC UD"
	for c in $services; do
		pt "send_$t-$c" core "ib_send_$t" 1024 $n -c "$c"
	done
	# One daemon loses nothing; another one that gets no processor may
	# (docs/reference/limits.md).
	[ "$t" = lat ] || [ -n "${server_run[*]}" ] ||
		pt send_bw-UC-long core ib_send_bw 65536 1000 -c UC
	for c in ${services% UD}; do
		pt "write_$t-$c" core "ib_write_$t" 4096 $n -c "$c"
	done
	pt "read_$t" core "ib_read_$t" 4096 $n
	pt "read_$t-XRC" $rare "ib_read_$t" 4096 $n -c XRC
	pt "atomic_$t-XRC" $rare "ib_atomic_$t" 8 $n -c XRC
	pt "atomic_$t-add" core "ib_atomic_$t" 8 $n -A FETCH_AND_ADD
	pt "atomic_$t-swap" $rare "ib_atomic_$t" 8 $n -A CMP_AND_SWAP
	# Its test of latency takes one completion for each event, whichever CQ the event is of: an
	# answer that comes before the acknowledgement leaves a completion behind. With its queue of
	# one request the next post is ENOMEM.
	[ "$t" = bw ] || depth=(-t $((n / 2)))
	pt "send_$t-events" core "ib_send_$t" 65536 $((n / 2)) -e "${depth[@]}"
	pt "read_$t-events" full "ib_read_$t" 65536 $((n / 2)) -e
	pt "send_$t-srq" full "ib_send_$t" 4096 $((n / 2)) --use-srq
	[ "$reliable" = 0 ] || pt "send_$t-UD-events" full "ib_send_$t" 1024 $((n / 2)) -c UD -e
	pt "send_$t-inline" full "ib_send_$t" 64 $n -I 64
	pt "write_$t-inline" full "ib_write_$t" 64 $n -I 64
}

# Powers of two in one connection, and sizes beside those at which something ends: a packet, a page,
# a burst of the device (64 KiB). The long tables are of bandwidth only, writes inside the device,
# the others by UDP.
rows_all_sizes() {
	local sizes op size
	local -A level_of=([read]=core) # a row of megabytes in every variant
	sizes=$(all_sizes 23)
	[ "$variant" = internal ] || pt send_bw-all full ib_send_bw "$sizes" 20 -a
	[ "$variant" = wire ] || pt write_bw-all full ib_write_bw "$sizes" 20 -a
	[ "$variant" = internal ] || pt read_bw-all full ib_read_bw "$sizes" 20 -a
	[ "$variant" = internal ] || pt send_bw-all-UD full ib_send_bw "$(all_sizes 12)" 20 -a -c UD
	for op in send read write; do
		for size in 1 1023 4097 65537 1000003; do
			pt "${op}_lat-$size" full "ib_${op}_lat" $size 50
		done
		pt "${op}_lat-8388607" "${level_of[$op]:-full}" "ib_${op}_lat" 8388607 5
	done
	[ "$reliable" = 0 ] || pt write_lat-1000003-UC full ib_write_lat 1000003 20 -c UC
}

rows_shapes() {
	local m op
	for op in send write read; do
		pt "${op}_bw-8qp" full "ib_${op}_bw" 8192 500 -q 8
		pt "${op}_bw-both" full "ib_${op}_bw" 8192 500 -b
		pt "${op}_bw-8qp-both" core "ib_${op}_bw" 65536 200 -q 8 -b
	done
	pt atomic_bw-8qp full ib_atomic_bw 8 500 -q 8
	pt send_bw-srq-8qp full ib_send_bw 4096 500 --use-srq -q 8
	[ "$reliable" = 0 ] || pt send_bw-UD-8qp full ib_send_bw 1024 500 -c UD -q 8
	for m in 256 512 1024 2048 4096; do
		pt "write_bw-mtu-$m" full ib_write_bw 65536 200 -m $m
		pt "send_bw-mtu-$m" full ib_send_bw 10000 200 -m $m
		pt "read_bw-mtu-$m" full ib_read_bw 65536 200 -m $m
	done
	pt write_bw-list full ib_write_bw 1024 512 -l 16
	pt write_bw-depth-1 full ib_write_bw 4096 500 -t 1
	pt write_bw-every-cqe full ib_write_bw 4096 500 -Q 1
	pt send_bw-odd-size full ib_send_bw 12345 500
	pt write_bw-8MiB full ib_write_bw 8388608 20
	if [ "${has_ipv6:-0}" = 1 ]; then
		pt write_bw-ipv6 full ib_write_bw 65536 500 -x 1
		pt send_lat-ipv6 full ib_send_lat 8 500 -x 1
		# The group of perftest is ff01::/16. Linux routes no IPv6 group over lo.
		[ "$variant" != internal ] ||
			pt send_bw-UD-group full ib_send_bw 1024 500 -c UD -x 1 -g
	fi
}

# One row of each program and transport.
rows_perftest_each() {
	local t n=500
	for t in bw lat; do
		[ "$t" = bw ] || n=100
		pt "send_$t-RC" core "ib_send_$t" 1024 $n -c RC
		pt "send_$t-UD" core "ib_send_$t" 1024 $n -c UD
		pt "write_$t-RC" core "ib_write_$t" 4096 $n -c RC
		pt "read_$t" core "ib_read_$t" 4096 $n
		pt "atomic_$t-add" core "ib_atomic_$t" 8 $n -A FETCH_AND_ADD
	done
	pt write_bw-UC core ib_write_bw 4096 500 -c UC
	pt send_bw-XRC core ib_send_bw 1024 500 -c XRC
}

rows_perftest() {
	rows_services bw
	rows_services lat
	rows_all_sizes
	rows_shapes
}
