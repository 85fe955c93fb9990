#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ibv_get_device_list, as ibv_devices prints it: the devices in the order of their numbers.
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
exit $status
