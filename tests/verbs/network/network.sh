#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Real programs through the modelled network (uhcad(8)). Judged are the model's counters, not the
# clock: a busy machine slows the network down, and changes nothing else.
#
# By itself it calls "network.sh --inside WHAT [PORT]" below uhca-run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
srcdir=${UHCA_SRCDIR:-$here/../../..}
export UHCA_BUILDDIR=${UHCA_BUILDDIR:-$srcdir/build}
run=$srcdir/scripts/uhca-run
ctl=$UHCA_BUILDDIR/uhcactl
hasty=$srcdir/tests/support/hasty
failed=0
options=()
out=$(mktemp -d "${TMPDIR:-/tmp}/network-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
# shellcheck source=tests/verbs/wait.sh
. "$here/../wait.sh"

complain() {
	echo "FAIL $*"
	failed=1
}

# ---- what the network counted, below uhca-run

# A value of show fabric, by its name in JSON; "dropped": all of them.
fabric() { # NAME
	"$ctl" --json show fabric | python3 -c '
import json, sys
s = json.load(sys.stdin)
v = s[sys.argv[1]]
print(sum(v.values()) if isinstance(v, dict) else v)' "$1"
}

of_port() { # FILE PORT COLUMN
	python3 -c '
import json, sys
ports = json.load(open(sys.argv[1]))["ports"]
print([p[sys.argv[3]] for p in ports if p["port"] == sys.argv[2]][0])' "$@"
}

port() { # PORT COLUMN
	"$ctl" --json show fabric | of_port /dev/stdin "$@"
}

# A counter of all devices together.
devices() { # NAME
	"$ctl" --json counters | python3 -c '
import json, sys
print(sum(d[sys.argv[1]] for d in json.load(sys.stdin)))' "$1"
}

check() { # WHAT LEFT OPERATOR RIGHT
	test "$2" "$3" "$4" || complain "$1: $2 is not $3 $4"
}

# ---- programs, below uhca-run

# shellcheck disable=SC2317 # until_true calls it
listens() { # PORT
	grep -q ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6
}

write_server() { # PORT OPTIONS...
	timeout -k 1 240 "$hasty" ib_write_bw -F -x 0 -d uhca0 -p "$@" >"$out/server-$1" 2>&1 &
	until_true listens "$1"
}

write_client() { # DEVICE PORT OPTIONS...
	timeout -k 1 240 "$hasty" ib_write_bw -F -x 0 -d "$1" -p "${@:2}" 127.0.0.1 \
		>"$out/client-$2" 2>&1 || echo "$1: $(tail -n 2 "$out/client-$2")"
}

# All other devices write to the first one at once.
incast() { # PORT OPTIONS...
	local i n pids=()
	n=$(ibv_devices | grep -c uhca)
	for ((i = 1; i < n; i++)); do
		write_server $(($1 + i)) "${@:2}"
	done
	for ((i = 1; i < n; i++)); do
		write_client "uhca$i" $(($1 + i)) "${@:2}" &
		pids[i]=$!
	done >"$out/clients"
	wait "${pids[@]}"
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
}

# ---- cases, below uhca-run

# 200 writes of 16 KiB and their ACKs, each way by two ports. A capture has what passes at one.
bandwidth() { # PORT
	local packets
	"$ctl" capture start "$out/port.pcapng" --device switch/port1 >/dev/null ||
		complain "capture start"
	write_server "$1" -n 200 -s 16384
	write_client uhca1 "$1" -n 200 -s 16384 >"$out/clients"
	wait
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
	check "packets to h0" "$(port switch/port1 packets)" -ge 800
	check "bytes to h0" "$(port switch/port1 bytes)" -ge $((200 * (16384 + 4 * 62)))
	check "packets of h1" "$(port h1 packets)" -eq "$(port switch/port1 packets)"
	check "dropped" "$(fabric dropped)" -eq 0
	check "delivered" "$(fabric delivered)" -eq "$(devices rx_packets)"
	# 3.3 MB at 100 Gb/s take 0.27 ms of the network's time, whatever the clock says.
	check "time" "$(fabric time_ns)" -ge 266000
	"$ctl" --json capture stop >"$out/facts"
	packets=$(sed -n 's/.*"packets": \([0-9]*\).*/\1/p' "$out/facts")
	check "captured" "$packets" -eq $(($(port switch/port1 packets) + $(port h0 packets)))
	"$ctl" ladder "$out/port.pcapng" | grep -q 'WRITE_FIRST' || complain "ladder of a port"
	! "$ctl" capture start "$out/no.pcapng" --device switch/port7 2>"$out/errors" ||
		complain "capture at a port that is not there"
	grep -qF "the network has no port 'switch/port7'" "$out/errors" ||
		complain "capture at no port: $(cat "$out/errors")"
	"$ctl" capture start "$out/one.pcapng" --device h0 >/dev/null || complain "capture at h0"
	! "$ctl" capture start "$out/two.pcapng" --device switch/port1 2>"$out/errors" ||
		complain "two captures at once"
	grep -qF "$out/one.pcapng" "$out/errors" || complain "two captures: $(cat "$out/errors")"
	"$ctl" capture stop >/dev/null
	# To itself, by the switch and back.
	write_server $(($1 + 1)) -n 10 -s 16384
	write_client uhca0 $(($1 + 1)) -n 10 -s 16384 >"$out/clients"
	wait
	[ ! -s "$out/clients" ] || complain "to itself: $(cat "$out/clients")"
	check "packets of h0 to itself" "$(port switch/port1 packets)" -ge 840
}

# shellcheck disable=SC2317 # until_true calls it
pauses() {
	[ "$(fabric xoff)" -gt "$1" ]
}

# Eight into one with 1 MB of buffer, and the receiver begins late: PFC holds them, and nothing is
# lost or sent again.
lossless() { # PORT
	"$ctl" fabric pause h0 >/dev/null || complain "fabric pause h0"
	# On a busy machine the pause is longer than perftest's ACK timeout of 67 ms.
	incast "$1" -n 10 -s 65536 -u 18 &
	until_true pauses 8 # eight hosts and the switch are paused
	"$ctl" --json top --fabric --interval 0.05 >"$out/top"
	check "top: paused" "$(of_port "$out/top" switch/port1 new_paused_us)" -gt 0
	"$ctl" fabric resume h0 >/dev/null || complain "fabric resume h0"
	wait
	check "pauses" "$(fabric xoff)" -gt 8
	check "paused_us" "$(fabric paused_us)" -gt 0
	check "dropped" "$(fabric dropped)" -eq 0
	check "marked" "$(fabric marked)" -eq 0
	check "retransmits" "$(devices retransmits)" -eq 0
	check "queue_max" "$(port switch/port1 queue_max)" -gt 200000
	check "bytes to h0" "$(port switch/port1 bytes)" -ge $((8 * 10 * 65536))
}

# Eight into one at 25 Gb/s, each with all that it has to send from the beginning. They begin
# together: the receiver is paused until all are there. What is counted goes to a file.
contended() { # PORT FILE
	"$ctl" fabric pause h0 >/dev/null || complain "fabric pause h0"
	incast "$1" -n 200 -t 200 -s 65536 -u 18 &
	"$here/window" "$ctl" $((200 * 65536)) >"$2" || complain "window"
	wait
	echo "cnps=$(devices rp_cnp_handled) retransmits=$(devices retransmits)" >>"$2"
}

# From a fast link to a slow one, in a class without PFC (DSCP 8): the queue drops, the device sends
# again, the data arrives.
lossy() { # PORT
	write_server "$1" -n 20 -s 65536 -u 8
	write_client uhca1 "$1" -n 20 -s 65536 -u 8 --tclass=32 >"$out/clients"
	wait
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
	check "pauses" "$(fabric xoff)" -eq 0
	check "dropped" "$(fabric dropped)" -gt 0
	check "retransmits" "$(devices retransmits)" -gt 0
	check "delivered" "$(fabric delivered)" -eq "$(devices rx_packets)"
}

# shellcheck disable=SC2317 # until_true calls it
moves() { # PORT BYTES
	[ "$(port "$1" bytes)" -gt "$2" ]
}

qp_of() { # DEVICE
	"$ctl" --json show qp | python3 -c '
import json, sys
print([q["qpn"] for q in json.load(sys.stdin)
       if q["device"] == sys.argv[1] and q["type"] == "RC"][0])' "$1"
}

# A queue pair's way is shown to its end, over as many switches as there are.
far() { # PORT
	"$ctl" fabric pause h0 >/dev/null || complain "fabric pause h0"
	write_server "$1" -n 20 -s 65536
	write_client uhca1 "$1" -n 20 -s 65536 >"$out/clients" &
	until_true moves h1 10000
	"$ctl" show fabric "$(qp_of uhca1)" >"$out/way"
	grep -q ' h1 > s0/port2 > s1/port2 > .* > s19/port2 > h0$' "$out/way" ||
		complain "the way: $(cat "$out/way")"
	"$ctl" fabric resume h0 >/dev/null || complain "fabric resume h0"
	wait
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
}

# The queue pair's way goes by one spine. That fails while its packets wait for a paused receiver,
# and the other carries the rest.
flap() { # PORT
	local qp spine before
	"$ctl" fabric pause h0 >/dev/null || complain "fabric pause h0"
	write_server "$1" -n 100 -s 65536
	write_client uhca2 "$1" -n 100 -s 65536 >"$out/clients" &
	until_true moves h2 100000
	qp=$(qp_of uhca2)
	spine=$("$ctl" show fabric "$qp" | grep -o 'spine[01]' | head -n 1)
	"$ctl" fabric down "$spine" >/dev/null || complain "fabric down '$spine'"
	before=$(port "$spine/port1" bytes)
	! "$ctl" show fabric "$qp" | grep -q "$spine" || complain "the way still has $spine"
	check "paused" "$(port leaf0/port3 paused)" = yes
	"$ctl" fabric resume h0 >/dev/null || complain "fabric resume h0"
	wait
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
	check "bytes by $spine" "$(port "$spine/port1" bytes)" -eq "$before"
	check "bytes to h0" "$(port leaf0/port3 bytes)" -ge $((100 * 65536))
	# The link of a host is that of its device.
	"$ctl" fabric down h1 leaf0 >/dev/null
	grep -q DOWN /sys/class/infiniband/uhca1/ports/1/state || complain "uhca1 is not down"
	"$ctl" fabric up h1 leaf0 >/dev/null
	grep -q ACTIVE /sys/class/infiniband/uhca1/ports/1/state || complain "uhca1 is down"
	grep -q '10 Gb/sec' /sys/class/infiniband/uhca1/ports/1/rate || complain "uhca1: the rate"
}

fires() { # RULE: it has hit once
	local hits
	hits=$("$ctl" --json fault list | python3 -c '
import json, sys
rules = json.load(sys.stdin)["rules"]
print([r["hits"] for r in rules if r["name"] == sys.argv[1]][0])' "$1")
	check "hits of $1" "$hits" -eq 1
}

# Rules of --fault: the link to a spine is down from the 100th packet on for 1 ms, that to the other
# from the 1000th on for good, and the host's own for 200 us from the 1300th on. ECMP takes what is
# left, so that both spines carry some of it.
rules() { # PORT
	write_server "$1" -n 100 -s 65536 -u 10
	write_client uhca2 "$1" -n 100 -s 65536 -u 10 >"$out/clients"
	wait
	[ ! -s "$out/clients" ] || complain "$(cat "$out/clients")"
	fires one
	fires two
	fires own
	fires hop
	check "link to spine0" "$(port spine0/port2 link)" = up
	check "link to spine1" "$(port spine1/port2 link)" = down
	check "link of h2" "$(port h2 link)" = up
	grep -q ACTIVE /sys/class/infiniband/uhca2/ports/1/state || complain "uhca2 is down"
	check "bytes by spine0" "$(port leaf1/port1 bytes)" -ge $((600 * 4096))
	check "bytes by spine1" "$(port leaf1/port2 bytes)" -ge $((50 * 4096))
	check "bytes to h0" "$(port leaf0/port3 bytes)" -ge $((100 * 65536))
	check "dropped" "$(fabric dropped)" -gt 0
	check "retransmits" "$(devices retransmits)" -gt 0
	check "delivered" "$(fabric delivered)" -eq "$(devices rx_packets)"
}

# All links between a leaf and its spines flap: there is no way three times, and the program, which
# looks at its data, hears nothing of it.
flapping() { # PORT
	"$hasty" ibv_rc_pingpong -d uhca0 -g 0 -c -p "$1" -n 200 >"$out/server-$1" 2>&1 &
	until_true listens "$1"
	"$hasty" ibv_rc_pingpong -d uhca2 -g 0 -c -p "$1" -n 200 127.0.0.1 \
		>"$out/client-$1" 2>&1 || complain "pingpong: $(cat "$out/client-$1")"
	wait
	! grep -q invalid "$out/server-$1" "$out/client-$1" || complain "$(cat "$out/client-$1")"
	fires flap
	check "dropped" "$(fabric dropped)" -gt 0
	check "retransmits" "$(devices retransmits)" -gt 0
	check "link to spine0" "$(port leaf0/port1 link)" = up
	# The same words at once, and what the table shows of them.
	"$ctl" fault now 'link.rate=1gbit link=leaf0/port1' >/dev/null || complain "link.rate"
	"$ctl" fault now 'link.delay=9us link=leaf0/spine1' >/dev/null || complain "link.delay"
	"$ctl" fabric loss leaf1 spine1 1% >/dev/null || complain "fabric loss"
	check "rate" "$(port spine0/port1 rate_mbps)" -eq 1000
	check "delay" "$(port spine1/port1 delay_ns)" -eq 9000
	check "loss" "$(port spine1/port2 loss_ppm)" -eq 10000
	! "$ctl" fault now 'link.down link=leaf0/port9' 2>"$out/errors" || complain "leaf0/port9"
	grep -q "is no link of the network, as 'leaf0/port1' is: did you mean" "$out/errors" ||
		complain "$(cat "$out/errors")"
}

# The devices of a machine are the hosts, with their names; the rates are the network's.
machine() { # PORT
	local rail=/sys/class/net/rail1
	"$hasty" ibv_rc_pingpong -d mlx5_0 -g 3 -p "$1" -n 50 -s 65536 >"$out/server-$1" 2>&1 &
	until_true listens "$1"
	"$hasty" ibv_rc_pingpong -d mlx5_1 -g 3 -p "$1" -n 50 -s 65536 127.0.0.1 \
		>"$out/client-$1" 2>&1 || complain "pingpong: $(cat "$out/client-$1")"
	wait
	check "bytes to mlx5_0" "$(port s/port1 bytes)" -ge $((50 * 65536))
	check "bytes to mlx5_1" "$(port s/port2 bytes)" -ge $((50 * 65536))
	check "delivered" "$(fabric delivered)" -eq "$(devices rx_packets)"
	check "speed" "$(cat $rail/speed)" -eq 50000
	grep -q '^50 Gb/sec' /sys/class/infiniband/mlx5_1/ports/1/rate || complain "rate of mlx5_1"
	"$ctl" show machine | grep -q 'ACTIVE, 50 Gb/sec .*rail1' || complain "show machine"
	"$ctl" fabric down mlx5_1 s >/dev/null
	check "carrier" "$(cat $rail/carrier)" -eq 0
	grep -q ACTIVE /sys/class/infiniband/mlx5_0/ports/1/state || complain "mlx5_0 is down"
}

inside() { # WHAT PORT
	case $1 in
	bandwidth) bandwidth "$2" ;;
	lossless) lossless "$2" ;;
	contended) contended "$2" "$3" ;;
	lossy) lossy "$2" ;;
	far) far "$2" ;;
	flap) flap "$2" ;;
	rules) rules "$2" ;;
	flapping) flapping "$2" ;;
	machine) machine "$2" ;;
	esac
}

