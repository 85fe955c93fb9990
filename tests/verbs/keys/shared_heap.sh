#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/shared_heap.c with --share-heap, where the daemon pins by safe ways, and by
# all; and without.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() { # ARGUMENT OPTION...
	argument=$1
	shift
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/shared_heap" "$argument" || status=1
}
try on --share-heap --pin safe
try on --share-heap --pin all
try off --pin off
exit $status
