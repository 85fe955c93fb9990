/* SPDX-License-Identifier: BSD-2-Clause */
/* See ends.h, and connection.h for the locks. */
#include "ends.h"

#include "connection.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

struct entry {
	LIST_ENTRY(entry) link;
	struct uhcav_end e;
};

pthread_mutex_t uhcav_connection_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, entry) entries = LIST_HEAD_INITIALIZER(entries);

static struct entry *find_end(const struct ibv_qp *qp)
{
	struct entry *x;

	LIST_FOREACH(x, &entries, link)
	if (x->e.qp == qp)
		return x;
	return NULL;
}

void uhcav_end_connect(const struct ibv_qp *qp, const struct uhcav_stack *stack)
{
	struct entry *x;

	pthread_mutex_lock(&uhcav_connection_lock);
	x = find_end(qp);
	if (!x) {
		x = malloc(sizeof(*x));
		if (x)
			LIST_INSERT_HEAD(&entries, x, link);
	}
	if (x)
		x->e = (struct uhcav_end){.qp = qp, .connected = stack};
	pthread_mutex_unlock(&uhcav_connection_lock);
}

void uhcav_end_forget(const struct ibv_qp *qp)
{
	struct entry *x;

	pthread_mutex_lock(&uhcav_connection_lock);
	x = find_end(qp);
	if (x)
		LIST_REMOVE(x, link);
	pthread_mutex_unlock(&uhcav_connection_lock);
	free(x);
}

bool uhcav_end_posts(const struct ibv_qp *qp, struct uhcav_end *out)
{
	struct entry *x;

	pthread_mutex_lock(&uhcav_connection_lock);
	x = find_end(qp);
	if (x) {
		x->e.posts++;
		*out = x->e;
	}
	pthread_mutex_unlock(&uhcav_connection_lock);
	return x;
}

const char *uhcav_end_words(const struct uhca_abi_end *e, char words[UHCAV_END_WORDS])
{
	int n = snprintf(words, UHCAV_END_WORDS, "QP 0x%x of %.*s", e->qpn, (int)sizeof(e->device),
			 e->device);

	if (e->pid && e->pid != (uint32_t)getpid())
		snprintf(words + n, UHCAV_END_WORDS - (size_t)n, " (process %u)", e->pid);
	return words;
}
