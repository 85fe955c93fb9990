#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/order.c inside one daemon and by UDP, and on devices that hold nothing back.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" || status=1
}
order=${UHCA_BUILDDIR:?}/tests/verbs/queues/order
try -- "$order"
try --wire --addr 127.77.4.1 -- "$order"
try --strict-order -- "$order" strict
exit $status
