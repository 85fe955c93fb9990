/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event channel is destroyed while another thread is about to wait for its events: the thread
 * is in rdma_get_cm_event already, and the call fails.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static __thread bool asks;
static sem_t asked, destroyed;

/* librdmacm's question for an event: the thread stops before it as long as the others want. */
ssize_t write(int fd, const void *what, size_t length)
{
	ssize_t (*real)(int fd, const void *what, size_t length);

	if (asks) {
		asks = false;
		sem_post(&asked);
		sem_wait(&destroyed);
	}
	*(void **)&real = dlsym(RTLD_NEXT, "write");
	return real(fd, what, length);
}

static void *serve(void *arg)
{
	struct rdma_cm_event *event;

	asks = true;
	pair_must(rdma_get_cm_event(channel, &event) == -1 && errno == EBADF, "being refused");
	return arg;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pthread_t server;

	channel = rdma_create_event_channel();
	pair_must(channel && !sem_init(&asked, 0, 0) && !sem_init(&destroyed, 0, 0), "a channel");
	if (!mended) {
		pair_must(!pthread_create(&server, NULL, serve, NULL), "a thread");
		sem_wait(&asked);
	}
	rdma_destroy_event_channel(channel);
	sem_post(&destroyed);
	pair_must(mended || !pthread_join(server, NULL), "its end");
	return 0;
}
