#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/cm/cm_order.c inside a device, over UDP, and where no event waits for its reader.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/cm/cm_order
for option in --no-wire --wire --strict-order; do
	for way in patient hasty; do
		"$run" --private "$option" -- "$program" 10 $way || {
			echo "cm_order $way with $option failed"
			exit 1
		}
	done
done
