/* SPDX-License-Identifier: BSD-2-Clause */
/* Says what each QP waits for, and which completions are unread. */
#include "standing.h"

#include "emu/model/read/read.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- sends ---- */

static void add_waits(struct text *t, const struct model_record *r)
{
	static const struct {
		const char *waits, *words;
	} reason[] = {
		{"state", "the QP's state sends nothing"},
		{"fence", "the next has a fence and waits for earlier READs or atomics"},
		{"reads", "max_rd_atomic READs or atomics are already outstanding"},
		{"credit", "the peer has advertised no credits"},
		{"rnr",
		 "the peer had no receive request (RNR NAK): retransmission after the RNR timer"},
		{"pace", "it pauses, because its packets are not acknowledged"},
		{"order", "the next has failed and completes after earlier ones"},
	};

	if (model_word_is(r, "waits", "answer")) {
		text_add(t, ", waiting for the peer to acknowledge PSN %s",
			 model_word_or(r, "una_psn", ""));
		if (model_word(r, "timeout") && model_number(r, "timeout") == 0)
			text_add(t, ", for ever, because its timeout is 0");
		return;
	}
	for (size_t i = 0; i < sizeof(reason) / sizeof(reason[0]); i++)
		if (model_word_is(r, "waits", reason[i].waits))
			text_add(t, ": %s", reason[i].words);
}

static void add_sends(struct text *t, const struct model_record *r)
{
	uint64_t n = model_number(r, "sends"), silent = model_number(r, "silent");

	if (n > 0) {
		text_add(t, "%" PRIu64 " send request%s posted and not done", n,
			 n == 1 ? " is" : "s are");
		add_waits(t, r);
	} else {
		text_add(t, "no send request is open");
	}
	if (silent > 0)
		text_add(t, "; %" PRIu64 " %s done without a completion (not signaled)", silent,
			 silent == 1 ? "was" : "were");
}

/* ---- receives ---- */

static void add_receives(struct text *t, const struct model_record *r)
{
	uint64_t n = model_number(r, "recvs");

	if (model_word(r, "srq"))
		text_add(t, "; receives come from SRQ %s", model_word_or(r, "srq", ""));
	else if (n > 0)
		text_add(t, "; %" PRIu64 " receive request%s for a message", n,
			 n == 1 ? " waits" : "s wait");
	else
		text_add(t, "; no receive request is posted");
}

static void add_qp(struct text *t, const struct model_record *r)
{
	text_add(t, "in %s: ", model_word_or(r, "state", ""));
	if (model_word_is(r, "state", "RESET") || model_word_is(r, "state", "INIT")) {
		text_add(t, "not connected, it neither sends nor receives");
		return;
	}
	if (model_word_is(r, "state", "RTR"))
		text_add(t, "it accepts messages and sends none before RTS; ");
	add_sends(t, r);
	add_receives(t, r);
}

static void add_cq(struct text *t, const struct model_record *r)
{
	uint64_t unread = model_number(r, "unread"), held = model_number(r, "held");

	text_add(t, "%" PRIu64 " completion%s not polled yet", unread,
		 unread == 1 ? " is" : "s are");
	if (held > 0)
		text_add(t, ", %" PRIu64 " held back until earlier ones are handled", held);
	if (model_word_is(r, "state", "overrun"))
		text_add(t, "; the queue is overrun and accepts no more");
	else if (model_number(r, "armed"))
		text_add(t, "; it is armed");
	else if (model_number(r, "channel"))
		text_add(t,
			 "; it is not armed, so its channel gets no further event: poll once more "
			 "after ibv_req_notify_cq");
}

static void add_cm(struct text *t, const struct model_record *r)
{
	uint64_t unread = model_number(r, "unread"), held = model_number(r, "held");

	if (unread > 0)
		text_add(t,
			 "%" PRIu64 " event%s not read (rdma_get_cm_event), the first is "
			 "RDMA_CM_EVENT_%s",
			 unread, unread == 1 ? " is" : "s are", model_word_or(r, "event", ""));
	if (held > 0)
		text_add(
			t,
			"%sa DISCONNECTED event waits until the program has polled its completions",
			unread > 0 ? "; " : "");
	text_add(t, "; %s", model_word_or(r, "state", ""));
	if (model_number(r, "port") > 0)
		text_add(t, " at port %s", model_word_or(r, "port", ""));
	if (model_word(r, "pid"))
		text_add(t, ", of process %s", model_word_or(r, "pid", ""));
}

const char *model_standing_text(const struct model_record *r, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	buf[0] = '\0';
	if (model_word(r, "cm_id"))
		add_cm(&t, r);
	else if (model_word(r, "cq"))
		add_cq(&t, r);
	else
		add_qp(&t, r);
	return buf;
}

/* ---- calls ---- */

static bool posts_sends(const struct model_record *r)
{
	return model_word_is(r, "verb", "post_send") || model_word_is(r, "verb", "wr_complete") ||
	       model_word_is(r, "verb", "bind_mw");
}

static bool state_sends(const struct model_record *r)
{
	return model_word_is(r, "state", "RTS") || model_word_is(r, "state", "SQD") ||
	       model_word_is(r, "state", "SQE") || model_word_is(r, "state", "ERR");
}

const char *model_call_text(const struct model_record *r, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	buf[0] = '\0';
	text_add(&t, "%s", model_word_or(r, "verb", ""));
	if (model_word(r, "wr"))
		text_add(&t, " of wr %s", model_word_or(r, "wr", ""));
	text_add(&t, ": %s", model_word_or(r, "status", ""));
	if (!model_word(r, "state"))
		return buf;
	if (posts_sends(r) && !state_sends(r))
		text_add(&t, ", because the QP is in %s, and send requests need at least RTS",
			 model_word_or(r, "state", ""));
	else if (model_word_is(r, "verb", "post_recv") && model_word_is(r, "state", "RESET"))
		text_add(&t,
			 ", because the QP is in RESET, and receive requests need at least INIT");
	else
		text_add(&t, ", because the request is invalid (the QP is in %s)",
			 model_word_or(r, "state", ""));
	return buf;
}
