#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/windows.c on a device with windows of type 2B, and on one with type 2A.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --profile "$1" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/windows" "$2" || status=1
}
try default 2B
try 2a 2A
exit $status