# ---- mistakes

refused() { # MESSAGE OPTIONS...
	! "$run" --private "${@:2}" -- true 2>"$out/errors" || complain "taken: ${*:2}"
	grep -q -e "$1" "$out/errors" || complain "${*:2}: $(cat "$out/errors")"
}

mistakes() {
	printf 'switch s\nhost h[0-3]\nlink h[0-3] s rate=10Q\n' >"$out/bad.topo"
	refused "bad.topo:3:20: rate: '10Q' is not" --fabric "$out/bad.topo"
	refused "did you mean 'one-switch'" --fabric one-swich:3
	refused "$out/no.topo: No such file" --fabric "$out/no.topo"
	refused "has 2 hosts: there are 3 devices" --fabric one-switch:2 --devices 3
	refused "has 100 hosts, and a daemon has at most 64" --fabric one-switch:100
	refused "has 4 hosts, and --machine dgx-h100 has 12 devices: each device needs a host" \
		--fabric leaf-spine:leaves=2,spines=2,hosts=2 --machine dgx-h100
	printf '%s\n' 'switch s' 'host mlx5_1' 'host mlx5_0' 'link mlx5_[0-1] s' >"$out/cross.topo"
	refused "host mlx5_1 has the name of device 1 of --machine two-rails, and is host 0" \
		--fabric "$out/cross.topo" --machine two-rails
	refused "has a link that takes packets of 300 bytes: devices send 362 with an MTU of 256" \
		--fabric one-switch:2,mtu=300
	refused "needs --fabric" --fabric-scale 10
	refused "^uhca-run: --fabric-scale: '0' is not a number from 1 to 1000000" \
		--fabric one-switch:2 --fabric-scale 0
	refused "'1e3' is not a number from 1 to 1000000" --fabric one-switch:2 --fabric-scale 1e3
	refused "around the network" --fabric one-switch:2 --wire
	# Expanded below uhca-run.
	# shellcheck disable=SC2016
	"$run" --private --fabric one-switch:100 --devices 2 --fabric-scale 50 -- \
		sh -c '[ "$(ibv_devices | grep -c uhca)" = 2 ]' 2>"$out/errors" ||
		complain "100 hosts and 2 devices: $(cat "$out/errors")"
	grep -q "one-switch:100: 100 hosts, time runs 50 times slower, 100 Gb/s run as 2 Gb/s" \
		"$out/errors" || complain "$(cat "$out/errors")"
	refused "column 1: 'link.down' needs a modelled network: uhca-run --fabric" \
		--fault 'link.down=1ms link=leaf0/port1 nth=3'
	refused "column 16: 'leaf9/port1' is no link of the network, as 'leaf0/port1' is" \
		--fabric leaf-spine:leaves=2,spines=2,hosts=2 \
		--fault 'link.down link=leaf9/port1 nth=3'
	! "$run" --private -- "$ctl" show fabric 2>"$out/errors" || complain "show fabric without"
	grep -q "no modelled network" "$out/errors" || complain "$(cat "$out/errors")"
}

