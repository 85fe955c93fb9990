#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/copies_on_poll.c: the other one who has the memory is on the same device, on
# another one of the daemon, and beyond UDP; and where nothing is copied on poll.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" \
		-- "${UHCA_BUILDDIR:?}/tests/verbs/queues/copies_on_poll" || status=1
}
try
try --devices 2
try --devices 2 --wire --addr 127.77.6.1 --addr 127.77.6.2
try --strict-memory
exit $status
