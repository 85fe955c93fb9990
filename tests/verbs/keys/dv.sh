#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/dv.c on devices that have everything, some of it, and nothing.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --profile "$1" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/dv" "$1" || status=1
}
try default
try iwarp-like
try ib-strict
exit $status
