#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# arming.c on devices that announce what was unread when a CQ was armed, inside one
# daemon and by UDP, and on strict ones.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
program=${UHCA_BUILDDIR:?}/tests/verbs/queues/arming status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 "$@" || status=1
}
try -- "$program" announced
try --wire --addr 127.77.3.1 --addr 127.77.3.2 -- "$program" announced
try --strict-arming -- "$program" strict
try --profile ib-strict -- "$program" strict
exit $status
