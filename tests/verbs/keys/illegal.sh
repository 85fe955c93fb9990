#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/illegal.c on daemons of its own, inside one and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 --limit max_mr=300 "$@" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/keys/illegal" || status=1
}
try
try --wire
exit $status
