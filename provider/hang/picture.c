/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process that stands still, in words. See picture.h. */
#include "picture.h"

#include "book.h"
#include "emu/abi/waiting_call.h"
#include "provider/diagnostic/diagnostic.h"
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS     320u
#define MOST      16u /* threads that are shown */
#define IS_SOCKET "socket:["

static struct uhcav_line line; /* the watching thread's */

static const char *kind_of(int fd, char target[128])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, 127);
	target[n > 0 ? n : 0] = '\0';
	if (uhcav_hang_of_channel(fd, NULL))
		return "a completion channel";
	return strncmp(target, IS_SOCKET, sizeof(IS_SOCKET) - 1) ? target : "a socket";
}

static const char *words_of(const struct uhcav_hang_thread *t, char words[WORDS])
{
	const struct uhca_waiting_call *call = uhca_waiting_call(t->call);
	char target[128];

	if (t->polls)
		return "polls a completion queue in vain";
	if (!call)
		snprintf(words, WORDS, "waits in the system call with number %ld", t->call);
	else if (call->on_descriptor)
		snprintf(words, WORDS, "waits in %s of descriptor %d, %s", call->name,
			 (int)t->first, kind_of((int)t->first, target));
	else
		snprintf(words, WORDS, "waits in %s", call->name);
	return words;
}

/* A thread that polls is in no call: its queues stand still for so long. */
static uint64_t since_of(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_cq *h;
	uint64_t since = t->polls ? 0 : t->since;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (t->polls && uhcav_hang_poller(h, t->tid) && h->since > since)
		since = h->since;
	return since;
}

static void put_thread(const struct uhcav_hang_thread *t, uint64_t now)
{
	char words[WORDS];

	uhcav_line_put(&line, "[");
	uhcav_line_number(&line, (uint64_t)t->tid);
	uhcav_line_put(&line, ",");
	uhcav_line_string(&line, words_of(t, words));
	uhcav_line_put(&line, ",");
	uhcav_line_number(&line, now - since_of(t));
	uhcav_line_put(&line, "]");
}

static void put_queue(const struct uhcav_hang_qp *h)
{
	const struct uhcav_qp *qp = h->qp;
	const struct uhcav_work_queue *rq = qp->qp.srq ? &uhcav_srq_of(qp->qp.srq)->rq : &qp->rq;
	char words[WORDS];

	snprintf(words, sizeof(words),
		 "QP 0x%x (%s): %u sends and %u receives are posted and not polled%s",
		 qp->qp.qp_num, uhcav_hang_state_name(qp), uhcav_hang_used(&qp->sq),
		 uhcav_hang_used(rq), qp->qp.srq ? ", the receives of its SRQ" : "");
	uhcav_line_string(&line, words);
}

static void put_cq(const struct uhcav_hang_cq *h)
{
	char words[WORDS];

	snprintf(words, sizeof(words),
		 "completion queue 0x%x: %s, %u completions wait to be polled", h->handle,
		 uhcav_hang_arm_words(h), h->state.pending);
	uhcav_line_string(&line, words);
}

static void put_queues(void)
{
	const struct uhcav_hang_qp *q;
	const struct uhcav_hang_cq *c;
	unsigned n = 0;

	LIST_FOREACH(q, &uhcav_hang_qps, link)
	if (n < MOST) {
		uhcav_line_put(&line, n++ ? "," : "");
		put_queue(q);
	}
	LIST_FOREACH(c, &uhcav_hang_cqs, link)
	if (n < 2 * MOST) {
		uhcav_line_put(&line, n++ ? "," : "");
		put_cq(c);
	}
}

static bool stands_still(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	const struct uhcav_hang_cq *h;

	for (unsigned i = 0; i < all->n; i++)
		if (!all->at[i].polls && (!all->at[i].in_call || now - all->at[i].since < after))
			return false;
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (now - h->since < after)
		return false;
	return all->all && all->n;
}

void uhcav_hang_picture(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	static uint64_t last;

	if (now - last < after || !stands_still(all, now, after))
		return;
	last = now;
	line.n = 0;
	uhcav_line_put(&line, "{\"program\":");
	uhcav_line_string(&line, uhcav_diagnostic_program());
	uhcav_line_put(&line, ",\"stands\":[");
	for (unsigned i = 0; i < all->n && i < MOST; i++) {
		uhcav_line_put(&line, i ? "," : "");
		put_thread(&all->at[i], now);
	}
	uhcav_line_put(&line, "],\"queues\":[");
	put_queues();
	uhcav_line_put(&line, "]}");
	uhcav_diagnostic_leave(&line);
}
