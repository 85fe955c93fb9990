#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/pinned.c on daemons of its own: --pin off (by its hidden
# alias, --adopt), safe and all, and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
for mode in off safe all; do
	option=--pin
	[ $mode != off ] || option=--adopt
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private $option $mode -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/pinned" $mode || status=1
done
exit $status
