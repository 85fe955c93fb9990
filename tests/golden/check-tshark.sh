#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tshark's opinion of what wire/ emits: each packet of each opcode, over IPv4 and IPv6, is seen as
# InfiniBand with the values that emit_all says it has; nothing is malformed, no expert complains.
# Needs UHCA_BUILDDIR; skipped (77) where there is no tshark.
set -eu

: "${UHCA_BUILDDIR:?is not set}"
if ! command -v tshark >/dev/null 2>&1; then
	echo "tshark is not installed"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$UHCA_BUILDDIR/tests/golden/emit_all" "$dir/all.pcap" >"$dir/all"
grep '^#' "$dir/all"
grep -v '^#' "$dir/all" >"$dir/expected"

export HOME="$dir" XDG_CONFIG_HOME="$dir"

# Payloads here mean nothing: the protocols that tshark would guess in them are switched off.
guesses=$(tshark -G heuristic-decodes 2>/dev/null |
	awk '$1 ~ /^infiniband\./ && $2 != "ethertype" { print "--disable-protocol", $2 }')

# The profile folder is empty: no preference of the user may change the outcome. RoCEv2 over IPv6
# has UDP checksum 0, as RFC 6935 allows; tshark must be told.
run_tshark() {
	# shellcheck disable=SC2086 # a list of options
	tshark -r "$dir/all.pcap" $guesses -o udp.ignore_ipv6_zero_checksum:TRUE "$@" \
		2>"$dir/stderr" || {
		cat "$dir/stderr"
		exit 1
	}
}

run_tshark -T fields -E separator=, -E occurrence=f \
	-e infiniband.bth.opcode -e infiniband.bth.destqp -e infiniband.bth.psn \
	-e infiniband.invariant.crc -e infiniband.mad.attributeid \
	-e infiniband.reth.va -e infiniband.reth.r_key -e infiniband.reth.dmalen \
	-e infiniband.aeth.syndrome -e infiniband.aeth.msn \
	-e infiniband.deth.q_key -e infiniband.deth.srcqp \
	-e infiniband.immdt -e infiniband.ieth \
	-e infiniband.atomiceth.swapdt -e infiniband.atomiceth.cmpdt \
	-e infiniband.atomicacketh.origremdt >"$dir/seen"

# tshark 4.0 stops behind the BTH of XRC (160 and up), CNP (129), FLUSH (28) and ATOMIC WRITE (29),
# and can never know our masked atomics (192, 193), which are in the manufacturers' range:
# there a column may be empty; what is not empty must be right there too.
paste -d '|' "$dir/expected" "$dir/seen" | awk -F '|' '
	{
		n = split($1, expected, ",")
		if (split($2, seen, ",") != n)
			bad = 1
		may_stop = seen[1] >= 128 || seen[1] == 28 || seen[1] == 29
		for (i = 1; i <= n; i++)
			if (expected[i] != seen[i] && !(may_stop && i > 3 && seen[i] == ""))
				bad = 1
		if (bad) {
			print "packet " NR ": emitted " $1
			print "packet " NR ": tshark  " $2
			exit 1
		}
	}' || {
	echo "tshark sees other values than were emitted"
	exit 1
}

run_tshark -Y '_ws.malformed || _ws.expert.severity >= 0x600000 || !infiniband' >"$dir/bad"
# A version of Wireshark that verifies the ICRC says it in words of this kind.
run_tshark -V >"$dir/verbose"
grep -i -w -E 'malformed|bad|incorrect|illegal' "$dir/verbose" >>"$dir/bad" || :
if [ -s "$dir/bad" ]; then
	echo "tshark complains:"
	cat "$dir/bad"
	exit 1
fi
echo "tshark agrees on $(wc -l <"$dir/expected") packets"
