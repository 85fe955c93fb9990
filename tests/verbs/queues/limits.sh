#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/limits.c under profiles and limits: the reported numbers are the real ones.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
try() {
	echo "# $*"
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$@" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/queues/limits" || status=1
}
try --profile minimal
try --profile ib-strict --limit max_qp=20 --limit max_cq=20 --limit max_mr=20 --limit max_ah=20 \
	--limit max_pd=20
try --profile iwarp-like --limit max_qp=3 --limit max_cq=2 --limit max_mr=5 --limit max_ah=1 \
	--limit max_srq=7 --limit max_pd=1 --limit max_qp_wr=100 --limit max_cqe=1000 \
	--limit max_srq_wr=33 --limit max_sge=3 --limit max_srq_sge=2 --limit max_rd_atomic=5
try
exit $status
