#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Described machines (uhca-machine(5)): what each reader chooses on each preset is held against the
# files expected/PRESET, which say what it should choose; and traffic between devices of them.
#
#   machine.sh [--show PRESET]     prints what is held against the file, for a new one
#
# By itself it calls "machine.sh --inside WHAT [PORT]" below uhca-run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
srcdir=${UHCA_SRCDIR:-$here/../../..}
export UHCA_BUILDDIR=${UHCA_BUILDDIR:-$srcdir/build}
run=$srcdir/scripts/uhca-run
ctl=$UHCA_BUILDDIR/uhcactl
failed=0
out=$(mktemp -d "${TMPDIR:-/tmp}/machine-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
# shellcheck source=tests/verbs/wait.sh
. "$here/../wait.sh"

complain() {
	echo "FAIL $*"
	failed=1
}

# ---- readers, below uhca-run

devinfo() {
	ibv_devinfo | awk '
		/^hca_id:/ { if (line) print line; line = $2 }
		/(vendor_id|part_id|board_id|port_cnt|state|lid|layer):/ && !/sm_lid/ {
			line = line " " $1 " " $2
		}
		END { if (line) print line }'
}

ucx() {
	ucx_info -d 2>/dev/null | awk '
		/Device:/ && $3 ~ /:/ { d = $3 }
		/System device:/ && d { print d, $4, $5; d = "" }' | sort -u
}

readers() {
	"$here/readers.py" nccl mooncake gloo ucx ibdev2netdev show_gids
	echo "[rdma link]"
	rdma link
	echo "[rdma dev]"
	rdma dev | sed 's/node_guid.*//'
	echo "[ibv_devinfo]"
	devinfo
	echo "[lstopo]"
	lstopo-no-graphics --of xml 2>/dev/null | "$here/locality.py"
	echo "[UCX]"
	ucx
	echo "[libfabric]"
	fi_info -v -p verbs 2>/dev/null | "$here/nics.py"
}

# Instances have different addresses, and so LIDs.
plain() {
	echo "# SPDX-License-Identifier: BSD-2-Clause"
	sed -E -e 's/127\.0\.[0-9]+\./127.0.B./g' \
		-e 's/(7f00:|7fff:fe00:)[0-9a-f]{1,2}([0-9a-f]{2})\b/\1BB\2/g' \
		-e 's/ lid [1-9][0-9]* / lid LID /; s/port_lid: [1-9][0-9]*/port_lid: LID/g'
}

check_readers() { # PRESET
	timeout -k 5 240 "$run" --private --machine "$1" -- "$0" --inside readers \
		>"$out/raw" 2>"$out/errors" || complain "$1: $(tail -n 2 "$out/errors")"
	plain <"$out/raw" >"$out/$1"
	diff -u "$here/expected/$1" "$out/$1" || complain "$1: a reader chose otherwise"
}

# ---- traffic, below uhca-run; until_true calls the next two

# shellcheck disable=SC2317
listens() { # PORT
	grep -q ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6
}

# shellcheck disable=SC2317
listens_cm() { # PORT
	"$ctl" show cm_id | grep -q "listening  *$1 "
}

# Two programs; words of their command lines, without the port.
pair() { # NAME PORT SERVER CLIENT
	local server client pid
	read -ra server <<<"$3"
	read -ra client <<<"$4"
	timeout -k 1 240 "${server[@]}" -p "$2" >"$out/server" 2>&1 &
	pid=$!
	until_true listens "$2"
	timeout -k 1 240 "${client[@]}" -p "$2" 127.0.0.1 >"$out/client" 2>&1 ||
		complain "$1: $(tail -n 2 "$out/client") / $(tail -n 2 "$out/server")"
	wait "$pid"
}

# By rdma_cm: the server listens at all addresses of its devices.
cm_pair() { # NAME PORT ADDRESS [BEFORE-SERVER BEFORE-CLIENT]
	local server client pid
	read -ra server <<<"${4:-} rping -s -C 3"
	read -ra client <<<"${5:-} rping -c -C 3 -a $3"
	timeout -k 1 240 "${server[@]}" -p "$2" >"$out/server" 2>&1 &
	pid=$!
	until_true listens_cm "$2"
	timeout -k 1 240 "${client[@]}" -p "$2" >"$out/client" 2>&1 ||
		complain "$1: $(tail -n 2 "$out/client") / $(tail -n 2 "$out/server")"
	wait "$pid"
}

# By the names of the adapter's driver, after at most a second.
# shellcheck disable=SC2317
counted() {
	grep -qv '^0$' /sys/class/infiniband/mlx5_{4,5}/ports/1/hw_counters/rx_write_requests
}

traffic() { # PORT
	local port=$1
	pair "InfiniBand, RC" $((port++)) "ibv_rc_pingpong -d mlx5_0" "ibv_rc_pingpong -d mlx5_3 -c"
	pair "InfiniBand, UD" $((port++)) "ibv_ud_pingpong -d mlx5_0 -n 100" \
		"ibv_ud_pingpong -d mlx5_9 -n 100"
	pair "RoCE, GID 3" $((port++)) "ibv_rc_pingpong -d mlx5_1 -g 3" \
		"ibv_rc_pingpong -d mlx5_8 -g 3 -c"
	pair "perftest, which has libmlx5" $((port++)) "ib_write_bw -F -n 100 -d mlx5_4" \
		"ib_write_bw -F -n 100 -d mlx5_5"
	until_true counted || complain "rx_write_requests"
	cm_pair "rdma_cm, InfiniBand" $((port++)) "$UHCA_ADDR_3"
	cm_pair "rdma_cm, RoCE" $((port++)) "$UHCA_ADDR_1"
}

# Two commands of one daemon, each with its part of the devices.
parts() { # PORT
	local one=("$run" --only mlx5_1) path
	path=$(realpath /sys/class/infiniband/mlx5_1)
	[ "$("${one[@]}" -- ls /sys/class/infiniband)" = mlx5_1 ] || complain "--only shows more"
	! "${one[@]}" -- ibv_devinfo -d mlx5_0 >/dev/null 2>&1 || complain "--only opens more"
	[ "$("${one[@]}" -- realpath /sys/class/infiniband/mlx5_1)" = "$path" ] ||
		complain "--only: another path than $path"
	! "$run" --only mlx5_7 -- true 2>"$out/errors" || complain "--only mlx5_7"
	grep -q "unknown device 'mlx5_7': did you mean 'mlx5_" "$out/errors" ||
		complain "$(cat "$out/errors")"
	pair "parts" "$1" "$run --only mlx5_0 ibv_rc_pingpong -g 3" \
		"$run --only mlx5_1 ibv_rc_pingpong -g 3"
	cm_pair "parts, rdma_cm" $(($1 + 1)) "$UHCA_ADDR_0" "$run --only mlx5_0" \
		"$run --only mlx5_1"
	[ -z "$(find "$UHCA_DIR" -maxdepth 1 -name 'p[0-9]*')" ] ||
		complain "--only leaves something"
}

# The interface of mlx5_1 says so.
carrier() { # "CARRIER OPERSTATE CHANGES" WHEN
	local net=(/sys/class/infiniband/mlx5_1/device/net/*) has
	has=$(cat "${net[0]}"/{carrier,operstate,carrier_changes} | xargs)
	[ "$has" = "$1" ] || complain "$2: carrier, operstate, changes are $has, not $1"
}

# Two times down and up.
# shellcheck disable=SC2317
flapped() {
	local net=(/sys/class/infiniband/mlx5_0/device/net/*)
	[ "$(cat "${net[0]}"/{carrier,carrier_changes} | xargs)" = "1 5" ]
}

# Names of devices in commands and rules.
names() {
	carrier "1 up 1" "at first"
	"$ctl" port down mlx5_1 >/dev/null || complain "port down mlx5_1"
	carrier "0 down 2" "port down"
	grep -q DOWN /sys/class/infiniband/mlx5_1/ports/1/state || complain "mlx5_1 is not down"
	grep -q ACTIVE /sys/class/infiniband/mlx5_0/ports/1/state || complain "mlx5_0 is down, too"
	"$ctl" fault now 'port.flap=down:20ms,up:20ms,times:2 dev=mlx5_0' >/dev/null ||
		complain "port.flap"
	until_true flapped || complain "port.flap: the carrier of mlx5_0"
	"$ctl" port up mlx5_1 >/dev/null || complain "port up mlx5_1"
	carrier "1 up 3" "port up"
	"$ctl" fault add 'drop dev=mlx5_0 peer=mlx5_1 nth=1' >/dev/null || complain "dev=mlx5_0"
	! "$ctl" fault add 'drop dev=mlx5_2 nth=1' 2>"$out/errors" || complain "dev=mlx5_2"
	grep -q "known: mlx5_0, mlx5_1: did you mean 'mlx5_0'" "$out/errors" ||
		complain "$(cat "$out/errors")"
	"$ctl" show machine | grep -q "0000:19:00.0 mlx5_0: 15b3:1021" || complain "show machine"
}

# Two hosts with two rails: addresses that this machine does not have, and their subnets.
rails_file() {
	local host rail
	echo '{"defaults": {"vendor": "0x15b3", "device": "0x1021", "port": {"gids": "mlx5"}},'
	echo '"devices": ['
	for host in 1 2; do
		for rail in 1 2; do
			echo "{\"name\": \"h${host}_r$rail\", \"pci\": \"000$host:0$rail:00.0\","
			echo "\"port\": {\"addresses\": [\"198.51.10$rail.$host/24\"]}},"
		done
	done | sed '$s/,$//'
	echo ']}'
}

rails() { # PORT
	local sent
	cm_pair "rails" "$1" 198.51.102.2 "$run --only h2_r1,h2_r2" "$run --only h1_r1,h1_r2"
	pair "rails, GID 3" $(($1 + 1)) "ibv_rc_pingpong -d h1_r1 -g 3" \
		"ibv_rc_pingpong -d h2_r1 -g 3"
	sent=$("$ctl" counters | sed -n 's/^tx_packets *//p')
	read -ra sent <<<"$sent"
	[ "${sent[1]:-0}" != 0 ] && [ "${sent[3]:-0}" != 0 ] && return
	complain "rails: rdma_cm sent by another rail: ${sent[*]}"
}

inside() { # WHAT [PORT]
	case $1 in
	readers) readers ;;
	traffic) traffic "$2" ;;
	parts) parts "$2" ;;
	rails) rails "$2" ;;
	names) names ;;
	esac
}

