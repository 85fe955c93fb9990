#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Devices of the profile iwarp-like: what they say they are, and that librdmacm, which treats them
# differently, gets to the end of a connection with them.
run=${UHCA_SRCDIR:?}/scripts/uhca-run
status=0
transport() {
	"$run" --private --profile "$1" -- ibv_devinfo |
		sed -n 's/^[[:space:]]*transport:[[:space:]]*//p'
}
expect() {
	[ "$(transport "$1")" = "$2" ] && return
	echo "iwarp: $1: $(transport "$1")"
	status=1
}
expect iwarp-like "iWARP (1)"
expect default "InfiniBand (0)"
for wire in "" --wire; do
	# shellcheck disable=SC2016,SC2086 # the inner shell's; an option or none
	"$run" --private --profile iwarp-like $wire -- sh -c '
		timeout 240 rping -s -a 127.0.0.1 -C 3 &
		for i in $(seq 40); do
			timeout 240 rping -c -a 127.0.0.1 -C 3 && break
			[ "$i" -lt 40 ] || exit 1
			sleep 0.5
		done
		wait $!' >/dev/null 2>&1 || {
		echo "iwarp: rping $wire"
		status=1
	}
done
exit $status
