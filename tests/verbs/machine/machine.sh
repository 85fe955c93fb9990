#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Described machines (uhca-machine(5)): what each reader chooses on each preset is held against the
# files expected/PRESET, which say what it should choose; and traffic between devices of them.
#
#   machine.sh [--show PRESET]     prints what is held against the file, for a new one
set -u
here=$(cd "$(dirname "$0")" && pwd)
srcdir=${UHCA_SRCDIR:-$here/../../..}
export UHCA_BUILDDIR=${UHCA_BUILDDIR:-$srcdir/build}
run=$srcdir/scripts/uhca-run
presets="dgx-h100 two-rails azure-nd aws-p5 laptop rxe"
failed=0

complain() {
	echo "FAIL $*"
	failed=1
}

for tool in lstopo-no-graphics rdma ibv_devinfo ucx_info fi_info python3; do
	command -v "$tool" >/dev/null || {
		echo "SKIP: no $tool; scripts/deps --install clients tests"
		exit 77
	}
done

# Inside: what every reader says.
readers() {
	"$here/readers.py" nccl mooncake gloo ucx ibdev2netdev show_gids
	echo "[rdma link]"
	rdma link
	echo "[rdma dev]"
	rdma dev | sed 's/node_guid.*//'
	echo "[ibv_devinfo]"
	ibv_devinfo | awk '/^hca_id:/ { if (line) print line; line = $2 }
		/(vendor_id|part_id|board_id|port_cnt|state|port_lid|layer):/ { line = line " " $1 " " $2 }
		END { if (line) print line }'
	echo "[lstopo]"
	lstopo-no-graphics --of xml 2>/dev/null | "$here/locality.py"
	echo "[UCX]"
	ucx_info -d 2>/dev/null |
		awk '$3 ~ /:/ && /Device:/ { d = $3 } /System device:/ && d { print d, $4, $5; d = "" }' | sort -u
	echo "[libfabric]"
	fi_info -v -p verbs 2>/dev/null | "$here/nics.py"
}

# Instances have different addresses.
plain() {
	sed -E -e 's/127\.0\.[0-9]+\./127.0.B./g' -e 's/(7f00:|7fff:fe00:)[0-9a-f]{1,2}([0-9a-f]{2})\b/\1BB\2/g' \
		-e 's/lid 0x0*[1-9a-f][0-9a-f]*/lid LID/; s/ lid [1-9][0-9]* / lid LID /; s/port_lid: [1-9][0-9]*/port_lid: LID/g'
}

if [ "${1:-}" = --readers ]; then
	readers
	exit
fi
if [ "${1:-}" = --show ]; then
	"$run" --private --machine "$2" -- "$0" --readers | plain
	exit
fi

