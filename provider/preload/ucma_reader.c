/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ucma_reader.h. A table without locks: an open that takes another's place in it, or two
 * threads that write at once, cost a wait that is too much or not enough.
 */
#include "ucma_reader.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACES 64
#define NAP    200000 /* ns */
#define NAPS   100

static struct {
	uint64_t file;
	int32_t tid; /* 0: nobody, or one who was waited for in vain */
} readers[PLACES];

static int32_t own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

void uhca_ucma_reader_note(uint64_t file)
{
	unsigned i = (unsigned)(file % PLACES);

	__atomic_store_n(&readers[i].file, file, __ATOMIC_RELAXED);
	__atomic_store_n(&readers[i].tid, own_tid(), __ATOMIC_RELAXED);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static bool somebody_else(int32_t tid)
{
	return tid != 0 && tid != own_tid() && syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

void uhca_ucma_reader_first(int fd, uint64_t file)
{
	const struct timespec nap = {.tv_nsec = NAP};
	unsigned i = (unsigned)(file % PLACES);
	int32_t tid = __atomic_load_n(&readers[i].tid, __ATOMIC_RELAXED);

	if (__atomic_load_n(&readers[i].file, __ATOMIC_RELAXED) != file || !somebody_else(tid))
		return;
	for (unsigned n = 0; n < NAPS; n++) {
		if (!is_readable(fd))
			return;
		nanosleep(&nap, NULL);
	}
	__atomic_compare_exchange_n(&readers[i].tid, &tid, 0, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}
