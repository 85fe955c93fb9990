#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/occupancy.c inside one device, by UDP, and with borrowed memory.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
for way in "" --wire "--pin off"; do
	# shellcheck disable=SC2086 # words
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 $way -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/queues/occupancy" || exit
done
