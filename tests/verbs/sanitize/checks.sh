#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each check of the sanitizer finds its program, and is silent where it has to be; its page in
# docs/reference/sanitizer/ says what it said. (Lines of a report are those of gcc.)
pages=--pages
# shellcheck disable=SC2086 # "ccache gcc" is two words
${CC:-cc} --version 2>/dev/null | grep -qi 'gcc\|free software foundation' || pages=
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- "$UHCA_SRCDIR/tests/verbs/sanitize/judge" $pages
one=$?
# Both ends of what takes two processes are on devices of their own, and meet on the wire.
(cd "$UHCA_SRCDIR/tests/verbs/sanitize" && printf '%s\n' across/*.c) | sed 's/\.c$//' |
	xargs "$UHCA_SRCDIR/scripts/uhca-run" --private --devices 2 --wire -- \
		"$UHCA_SRCDIR/tests/verbs/sanitize/judge" || one=1
# The same mistakes of connections that rdma_cm has made: one for each check.
"$UHCA_SRCDIR/scripts/uhca-run" --private -- "$UHCA_SRCDIR/tests/verbs/sanitize/judge" --cm \
	across/write-past-end across/write-to-read-only across/queue-pair-without-rights \
	across/region-of-another-domain across/other-mtu across/other-psn \
	across/more-reads-than-taken across/no-receive across/long-message across/other-qkey \
	across/datagram-too-long across/datagram-to-nobody || one=1
# What does it right is silent under chaos: those whose memory, order and times chaos touches.
"$UHCA_SRCDIR/scripts/uhca-run" --private --chaos=1 -- "$UHCA_SRCDIR/tests/verbs/sanitize/judge" \
	--good buffers/send-changed buffers/recv-changed buffers/ud-recv-short queues/lost-wakeup \
	queues/cq-overrun queues/wr-id-reused objects/srq-undrained across/other-psn \
	across/receiver-in-init across/no-receive || one=1
exit $one
