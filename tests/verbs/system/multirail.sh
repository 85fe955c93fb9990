#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Open MPI (pml "ucx") over two rails: a long message uses both; the job ends when one of them goes
# away for good, and the next one runs over the other.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
UCX_TLS=rc_verbs,ud_verbs:aux,self
UCX_MAX_RNDV_RAILS=2
UCX_RNDV_THRESH=16k
UCX_RNDV_SCHEME=put_zcopy
UCX_HANDLE_ERRORS=none
UCX_RC_TIMEOUT=10ms
UCX_RC_RETRY_COUNT=2
export ASAN_OPTIONS UCX_TLS UCX_MAX_RNDV_RAILS UCX_RNDV_THRESH UCX_RNDV_SCHEME UCX_HANDLE_ERRORS
export UCX_RC_TIMEOUT UCX_RC_RETRY_COUNT
run=${UHCA_SRCDIR:?}/scripts/uhca-run
for tool in mpirun.openmpi mpicc.openmpi; do
	command -v $tool >/dev/null || {
		echo "SKIP: no $tool; scripts/deps --install clients"
		exit 77
	}
done
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
mpicc.openmpi -O1 -o "$out/program" "$UHCA_SRCDIR/tests/support/mpi_pingpong.c" || exit 1

cat >"$out/job" <<'END'
as_root=
[ "$(id -u)" != 0 ] || as_root=--allow-run-as-root
exec timeout -k 2 240 env UCX_NET_DEVICES="$1" mpirun.openmpi --oversubscribe $as_root -n 2 \
	--mca plm isolated --mca pml ucx --mca osc ucx --mca btl self \
	"$0/program" bandwidth 400000 64 </dev/null
END

cat >"$out/both.scn" <<END
title Open MPI over two rails
daemon --devices 2
fault rail0: count dev=uhca0 opcode=write
fault rail1: count dev=uhca1 opcode=write
run job: sh -c '. $out/job' $out uhca0:1,uhca1:1
expect exit job
expect rule rail0 hits >= 1000
expect rule rail1 hits >= 1000
END

cat >"$out/lost.scn" <<END
title Open MPI over two rails, one of which goes away for good
daemon --devices 2
fault gone: port.down dev=uhca1 opcode=write nth=200
run job: sh -c '. $out/job' $out uhca0:1,uhca1:1
after exit job: run next: sh -c '. $out/job' $out uhca0:1
expect exit job 134
expect output job exited on signal 6
expect exit next
END

"$run" --scenario "$out/both.scn" --scenario "$out/lost.scn" >"$out/said" 2>&1 && exit
cat "$out/said"
exit 1
