#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/changes/srq_resize on a daemon of its own.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
exec "${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/changes/srq_resize"
