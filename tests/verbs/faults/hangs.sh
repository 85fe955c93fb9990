#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2317
# Of a program that hangs, "uhcactl explain live" says what each queue pair waits for, and which
# queues and events are unread; and so does explain of a capture that ends while it hangs.
set -u
root=${UHCA_SRCDIR:?}
hangs=${UHCA_BUILDDIR:?}/tests/verbs/faults/hangs
uhcactl=$UHCA_BUILDDIR/uhcactl
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

if [ -z "${HANGS_INSIDE:-}" ]; then
	HANGS_INSIDE=1 exec "$root/scripts/uhca-run" --private -- bash "$0" "$@"
fi
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
failed=0

# lacks FILE WORDS...: those that explain does not say.
lacks() {
	local said words
	said=$(tr -s ' \n' ' ' <"$1")
	for words in "${@:2}"; do
		[[ $said == *"$words"* ]] || echo "$words"
	done
}

explained() { # WORDS...
	"$uhcactl" explain live >"$out/live" 2>&1 && [ -z "$(lacks "$out/live" "$@")" ]
}

hang() { # WHAT WORDS...
	local what=$1 pid missing
	shift
	"$uhcactl" capture start "$out/run.pcapng" >"$out/start" 2>&1
	"$hangs" "$what" >"$out/said" 2>&1 &
	pid=$!
	until_true grep -q waits "$out/said" || echo "$what: $(cat "$out/said")"
	until_true explained "$@"
	"$uhcactl" capture stop >"$out/stop" 2>&1
	"$uhcactl" explain "$out/run.pcapng" >"$out/captured" 2>&1
	kill "$pid"
	wait "$pid" 2>/dev/null
	missing=$(lacks "$out/live" "$@" && lacks "$out/captured" "$@")
	if [ -z "$missing" ]; then
		echo "ok   $what"
	else
		echo "FAIL $what: explain does not say: $missing"
		cat "$out/live"
		failed=1
	fi
}

hang receive "What waited at the end" "(hangs) in RTS: 1 send request is posted and not done: the \
peer had no receive request (RNR NAK): retransmission after the RNR timer" \
	"no receive request is posted, and a message of its peer waits for one (ibv_post_recv)."
hang armed "1 completion is not polled yet; it is not armed, so its channel gets no further \
event: poll once more after ibv_req_notify_cq."
hang gone "1 send request is posted and not done, waiting for the peer to acknowledge PSN 0, for \
ever, because its timeout is 0" "what it sent last, at" "not taken: no QP there has number"
hang event "rdma_cm id" "1 event is not read (rdma_get_cm_event), the first is \
RDMA_CM_EVENT_CONNECT_REQUEST; listening at port 7777, of process"
exit $failed
