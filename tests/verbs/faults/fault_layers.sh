#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The programs that look at faults of each layer above packets, each on a daemon of its own. The
# one whose daemon ends says in its last line that all was well: uhca-run's status tells of the end.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
for program in fault_calls fault_completions fault_memory fault_events fault_cm fault_fleet; do
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/faults/$program" || status=1
done
# What fleets meet is the same where packets leave the daemon.
"$UHCA_SRCDIR/scripts/uhca-run" --private --devices 2 --wire -- \
	"$UHCA_BUILDDIR/tests/verbs/faults/fault_fleet" || status=1
"$UHCA_SRCDIR/scripts/uhca-run" --private --devices 2 --profile cx5 -- \
	"$UHCA_BUILDDIR/tests/verbs/faults/mlx5_errors" || status=1
for how in exit kill; do
	out=$("$UHCA_SRCDIR/scripts/uhca-run" --private -- \
		"$UHCA_BUILDDIR/tests/verbs/faults/fault_device" $how 2>&1)
	echo "$out"
	case $out in
	*"flushed, told once, and everything could be destroyed"*) ;;
	*) status=1 ;;
	esac
done
exit $status
