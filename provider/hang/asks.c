/* SPDX-License-Identifier: BSD-2-Clause */
/* Hears calls by which a program may learn something. All take few arguments. See asks.h. */
#include "asks.h"

#include "files.h"
#include "provider/base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* X(call, what it asks: the descriptor that it takes first, anything, the time) */
#define CALLS(X)                                                                                   \
	X(read, OF_FD)                                                                             \
	X(__read_chk, OF_FD)                                                                       \
	X(readv, OF_FD)                                                                            \
	X(recv, OF_FD)                                                                             \
	X(__recv_chk, OF_FD)                                                                       \
	X(recvfrom, OF_FD)                                                                         \
	X(__recvfrom_chk, OF_FD)                                                                   \
	X(recvmsg, OF_FD)                                                                          \
	X(recvmmsg, OF_FD)                                                                         \
	X(accept, OF_FD)                                                                           \
	X(accept4, OF_FD)                                                                          \
	X(ioctl, OF_FD)                                                                            \
	X(poll, OF_ANY)                                                                            \
	X(__poll_chk, OF_ANY)                                                                      \
	X(ppoll, OF_ANY)                                                                           \
	X(select, OF_ANY)                                                                          \
	X(pselect, OF_ANY)                                                                         \
	X(epoll_wait, OF_ANY)                                                                      \
	X(epoll_pwait, OF_ANY)                                                                     \
	X(getline, OF_ANY)                                                                         \
	X(fgets, OF_ANY)                                                                           \
	X(fread, OF_ANY)                                                                           \
	X(open, OF_ANY)                                                                            \
	X(open64, OF_ANY)                                                                          \
	X(fopen, OF_ANY)                                                                           \
	X(fopen64, OF_ANY)                                                                         \
	X(stat, OF_ANY)                                                                            \
	X(stat64, OF_ANY)                                                                          \
	X(access, OF_ANY)                                                                          \
	X(connect, OF_ANY)                                                                         \
	X(kill, OF_ANY)                                                                            \
	X(wait, OF_ANY)                                                                            \
	X(waitpid, OF_ANY)                                                                         \
	X(wait4, OF_ANY)                                                                           \
	X(waitid, OF_ANY)                                                                          \
	X(sem_trywait, OF_ANY)                                                                     \
	X(sem_timedwait, OF_ANY)                                                                   \
	X(sem_getvalue, OF_ANY)                                                                    \
	X(semop, OF_ANY)                                                                           \
	X(semtimedop, OF_ANY)                                                                      \
	X(msgrcv, OF_ANY)                                                                          \
	X(mq_receive, OF_ANY)                                                                      \
	X(mq_timedreceive, OF_ANY)                                                                 \
	X(sigtimedwait, OF_ANY)                                                                    \
	X(syscall, OF_ANY)                                                                         \
	X(clock_gettime, OF_CLOCK)                                                                 \
	X(gettimeofday, OF_CLOCK)                                                                  \
	X(time, OF_CLOCK)

#define FDS 16u

enum call {
#define ID(name, what) CALL_##name,
	CALLS(ID)
#undef ID
		CALL_COUNT
};

static const enum {
	OF_FD,
	OF_ANY,
	OF_CLOCK
} asked[] = {
#define ROW(name, what) what,
	CALLS(ROW)
#undef ROW
};

/* Atomic; connections: events of rdma_cm. */
static uint32_t listens, elsewhere, connections, clocks, n_fds;
static int fds[FDS];

static uintptr_t hear(enum call call, const uintptr_t a[7]);

/* One more argument than registers take: syscall(2) has that. */
#define HEAR(name, what)                                                                           \
	static uintptr_t hear_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,           \
				     uintptr_t e, uintptr_t f, uintptr_t g)                        \
	{                                                                                          \
		return hear(CALL_##name, (const uintptr_t[7]){a, b, c, d, e, f, g});               \
	}
CALLS(HEAR)
#undef HEAR

static struct uhcav_got_call calls[] = {
#define SLOT(name_of, what) {.name = "", .answer = (void *)hear_##name_of},
	CALLS(SLOT)
#undef SLOT
		{.name = NULL},
};

static const char *const names[] = {
#define NAME(name, what) #name,
	CALLS(NAME)
#undef NAME
};

static void note_fd(int fd)
{
	uint32_t n = __atomic_load_n(&n_fds, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n && i < FDS; i++)
		if (__atomic_load_n(&fds[i], __ATOMIC_RELAXED) == fd)
			return;
	n = __atomic_fetch_add(&n_fds, 1, __ATOMIC_RELAXED);
	if (n < FDS)
		__atomic_store_n(&fds[n], fd, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&elsewhere, 1, __ATOMIC_RELAXED); /* too many to tell */
}

/* By number: what libraries ask else of the kernel tells a program nothing. */
static bool asks_by_number(uintptr_t number)
{
	switch (number) {
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
#endif
		return true;
	default:
		return false;
	}
}

/* The preload library asks by a copy of the descriptor, which is closed by the time one looks. */
static void note(enum call call, uintptr_t first)
{
	if (asked[call] == OF_CLOCK)
		__atomic_store_n(&clocks, 1, __ATOMIC_RELAXED);
	else if (asked[call] == OF_FD && uhcav_hang_is_cm((int)first))
		__atomic_store_n(&connections, 1, __ATOMIC_RELAXED);
	else if (asked[call] == OF_FD)
		note_fd((int)first);
	else if (call != CALL_syscall || asks_by_number(first))
		__atomic_store_n(&elsewhere, 1, __ATOMIC_RELAXED);
}

static __thread bool is_watcher;

void uhcav_hang_asks_not_by_me(void)
{
	is_watcher = true;
}

static uintptr_t hear(enum call call, const uintptr_t a[7])
{
	uintptr_t (*behind)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			    uintptr_t);

	if (__atomic_load_n(&listens, __ATOMIC_RELAXED) && !is_watcher) {
		int saved = errno;

		note(call, a[0]);
		errno = saved;
	}
	*(void **)&behind = calls[call].behind;
	return behind(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

static void find_calls(void)
{
	for (unsigned i = 0; i < CALL_COUNT; i++) {
		if (calls[i].behind)
			continue;
		calls[i].behind = dlsym(RTLD_DEFAULT, names[i]);
		if (calls[i].behind)
			calls[i].name = names[i];
	}
}

void uhcav_hang_asks_begin(void)
{
	static bool found;

	if (!found)
		find_calls();
	found = true;
	__atomic_store_n(&elsewhere, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&connections, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&clocks, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&n_fds, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&listens, 1, __ATOMIC_RELAXED);
	if (!uhcav_got_patch_all(calls))
		__atomic_store_n(&elsewhere, 1, __ATOMIC_RELAXED); /* not all are heard */
}

bool uhcav_hang_asks_any(void)
{
	uint32_t n = __atomic_load_n(&n_fds, __ATOMIC_RELAXED);

	if (__atomic_load_n(&elsewhere, __ATOMIC_RELAXED) ||
	    (__atomic_load_n(&connections, __ATOMIC_RELAXED) && uhcav_hang_listens()))
		return true;
	for (uint32_t i = 0; i < n && i < FDS; i++)
		if (uhcav_hang_is_foreign(__atomic_load_n(&fds[i], __ATOMIC_ACQUIRE)))
			return true;
	return false;
}

bool uhcav_hang_asks_time(void)
{
	return __atomic_load_n(&clocks, __ATOMIC_RELAXED);
}
