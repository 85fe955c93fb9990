# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Row of the ICRC over IPv4, which covers an identification that a socket does not show: strangers
# may choose theirs, who says to be a device of the daemon has to have one of ours.

udp_counters() { # "taken refused"
	"$UHCA_BUILDDIR/uhcactl" counters | awk '
		/^udp_rx_packets / { taken = $2 }
		/^udp_rx_bad_icrc / { refused = $2 }
		END { print taken, refused }'
}

# All of the three are judged.
are_judged() { # BEFORE
	local taken refused t r
	read -r taken refused <<<"$1"
	read -r t r <<<"$(udp_counters)"
	[ $((t + r)) -ge $((taken + refused + 3)) ]
}

expect_judged() { # FROM IDENTIFICATION TAKEN REFUSED
	local before taken refused t r
	before=$(udp_counters)
	/usr/bin/python3 "$here/rogues/forge.py" "$1" "$address" "$2" 3
	until_true are_judged "$before" || echo "packets from $1 do not come"
	read -r taken refused <<<"$before"
	read -r t r <<<"$(udp_counters)"
	[ "$((t - taken)) $((r - refused))" = "$3 $4" ] ||
		echo "of 3 packets from $1 with $2: $((t - taken)) taken, $((r - refused)) refused"
}

icrc_complaint() {
	local address
	address=$(address_of "$UHCA_DIR" "$server_dev")
	expect_judged "$address" 0 3 0
	expect_judged "$address" 40000 0 3
	expect_judged 127.0.0.99 0 3 0
	expect_judged 127.0.0.99 40000 3 0
}

row_icrc() {
	wanted icrc identification full || return 0
	[ -z "$list_only" ] || { echo "icrc identification: forge.py" && return; }
	[ "$(id -u)" = 0 ] || {
		skip icrc identification "only root can choose an identification"
		return
	}
	try icrc identification icrc_complaint
}
