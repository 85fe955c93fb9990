#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The walks of this folder (refusals, refusals_cm, refusals_dv), each on a daemon of its own, whose
# log it reads; then the sanitizer's notes of the same calls, which leave the exit status as it is.
set -u
run=${UHCA_SRCDIR:?}/scripts/uhca-run
programs=${UHCA_BUILDDIR:?}/tests/verbs/refusals
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
status=0

walk() { # PROGRAM OPTION...
	program=$1
	shift
	"$run" --private --devices 2 --log-level info "$@" -- "$programs/$program" || {
		echo "FAIL $program $*"
		status=1
	}
}

noted() { # WORDS
	grep -q "NOTE: uhca-sanitizer: call-refused: $1" "$found" && return
	echo "FAIL no note says: $1"
	status=1
}

walk refusals
walk refusals_cm
walk refusals_dv
# While there are rules for posts, these ask first: they tell all the same.
walk refusals --fault 'call.fail=EDOM call=post_send,post_recv,post_srq_recv nth=1000000'
walk refusals_dv --fault 'call.fail=EDOM call=post_send nth=1000000'
walk refusals --sanitize=call-refused --sanitize-options "text=$found"
noted 'ibv_create_cq: cqe 0 is less than 1 (EINVAL)'
noted 'ibv_post_send: opcode 77 is not valid for ibv_post_send (EINVAL)'
noted 'ibv_modify_qp: sgid_index 15 is empty (EINVAL)'
grep -q ' in cq_zero_row ' "$found" || {
	echo 'FAIL no stack has the caller'
	status=1
}
walk refusals_cm --sanitize=call-refused --sanitize-options "text=$found"
noted 'rdma_listen: the id is .* (EINVAL)'
walk refusals_dv --sanitize=call-refused --sanitize-options "text=$found"
noted 'uhcadv_post_send: comp_mask 0x8 is not 0 (EINVAL)'
# shellcheck disable=SC2016 # expanded inside, where the instance is
"$run" --private --devices 2 --log-level info -- sh -c '"$1" && cp "$UHCA_DIR/log" "$2"' sh \
	"$UHCA_BUILDDIR/tests/verbs/faults/fault_calls" "$found" || status=1
for call in 'post_send of QP .* fails, EPERM' 'post_recv of QP .* fails, EPERM' \
	'post_srq_recv fails, EFAULT' 'wr_complete of QP .* fails, ENOBUFS' \
	'req_notify_cq fails, ECANCELED'; do
	grep -q "): $call: a fault rule makes it fail" "$found" && continue
	echo "FAIL no line of the log says by what rule: $call"
	status=1
done
exit $status