# ---- all

below() { # OPTIONS-OF-UHCA-RUN WHAT [PORT]
	local options
	read -ra options <<<"$1"
	shift
	"$run" --private "${options[@]}" -- "$0" --inside "$@" || failed=1
}

all() {
	local preset port=$((20000 + $$ % 20000))
	for preset in dgx-h100 two-rails azure-nd aws-p5 laptop rxe; do
		check_readers "$preset"
	done
	below "--machine dgx-h100" traffic $port
	below "--wire --machine dgx-h100" traffic $((port + 10))
	below "--machine two-rails" parts $((port + 20))
	below "--machine two-rails" names
	rails_file >"$out/rails.json"
	below "--machine $out/rails.json" rails $((port + 30))
	! "$run" --private --wire --machine "$out/rails.json" -- true 2>"$out/errors" ||
		complain "--wire with addresses of nobody"
	grep -q "wire needs addresses of this machine; 198.51.101.1 is none" "$out/errors" ||
		complain "$(cat "$out/errors")"
}

for tool in lstopo-no-graphics rdma ibv_devinfo ucx_info fi_info python3; do
	command -v "$tool" >/dev/null || {
		echo "SKIP: no $tool; scripts/deps --install clients tests"
		exit 77
	}
done
case ${1:-} in
--inside) inside "${@:2}" ;;
--show) "$run" --private --machine "$2" -- "$0" --inside readers | plain ;;
*) all ;;
esac
exit "$failed"
