/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the watching functions into the op table when UHCA_SANITIZE is set. */
#include "sanitize.h"

#include "bytes.h"
#include "forking.h"
#include "lifetime.h"
#include "object.h"
#include "provider/connection/connection.h"
#include "provider/crash/crash.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/gone/gone.h"
#include "provider/hang/hang.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/page_watch/page_watch.h"
#include "shadow.h"
#include "watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool watching;

/* A child finds whole lists: these are held across the fork, in the order of their taking. */
static pthread_mutex_t *const held[] = {
	&uhcav_hang_lock,       &uhcav_hang_book_lock,       &uhcav_shadows_lock,
	&uhcav_connection_lock, &uhcav_diagnostic_seen_lock, &uhcav_diagnostic_lock,
	&uhcav_object_lock,     &uhcav_stack_lock,           &uhcav_keeping_lock,
	&uhcav_tomb_lock,       &uhcav_memory_watch_lock,    &uhcav_quarantine_lock,
	&uhcav_ranges_lock,
};
#define HELD (sizeof(held) / sizeof(held[0]))

static void before_fork(void)
{
	uhcav_forking_look(UHCAV_HERE);
	for (size_t i = 0; i < HELD; i++)
		pthread_mutex_lock(held[i]);
	uhcav_page_watch_lock();
}

static void after_fork(void)
{
	uhcav_page_watch_unlock();
	for (size_t i = HELD; i-- > 0;)
		pthread_mutex_unlock(held[i]);
}

static void after_fork_in_child(void)
{
	uhcav_page_watch_forget();
	uhcav_hang_forget();
	uhcav_bytes_forget();
	after_fork();
}

/* librdmacm may destroy something before there is an object of ours. */
static void begin_keeping(void)
{
	uhcav_keeping_begin();
	uhcav_gone_listen();
	uhcav_memory_watch_listen();
}

static void begin_with_signals(void)
{
	uhcav_crash_begin(uhcav_object_try_words);
	if (!uhcav_check_on(UHCA_CHECK_SEND_WRITTEN) && !uhcav_check_on(UHCA_CHECK_RECV_USED) &&
	    !uhcav_check_on(UHCA_CHECK_READ_USED))
		uhcav_bytes_directly();
}

void uhcav_sanitize_begin(void)
{
	const char *list = secure_getenv(UHCA_SANITIZE_ENV);
	uint64_t checks;

	if (!list || !*list)
		return;
	if (uhcav_check_parse(list, &checks)) {
		fprintf(stderr, "uhca: %s=%s names no known check\n", UHCA_SANITIZE_ENV, list);
		return;
	}
	uhcav_check_enable(checks);
	uhcav_hang_begin();
	uhcav_lifetime_watch_exit();
	if (uhcav_check_on(UHCA_CHECK_OBJECT_GONE))
		begin_keeping();
	if (uhcav_check_on(UHCA_CHECK_VERB_CRASHED))
		begin_with_signals();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	watching = true;
	uhcav_hang_device_used(); /* librdmacm may wait without a device */
}

void *uhcav_sanitize_op(const char *op)
{
	const struct uhcav_watch *const lists[] = {uhcav_watch_objects, uhcav_watch_queues,
						   uhcav_watch_posts, uhcav_watch_events};

	for (size_t i = 0; watching && i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct uhcav_watch *w = lists[i]; w->op; w++)
			if (!strcmp(w->op, op))
				return w->function;
	return NULL;
}
