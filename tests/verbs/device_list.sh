#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ibv_get_device_list, as ibv_devices prints it: the devices in the order of their numbers; and what
# devices of a profile say they are.
run=${UHCA_SRCDIR:?}/scripts/uhca-run
list() {
	"$run" --private "$@" -- ibv_devices | awk 'NR > 2 { printf "%s ", $1 }'
}
status=0
want=$(seq -f uhca%g 0 11 | tr '\n' ' ')
for i in 1 2 3; do
	got=$(list --devices 12)
	[ "$got" = "$want" ] && continue
	echo "device_list: $i: $got"
	status=1
done
transport() {
	"$run" --private --profile "$1" -- ibv_devinfo | sed -n 's/^[[:space:]]*transport:[[:space:]]*//p'
}
[ "$(transport iwarp-like)" = "iWARP (1)" ] || { echo "iwarp-like: $(transport iwarp-like)"; status=1; }
[ "$(transport default)" = "InfiniBand (0)" ] || { echo "default: $(transport default)"; status=1; }
exit $status
