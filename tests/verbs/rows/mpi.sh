# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of Open MPI (pml and osc "ucx") and of MPICH (Debian builds it with ch4:ucx): our program
# mpi_check.c, built with each one's compiler. UCX may use nothing but the device, and its counters
# must have grown by what the program sends.

mpi_command() { # MPI RANKS; one word a line
	case $1 in
	openmpi)
		printf '%s\n' mpirun.openmpi --oversubscribe --mca plm isolated \
			--mca pml ucx --mca osc ucx --mca btl self
		[ "$(id -u)" != 0 ] || echo --allow-run-as-root
		;;
	mpich) printf '%s\n' mpirun.mpich -launcher fork ;;
	esac
	printf '%s\n' -n "$2"
}

mpi_built() { # MPI
	[ ! -x "$out/mpi/$1" ] || return 0
	mkdir -p "$out/mpi"
	"mpicc.$1" -O1 -o "$out/mpi/$1" "$here/ends/mpi_check.c" >"$out/compiler" 2>&1 && return 0
	echo "mpicc.$1: $(head -n 1 "$out/compiler")"
	return 1
}

# More than two ranks run with the short receive queues of most variants (settings_of of clients)
# and without ibv_fork_init. With it, libibverbs calls madvise for each page of memory that Open MPI
# has freed before its region: that takes longer than all the rest.
mpi_complaint() { # MPI RANKS TLS
	local command more=()
	[ "$2" = 2 ] || more=(UCX_IB_RX_QUEUE_LEN=256 UCX_IB_FORK_INIT=n)
	mpi_built "$1" || return 0
	readarray -t command < <(mpi_command "$1" "$2")
	timeout -k 2 "$limit" env UCX_TLS="$3" UCX_NET_DEVICES="$client_dev:1" \
		${more[@]+"${more[@]}"} "${command[@]}" "$out/mpi/$1" \
		>"$out/client" 2>&1 </dev/null ||
		echo "$(status_words $?): $(tail -n 1 "$out/client")"
	grep -q "^mpi_check: $2 ranks, all data as it should be" "$out/client" ||
		echo "no result: $(grep -m 1 mpi_check "$out/client")"
}

mpi_row() { # MPI RANKS TLS NAME LEVEL BYTES
	local name=$1-$2-$4
	wanted mpi "$name" "$5" || return 0
	[ -z "$list_only" ] || { echo "mpi $name: UCX_TLS=$3 mpirun.$1 -n $2 mpi_check" && return; }
	available mpi "$name" "mpirun.$1" && available mpi "$name" "mpicc.$1" || return 0
	try mpi "$name" carries "$6" mpi_complaint "$1" "$2" "$3"
}

rows_mpi() {
	local mpi rc=rc_verbs,ud_verbs:aux,self
	for mpi in openmpi mpich; do
		mpi_row $mpi 2 $rc rc core 10000000
		mpi_row $mpi 4 $rc rc core 20000000
		mpi_row $mpi 2 ud_verbs,self ud program 10000000
	done
}

# ---- behind switches: Open MPI and UCX on devices that a modelled network of two leaves and two
# spines joins. No packet may be dropped.

network_dropped() {
	local n
	n=$("$UHCA_BUILDDIR/uhcactl" show fabric | sed -n 's/.*, dropped \([^,]*\),.*/\1/p')
	[ "$n" = 0 ] || echo "dropped: $n"
}

network_mpi_complaint() {
	local command
	mpi_built openmpi || return 0
	readarray -t command < <(mpi_command openmpi 8)
	# Expanded by each rank's shell.
	# shellcheck disable=SC2016
	command+=(sh -c 'export UCX_NET_DEVICES=uhca$OMPI_COMM_WORLD_LOCAL_RANK:1; exec "$0"')
	timeout -k 2 "$limit" env UCX_TLS=rc_verbs,ud_verbs:aux,self UCX_IB_FORK_INIT=n \
		"${command[@]}" "$out/mpi/openmpi" >"$out/client" 2>&1 </dev/null ||
		echo "$(status_words $?): $(tail -n 1 "$out/client")"
	grep -q "^mpi_check: 8 ranks, all data as it should be" "$out/client" ||
		echo "no result: $(grep -m 1 mpi_check "$out/client")"
	network_dropped
}

network_mpi_row() {
	wanted network openmpi-8 core || return 0
	[ -z "$list_only" ] || { echo "network openmpi-8: mpirun -n 8 mpi_check" && return; }
	available network openmpi-8 mpirun.openmpi && available network openmpi-8 mpicc.openmpi ||
		return 0
	try network openmpi-8 carries 40000000 network_mpi_complaint
}

# From the first device to the last, by two leaves and a spine: io_demo compares every byte (-q).
network_ucx_complaint() { # ADDRESS ARGUMENT...
	local command
	command=(UCX_TLS="rc_verbs,ud_verbs:aux" UCX_SOCKADDR_TLS_PRIORITY=rdmacm
		io_demo -p "$port" -d 1:262144 -q "${@:2}")
	start_server env UCX_NET_DEVICES="$server_dev:1" stdbuf -oL env "${command[@]}"
	until_true server_says "started listener" || echo "the server does not listen"
	timeout -k 2 "$limit" env UCX_NET_DEVICES="$client_dev:1" "${command[@]}" -i 300 \
		-o read,write "$1" >"$out/client" 2>&1 </dev/null ||
		echo "client $(status_words $?)"
	kill "$server_pid" 2>/dev/null || echo "the server ended before it was told to"
	wait "$server_pid"
	grep -q "exit with status 'OK'" "$out/client" || echo "the client does not say OK"
	grep -hiE "ucx +error|corrupt|mismatch|assert" "$out/client" "$out/server" | head -n 1
	network_dropped
}

network_ucx_row() { # NAME ARGUMENT...
	local address
	wanted network "$1" core || return 0
	[ -z "$list_only" ] || { echo "network $1: io_demo -q ${*:2}" && return; }
	available network "$1" io_demo || return 0
	address=$(address_of "$UHCA_DIR" "$server_dev")
	next_port
	try network "$1" carries 30000000 network_ucx_complaint "$address" "${@:2}"
}

rows_network() {
	network_mpi_row
	network_ucx_row ucx-tag
	network_ucx_row ucx-am -A
}
