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

mpi_complaint() { # MPI RANKS TLS
	local command
	mpi_built "$1" || return 0
	readarray -t command < <(mpi_command "$1" "$2")
	timeout -k 2 "$limit" env UCX_TLS="$3" UCX_NET_DEVICES="$client_dev:1" \
		"${command[@]}" "$out/mpi/$1" >"$out/client" 2>&1 </dev/null ||
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
