# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# What uhca is held against: messages over TCP, and what the machine can do at all. Needs pair.sh.

ucx() { # TEST SIZE ITERATIONS
	local n=$(($3 / factor))
	next_port
	export UCX_TLS=tcp,self UCX_NET_DEVICES=lo
	pair "$port" ucx_perftest -p "$port" -- ucx_perftest -p "$port" 127.0.0.1 -t "$1" \
		-s "$2" -n $n -w $((n / 10 + 1)) -f -v | awk -F, -v t="$1" -v s="$2" '
		/^ *[0-9]/ { if (t ~ /_lat$/) v = $2
			else if (s <= 8) v = $8 / 1e6
			else v = $6 * 1.048576e-3 }
		END { if (v != "") printf "%.2f\n", v }'
}

ucx_cpu() { # TEST SIZE ITERATIONS; a tenth more is for warming up
	cpu_of ucx "$@" | per_unit "$2" $(($3 * 11 / factor / 10))
}

fabric() { # SIZE ITERATIONS latency|bandwidth
	next_port
	pair "$port" fi_pingpong -p tcp -e msg -B "$port" -S "$1" -I $(($2 / factor)) -- \
		fi_pingpong -p tcp -e msg -P "$port" -S "$1" -I $(($2 / factor)) 127.0.0.1 |
		awk -v what="$3" -v s="$1" '/sec$/ { next } NF >= 8 { us = $(NF - 1) }
			END { if (us > 0) printf "%.2f\n", what == "latency" ? us : s / us / 1e3 }'
}

mpi() { # latency|bandwidth SIZE ITERATIONS
	local program=$UHCA_BUILDDIR/tests/support/mpi_pingpong root=()
	[ -x "$program" ] ||
		mpicc.openmpi -O2 -o "$program" "$root_folder/${program#"$UHCA_BUILDDIR/"}.c" \
			>/dev/null 2>&1 || return 1
	[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
	timeout -k 2 120 mpirun.openmpi --oversubscribe --mca plm isolated --mca pml ob1 \
		--mca btl tcp,self --mca btl_tcp_if_include lo ${root[@]+"${root[@]}"} -n 2 \
		"$program" "$1" "$2" $(($3 / factor)) 2>/dev/null </dev/null
}

limit() {
	timeout 60 "$limits" "$@"
}