out=$(mktemp -d "${TMPDIR:-/tmp}/machine-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT

# ---- traffic

until_listening() { # PORT
	local i
	for ((i = 0; i < 600; i++)); do
		grep -q ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6 && return
		read -rt 0.05 <>"$out/never"
	done
}

pair() { # NAME PORT SERVER CLIENT: options of ibv_*_pingpong
	timeout -k 1 60 $3 -p "$2" >"$out/server" 2>&1 &
	local pid=$!
	until_listening "$2"
	timeout -k 1 60 $4 -p "$2" 127.0.0.1 >"$out/client" 2>&1 ||
		complain "$1: $(tail -n 2 "$out/client") / $(tail -n 2 "$out/server")"
	wait "$pid"
}

# By rdma_cm: the server listens at all addresses of its devices.
cm_pair() { # NAME PORT ADDRESS SERVER CLIENT: what stands before rping
	local i
	timeout -k 1 60 $4 rping -s -p "$2" -C 3 >"$out/server" 2>&1 &
	local pid=$!
	for ((i = 0; i < 600; i++)); do
		! "$UHCA_BUILDDIR/uhcactl" show cm_id | grep -q "listening  *$2 " || break
		read -rt 0.05 <>"$out/never"
	done
	timeout -k 1 60 $5 rping -c -a "$3" -p "$2" -C 3 >"$out/client" 2>&1 ||
		complain "$1: $(tail -n 2 "$out/client") / $(tail -n 2 "$out/server")"
	wait "$pid"
}

inside() { # PORT
	mkfifo "$out/never" 2>/dev/null
	pair "InfiniBand, RC" $1 "ibv_rc_pingpong -d mlx5_0" "ibv_rc_pingpong -d mlx5_3 -c"
	pair "InfiniBand, UD" $(($1 + 1)) "ibv_ud_pingpong -d mlx5_0 -n 100" "ibv_ud_pingpong -d mlx5_9 -n 100"
	pair "RoCE, index 3" $(($1 + 2)) "ibv_rc_pingpong -d mlx5_1 -g 3" "ibv_rc_pingpong -d mlx5_8 -g 3 -c"
	pair "perftest" $(($1 + 3)) "ib_write_bw -F -n 100 -d mlx5_4" "ib_write_bw -F -n 100 -d mlx5_5"
	cm_pair "rdma_cm, InfiniBand" $(($1 + 4)) "$UHCA_ADDR_3" "" ""
	cm_pair "rdma_cm, RoCE" $(($1 + 5)) "$UHCA_ADDR_1" "" ""
}

parts() { # PORT: two commands of one daemon, each with its part
	mkfifo "$out/never" 2>/dev/null
	[ "$("$run" --only mlx5_1 -- ls /sys/class/infiniband)" = mlx5_1 ] || complain "--only shows more"
	! "$run" --only mlx5_1 -- ibv_devinfo -d mlx5_0 >/dev/null 2>&1 || complain "--only opens more"
	[ "$("$run" --only mlx5_1 -- realpath /sys/class/infiniband/mlx5_1)" = "$(realpath /sys/class/infiniband/mlx5_1)" ] ||
		complain "--only: another path"
	! "$run" --only mlx5_7 -- true 2>"$out/errors" || complain "--only mlx5_7"
	grep -q "unknown device 'mlx5_7': did you mean 'mlx5_" "$out/errors" || complain "$(cat "$out/errors")"
	pair "parts" "$1" "$run --only mlx5_0 ibv_rc_pingpong -g 3" "$run --only mlx5_1 ibv_rc_pingpong -g 3"
	# shellcheck disable=SC2153
	cm_pair "parts, rdma_cm" $(($1 + 1)) "$UHCA_ADDR_0" "$run --only mlx5_0" "$run --only mlx5_1"
	[ -z "$(find "$UHCA_DIR" -maxdepth 1 -name 'p[0-9]*')" ] || complain "--only leaves a directory"
}

named() { # names of devices in commands and rules
	"$UHCA_BUILDDIR/uhcactl" port down mlx5_1 >/dev/null || complain "port down mlx5_1"
	grep -q DOWN /sys/class/infiniband/mlx5_1/ports/1/state || complain "mlx5_1 is not down"
	grep -q ACTIVE /sys/class/infiniband/mlx5_0/ports/1/state || complain "mlx5_0 is down, too"
	"$UHCA_BUILDDIR/uhcactl" fault add 'drop dev=mlx5_0 peer=mlx5_1 nth=1' >/dev/null || complain "dev=mlx5_0"
	! "$UHCA_BUILDDIR/uhcactl" fault add 'drop dev=mlx5_2 nth=1' 2>"$out/errors" || complain "dev=mlx5_2"
	grep -q "known: mlx5_0, mlx5_1: did you mean 'mlx5_0'" "$out/errors" || complain "$(cat "$out/errors")"
}

if [ "${1:-}" = --inside ]; then
	"$2" "$3"
	exit "$failed"
fi
for preset in $presets; do
	timeout -k 5 120 "$run" --private --machine "$preset" -- "$0" --readers >"$out/raw" 2>"$out/errors" ||
		complain "$preset: $(tail -n 2 "$out/errors")"
	plain <"$out/raw" >"$out/$preset"
	diff -u "$here/expected/$preset" "$out/$preset" || complain "$preset: a reader chose otherwise"
done
port=$((20000 + $$ % 20000))
"$run" --private --machine dgx-h100 -- "$0" --inside inside $port || failed=1
"$run" --private --wire --machine dgx-h100 -- "$0" --inside inside $((port + 10)) || failed=1
"$run" --private --machine two-rails -- "$0" --inside parts $((port + 20)) || failed=1
"$run" --private --machine two-rails -- "$0" --inside named 0 || failed=1
exit "$failed"
