#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/column_exchange.c with few elements: each way brings all of them.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/keys/column_exchange" 4096