# ---- all

below() { # FABRIC WHAT [PORT...]; options: more options of uhca-run
	"$run" --private --fabric "$1" "${options[@]}" -- "$0" --inside "${@:2}" \
		2>"$out/errors" || {
		cat "$out/errors"
		failed=1
	}
}

# The same incast by PFC alone, and with DCQCN. Both lose nothing and share the link evenly. By PFC
# the queue is as long as the buffer allows, and pauses go on. With DCQCN it is where marks begin
# (100 KB at 25 Gb/s) to where all are marked (400 KB), and none is needed.
#
# Both are judged by the model's time and counters alone.
incast_and_dcqcn() { # PORT
	local network=one-switch:hosts=9,rate=25G,buffer=2M pfc_queue pfc_xoff
	local jain=0 queue=0 xoff=0 marked=0 dropped=0 used=0 looks=0 cnps=0 retransmits=0
	# Slower, so that a busy machine looks at both often enough, too.
	options=(--fabric-scale 40)
	below $network contended "$1" "$out/pfc"
	options+=(--cc dcqcn)
	below $network contended $(($1 + 10)) "$out/dcqcn"
	options=()
	# shellcheck source=/dev/null
	. "$out/pfc"
	paste -sd ' ' "$out/pfc" "$out/dcqcn"
	check "PFC: looks" "$looks" -ge 3
	check "PFC: Jain's fairness, thousandths" "$jain" -ge 950
	check "PFC: queue" "$queue" -ge 700000
	check "PFC: pauses" "$xoff" -ge 100
	check "PFC: lost" $((dropped + retransmits)) -eq 0
	check "PFC: marked" $((marked + cnps)) -eq 0
	pfc_queue=$queue pfc_xoff=$xoff
	# shellcheck source=/dev/null
	. "$out/dcqcn"
	check "DCQCN: looks" "$looks" -ge 3
	check "DCQCN: Jain's fairness, thousandths" "$jain" -ge 900
	check "DCQCN: queue" "$queue" -le $((pfc_queue / 2))
	check "DCQCN: queue" "$queue" -le 400000
	check "DCQCN: pauses" "$xoff" -le $((pfc_xoff / 20))
	check "DCQCN: lost" $((dropped + retransmits)) -eq 0
	check "DCQCN: marked" "$marked" -ge 20
	check "DCQCN: CNPs" "$cnps" -ge 50
	check "DCQCN: link used, thousandths" "$used" -ge 800
}

