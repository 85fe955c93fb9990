#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/adopted.c on daemons of its own: adoption off, safe and all, and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
for mode in off safe all; do
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --adopt $mode -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/adopted" $mode || status=1
done
exit $status
