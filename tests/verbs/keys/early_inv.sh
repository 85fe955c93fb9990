#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/early_inv.c on a device that lets LOCAL_INV overtake, and on one that does not.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" || status=1
}
try --early-local-inv -- "${UHCA_BUILDDIR:?}/tests/verbs/keys/early_inv" early
try -- "$UHCA_BUILDDIR/tests/verbs/keys/early_inv" ordered
exit $status
