#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/last_sends.c inside one daemon, and by UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" || status=1
}
last=${UHCA_BUILDDIR:?}/tests/verbs/queues/last_sends
try -- "$last"
try --wire --addr 127.77.5.1 -- "$last"
exit $status
