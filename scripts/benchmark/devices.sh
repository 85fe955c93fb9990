# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# perftest and our own programs on uhca. Needs pair.sh. WHERE is an arrangement: pinned and
# not-pinned (both programs on one device), wire (the same over UDP) or daemons (two of them).

# arranged WHERE COMMAND...: the command with the instance (or both) of the arrangement.
arranged() {
	local where=$1
	shift
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	case $where in
	pinned) "$uhca_run" --private --pin safe -- "$@" ;;
	not-pinned) "$uhca_run" --private --pin off -- "$@" ;;
	wire) "$uhca_run" --private --pin safe --wire -- "$@" ;;
	daemons)
		"$uhca_run" --private --pin safe -- \
			sh -c 'PEER=$UHCA_DIR; export PEER; exec "$@"' sh \
			"$uhca_run" --private --pin safe -- "$@"
		;;
	esac
}

# perftest WHERE PROGRAM FLAGS...: its output; runs again inside the instance.
perftest() {
	local where=$1
	shift
	next_port
	arranged "$where" env BENCH_INSIDE=1 "$0" "$port" "$@"
}

inside() { # PORT PROGRAM FLAGS...: on both sides of an arrangement
	local listen=$1 program=$2 first=() second=() idle
	shift 2
	if [ -n "${BENCH_CPU:-}" ]; then
		inside_cpu "$listen" "$program" "$@"
		return
	fi
	if [ -n "${BENCH_IDLE:-}" ]; then
		coproc idle_clients
		read -r idle <&"${COPROC[0]}" && [ "$idle" = ready ] || return
	fi
	[ -z "${BENCH_ONE_CORE:-}" ] || first=(taskset -c 0) second=(taskset -c 1)
	pair "$listen" ${first[@]+"${first[@]}"} env UHCA_DIR="${PEER:-$UHCA_DIR}" "$program" \
		-F -x 0 -p "$listen" "$@" -- ${second[@]+"${second[@]}"} "$program" -F -x 0 \
		-p "$listen" "$@" 127.0.0.1
}

idle_clients() { # they end with their input
	local number
	read -r -a number <<<"$BENCH_IDLE"
	exec /usr/bin/python3 "$root_folder/tests/verbs/rows/many_qps.py" "${number[1]}" uhca0 \
		"${number[0]}" 2>/dev/null
}

# The seconds of both programs and of the daemons.
inside_cpu() { # PORT PROGRAM FLAGS...
	local listen=$1 program=$2 pids before
	shift 2
	mapfile -t pids < <(sort -u "$UHCA_DIR/pid" ${PEER:+"$PEER/pid"})
	before=$(daemon_ticks "${pids[@]}")
	pair "$listen" env UHCA_DIR="${PEER:-$UHCA_DIR}" "$program" -F -x 0 -p "$listen" "$@" -- \
		"$program" -F -x 0 -p "$listen" "$@" 127.0.0.1 >/dev/null
	# Not by $(...): a subshell counts the children that it has itself.
	children_seconds >"$UHCA_DIR/seconds"
	awk -v p="$(cat "$UHCA_DIR/seconds")" \
		-v d="$(($(daemon_ticks "${pids[@]}") - before))" \
		-v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.3f\n", p + d / hz }'
}

# Table lines of perftest: size, iterations, figures.
column() { # SIZE COLUMN
	awk -v s="$1" -v c="$2" '$1 == s && NF > 3 { v = $c } END { if (v != "") print v }'
}

perf_lat() { # WHERE PROGRAM SIZE
	perftest "$1" "$2" -s "$3" -n $((20000 / factor)) | column "$3" 5
}

perf_lat_one_core() {
	BENCH_ONE_CORE=1 perf_lat "$@"
}

beside_idle() { # CLIENTS QPS PROGRAM SIZE
	BENCH_IDLE="$1 $2" perf_lat pinned "$3" "$4"
}

perf_bw() { # WHERE PROGRAM SIZE
	local n=$((2147483648 / $3 / factor))
	[ $n -le 20000 ] || n=20000
	perftest "$1" "$2" -s "$3" -n $n | column "$3" 4 |
		awk '{ printf "%.2f\n", $1 * 1.048576e-3 }'
}

perf_rate() { # WHERE SIZE FLAG...
	perftest "$1" ib_write_bw -s "$2" -n $((200000 / factor)) "${@:3}" | column "$2" 5 |
		awk '{ printf "%.3f\n", $1 }'
}

perf_cpu() { # WHERE SIZE ITERATIONS
	local n=$(($3 / factor))
	BENCH_CPU=1 perftest "$1" ib_write_bw -s "$2" -n $n | per_unit "$2" $n
}

column_way() { # WHERE key|bounce: GB/s
	local n=16384
	arranged "$1" timeout 100 "$UHCA_BUILDDIR/tests/verbs/keys/column_exchange" --csv $n 8 |
		awk -F, -v way="$2" -v n=$n 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["way"] == way && $at["memory"] == "ordinary" && $at["n"] == n {
				printf "%.3f\n", $at["gb_s"] }'
}

# registers WHERE COLUMN ARGUMENTS...: of what tests/support/registration says.
registers() {
	local where=$1 column=$2
	shift 2
	arranged "$where" timeout 100 "$registration" "$@" 2>/dev/null |
		awk -v c="$column" 'NF == 2 { print $c }'
}

# What the daemon itself takes: memory with 1000 connected queue pairs.
resident() {
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	timeout 100 "$uhca_run" --private -- bash -c '
		pid=$(cat "$UHCA_DIR/pid")
		rss() { awk "/^VmRSS:/ { print \$2 }" "/proc/$pid/status"; }
		before=$(rss)
		coproc "$0" "$1" 1000
		read -r line <&"${COPROC[0]}" && [ "$line" = ready ] && echo "$before $(rss)"
		exec {COPROC[1]}>&-
		wait' /usr/bin/python3 "$root_folder/tests/verbs/rows/many_qps.py" 2>/dev/null
}
