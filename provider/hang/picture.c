/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process that stands still, in words. See picture.h. */
#include "picture.h"

#include "book.h"
#include "files.h"
#include "provider/diagnostic/diagnostic.h"
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TARGET    128u
#define MOST      16u /* threads that are shown */
#define IS_SOCKET "socket:["

static struct uhcav_line line; /* the watching thread's */

static const char *target_of(int fd, char target[TARGET])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, TARGET - 1);
	target[n > 0 ? n : 0] = '\0';
	if (uhcav_hang_of_channel(fd, NULL))
		return "a completion channel";
	if (uhcav_hang_is_cm(fd))
		return "an event channel of rdma_cm";
	return strncmp(target, IS_SOCKET, sizeof(IS_SOCKET) - 1) ? target : "a socket";
}

/* emu/abi/sanitize.h: "stands". */
static void put_thread(const struct uhcav_hang_thread *t, uint64_t now)
{
	int fd = (int)t->first;
	char target[TARGET];

	uhcav_line_put(&line, "[");
	uhcav_line_number(&line, (uint64_t)t->tid);
	uhcav_line_put(&line, ",");
	if (t->polls)
		uhcav_line_put(&line, "-1");
	else
		uhcav_line_number(&line, (uint64_t)t->call);
	uhcav_line_put(&line, ",");
	uhcav_line_number(&line, now - uhcav_hang_since(t));
	uhcav_line_put(&line, ",");
	uhcav_line_number(&line, (uint32_t)fd);
	uhcav_line_put(&line, ",");
	uhcav_line_string(&line, target_of(fd, target));
	if (t->naps && !t->polls) {
		uhcav_line_put(&line, ",");
		uhcav_line_number(&line, t->sleep_ns);
	}
	uhcav_line_put(&line, "]");
}

static void put_queue(const struct uhcav_hang_qp *h)
{
	const struct uhcav_qp *qp = h->qp;
	char words[UHCAV_HANG_WORDS];

	snprintf(words, sizeof(words),
		 "QP 0x%x (%s): %u sends and %u receives are posted and not polled%s",
		 qp->qp.qp_num, uhcav_hang_state_name(qp), uhcav_hang_used(&qp->sq),
		 uhcav_hang_used(uhcav_qp_rq(qp)), qp->qp.srq ? ", the receives of its SRQ" : "");
	uhcav_line_string(&line, words);
}

static void put_queues(void)
{
	char words[UHCAV_HANG_WORDS];
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
		uhcav_line_string(&line, uhcav_hang_cq_words(c, words));
	}
}

static bool stands_still(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	const struct uhcav_hang_cq *h;

	for (unsigned i = 0; i < all->n; i++)
		if (!all->at[i].polls && (!all->at[i].in_call || now - all->at[i].quiet < after))
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
	uhcav_reporter_leave(line.text, line.n);
}