all() {
	local port=$((20000 + $$ % 20000)) i
	mistakes
	below one-switch:2 bandwidth $port
	below one-switch:hosts=9,buffer=1M lossless $((port + 10))
	incast_and_dcqcn $((port + 40))
	printf '%s\n' 'switch s buffer=300K' 'host h[0-1]' 'link h0 s rate=2G' \
		'link h1 s rate=10G' >"$out/slow.topo"
	below "$out/slow.topo" lossy $((port + 20))
	{
		printf '%s\n' 'switch s[0-19]' 'host h[0-1]' 'default link rate=10G' 'link h1 s0'
		for i in {1..19}; do echo "link s$((i - 1)) s$i"; done
		echo 'link s19 h0'
	} >"$out/long.topo"
	below "$out/long.topo" far $((port + 90))
	below leaf-spine:leaves=2,spines=2,hosts=2,rate=10G flap $((port + 30))
	options=(--fault 'one: link.down=1ms link=leaf1/spine0 opcode=write nth=100'
		--fault 'two: link.down link=leaf1/spine1 opcode=write nth=1000'
		--fault 'hop: drop at=leaf0/port3 opcode=write nth=700'
		--fault 'own: link.down=200us link=h2 opcode=write nth=1300')
	below leaf-spine:leaves=2,spines=2,hosts=2,rate=10G rules $((port + 70))
	options=(--fault
		'flap: link.flap=down:300us,up:200us,times:3 link=leaf0/spine* opcode=send nth=50')
	below leaf-spine:leaves=2,spines=2,hosts=2,rate=10G flapping $((port + 80))
	options=()
	printf '%s\n' 'switch s' 'host mlx5_[0-1]' 'link mlx5_0 s rate=100G' \
		'link mlx5_1 s rate=50G' >"$out/rails.topo"
	options=(--machine two-rails)
	below "$out/rails.topo" machine $((port + 60))
	grep -q "up to 100 Gb/s; mlx5_0 has 400 Gb/s in the file" "$out/errors" ||
		complain "rates: $(cat "$out/errors")"
}

for tool in ib_write_bw python3; do
	command -v "$tool" >/dev/null || {
		echo "SKIP: no $tool; scripts/deps --install clients tests"
		exit 77
	}
done
case ${1:-} in
--inside) inside "${@:2}" ;;
*) all ;;
esac
exit "$failed"
