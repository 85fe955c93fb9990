#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/order_apart.c inside one daemon, by UDP, and between two daemons.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" || status=1
}
apart=${UHCA_BUILDDIR:?}/tests/verbs/queues/order_apart
try -- "$apart"
try --wire --addr 127.77.6.1 -- "$apart"
# Expanded by the inner shell.
# shellcheck disable=SC2016
try --addr 127.77.6.2 -- sh -c 'UHCA_PEER_DIR=$UHCA_DIR; export UHCA_PEER_DIR; exec "$@"' sh \
	"$UHCA_SRCDIR/scripts/uhca-run" --private --addr 127.77.6.3 -- "$apart"
exit $status
