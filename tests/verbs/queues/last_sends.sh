#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/last_sends.c inside one daemon, by UDP, and between two daemons.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" || status=1
}
last=${UHCA_BUILDDIR:?}/tests/verbs/queues/last_sends
try -- "$last"
try --wire --addr 127.77.5.1 -- "$last"
# Expanded by the inner shell.
# shellcheck disable=SC2016
try --addr 127.77.5.2 -- sh -c 'UHCA_PEER_DIR=$UHCA_DIR; export UHCA_PEER_DIR; exec "$@"' sh \
	"$UHCA_SRCDIR/scripts/uhca-run" --private --addr 127.77.5.3 -- "$last"
exit $status
