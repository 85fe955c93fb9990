/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See bytes.h. The system copies: a page that is not there is an error and no signal. Or it only
 * says that each page is there, in a fifth of the time, and the bytes are read in their place.
 * If another thread unmaps them in between, that is a signal (crash.h). Reads are plain loads: an
 * interceptor of memcpy(3) would judge what the program has freed.
 */
#include "bytes.h"

#include "provider/crash/crash.h"
#include "provider/page_watch/page_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK 16384u
#define LANES 4u
#define WORD  sizeof(uint64_t)
#define PAGE  4096u /* the smallest there is */
#define SET   8u    /* bytes of the kernel's set of signals */

/* Anywhere, of anybody. */
typedef volatile uint64_t __attribute__((aligned(1), may_alias)) any_word;
#define UNWATCHED __attribute__((no_sanitize("address", "thread")))

static __thread uint8_t chunk[CHUNK];

/* Where a filter keeps us from process_vm_readv, and past our own page protection. */
static ssize_t read_by_file(uint64_t addr, size_t length, void *to)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = pread(fd, to, length, (off_t)addr);
	close(fd);
	return got;
}

static _Atomic pid_t self; /* 0: to be asked */

void uhcav_bytes_forget(void)
{
	atomic_store_explicit(&self, 0, memory_order_relaxed);
}

/* getpid() is a call of the system, which would be a third of each look at few bytes. */
static pid_t own_pid(void)
{
	pid_t pid = atomic_load_explicit(&self, memory_order_relaxed);

	if (!pid) {
		pid = getpid();
		atomic_store_explicit(&self, pid, memory_order_relaxed);
	}
	return pid;
}

bool uhcav_bytes_copy(uint64_t addr, size_t length, void *to)
{
	struct iovec here = {.iov_base = to, .iov_len = length};
	struct iovec there = {.iov_base = (void *)(uintptr_t)addr, .iov_len = length};
	int saved = errno;
	ssize_t got = process_vm_readv(own_pid(), &here, 1, &there, 1, 0);

	if ((got < 0 && (errno == ENOSYS || errno == EPERM)) ||
	    ((size_t)got != length && uhcav_page_watch_covers(addr, length)))
		got = read_by_file(addr, length, to);
	errno = saved;
	return got >= 0 && (size_t)got == length;
}

/* ---- in their place ---- */

static atomic_bool direct;

/* Under valgrind bytes that were never set may be copied, and not compared. */
void uhcav_bytes_directly(void)
{
	const char *preloaded = secure_getenv("LD_PRELOAD");

	atomic_store(&direct, !preloaded || !strstr(preloaded, "vgpreload"));
}

/*
 * The kernel takes a set of signals from there and refuses what it is asked to do with it: no call
 * that looks at memory is shorter.
 */
static bool is_there(uint64_t addr)
{
	int saved = errno;
	bool there = syscall(SYS_rt_sigprocmask, -1, addr & ~(uint64_t)(SET - 1), NULL, SET) < 0 &&
		     errno == EINVAL;

	errno = saved;
	return there;
}

static bool are_there(uint64_t addr, size_t n)
{
	uint64_t page = addr & ~(uint64_t)(PAGE - 1);

	if (!atomic_load_explicit(&direct, memory_order_relaxed))
		return false;
	while (page < addr + n && is_there(page < addr ? addr : page))
		page += PAGE;
	return page >= addr + n;
}

bool uhcav_bytes_are_there(uint64_t addr)
{
	uint8_t byte;

	return are_there(addr, 1) || uhcav_bytes_copy(addr, 1, &byte);
}

/* Where n bytes can be read, CHUNK at the most: their place, or a copy; NULL: they cannot. */
static const uint8_t *view(uint64_t addr, size_t n)
{
	if (are_there(addr, n))
		return (const uint8_t *)(uintptr_t)addr;
	return uhcav_bytes_copy(addr, n, chunk) ? chunk : NULL;
}

/* ---- sums ---- */

static inline uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9fb21c651e98df25ull;
	return h ^ h >> 29;
}

static inline UNWATCHED uint64_t word_at(const uint8_t *at)
{
	return *(const any_word *)(const void *)at;
}

static inline UNWATCHED uint64_t short_word(const uint8_t *at, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t) * (const volatile uint8_t *)(at + i) << 8 * i;
	return word;
}

/* Of n bytes; lanes that do not wait for each other. */
static UNWATCHED __attribute__((noinline)) uint64_t sum_of(uint64_t seed, const uint8_t *at,
							   size_t n)
{
	uint64_t lane[LANES];

	for (unsigned i = 0; i < LANES; i++)
		lane[i] = seed + i;
	for (; n >= LANES * WORD; n -= LANES * WORD, at += LANES * WORD)
		for (unsigned i = 0; i < LANES; i++)
			lane[i] = mix(lane[i], word_at(at + i * WORD));
	for (unsigned i = 0; n >= WORD; i++, n -= WORD, at += WORD)
		lane[i] = mix(lane[i], word_at(at));
	if (n)
		lane[LANES - 1] = mix(lane[LANES - 1], short_word(at, n));
	return mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
}

/* False: they went meanwhile. */
static bool sum_safely(uint64_t seed, const uint8_t *at, size_t n, uint64_t *sum)
{
	struct uhcav_crash_landing landing = {.from = (uintptr_t)at, .to = (uintptr_t)at + n};

	if (sigsetjmp(landing.on, 0))
		return false;
	uhcav_crash_landing = &landing;
	*sum = sum_of(seed, at, n);
	uhcav_crash_landing = NULL;
	return true;
}

bool uhcav_bytes_sum(uint64_t addr, uint64_t length, uint64_t *sum)
{
	uint64_t h = length;

	while (length) {
		size_t n = length < CHUNK ? (size_t)length : CHUNK;
		const uint8_t *at = view(addr, n);

		if (!at || !sum_safely(h, at, n, &h))
			return false;
		addr += n;
		length -= n;
	}
	*sum = h;
	return true;
}

uint64_t uhcav_bytes_part(uint64_t all, uint32_t parts, uint32_t n, uint64_t *length)
{
	uint64_t each = all / parts + (all % parts != 0), at = n * each;

	*length = at >= all ? 0 : all - at < each ? all - at : each;
	return at;
}

bool uhcav_bytes_sums(uint64_t addr, uint64_t length, uint32_t parts, uint32_t first,
		      uint64_t *sums)
{
	uint64_t n, from = uhcav_bytes_part(length, parts, first, &n);
	const uint8_t *all = NULL;

	if (!n)
		return true;
	if (length <= CHUNK) {
		all = view(addr + from, length - from);
		if (!all)
			return false;
	}
	for (uint32_t i = first; i < parts; i++) {
		uint64_t at = uhcav_bytes_part(length, parts, i, &n);

		if (!n) /* and none behind it */
			break;
		if (!(all ? sum_safely(n, all + (at - from), n, &sums[i])
			  : uhcav_bytes_sum(addr + at, n, &sums[i])))
			return false;
	}
	return true;
}
