#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The examples of tests/examples between processes, on one device and between two.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
programs=${UHCA_BUILDDIR:?}/tests/examples
status=0
for name in halo_exchange header_payload storage_target lock_free_table; do
	"$run" --private -- "$programs/$name" || status=1
	"$run" --private --wire --devices 2 -- "$programs/$name" --peer-device uhca1 || status=1
	# What it does not understand is said, and help is help.
	"$programs/$name" --help | grep -q -e --rounds || status=1
	"$programs/$name" --rounds 0 2>/dev/null
	[ $? = 2 ] || status=1
done
exit $status
