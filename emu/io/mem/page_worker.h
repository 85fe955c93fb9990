/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults that another program serves (design D16), by userfaultfd(2) or a file system in user
 * space. A thread takes the fault. The daemon waits for it for a moment, and then goes on without
 * the page.
 */
#ifndef IO_PAGE_WORKER_H
#define IO_PAGE_WORKER_H

#include <stdbool.h>

struct io_file_request;

/* Of one client. Zeroed: nothing is under way. */
struct io_page_worker {
	struct io_file_request *out; /* what the daemon went on without */
};

struct io_file_request_plan {
	int (*work)(void *arg); /* the thread's */
	void (*drop)(
		void *arg); /* when nobody waits for it any more; the daemon's or the thread's */
};

/*
 * Has a thread do plan->work(arg), which waits for no processor but for somebody, 10 ms at the
 * most. Returns what it returned; arg is the caller's, then. -ESRCH: it has not come back; arg is
 * dropped when it does.
 */
int io_page_worker_send(struct io_page_worker *p, const struct io_file_request_plan *plan,
			void *arg);

/* False: something is still under way. */
bool io_page_worker_is_back(struct io_page_worker *p);

/* Forgets what is under way. */
void io_page_worker_end(struct io_page_worker *p);

#endif
