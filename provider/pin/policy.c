/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides whether the pages of this process may be replaced to pin them. */
#include "policy.h"

#include "maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h, which is of another package */
#define POLICY_DEFAULT 0
#define POLICY_OF_ADDR 2ul

#define PAGE  4096
#define STACK (256u << 10) /* more than we use */

/* ---- who holds pages ---- */

static bool holds_pages(const char *file)
{
	static const char *const such[] = {"anon_inode:[io_uring]", "/dev/vfio/", "/dev/nvidia",
					   "/dev/kfd"};

	for (size_t i = 0; i < sizeof(such) / sizeof(such[0]); i++)
		if (!strncmp(file, such[i], strlen(such[i])))
			return true;
	return false;
}

/* Ours are not opened by this name, whatever the program thinks (preload/paths.c). */
static bool is_kernel_verbs(const char *file)
{
	return !strncmp(file, "/dev/infiniband/uverbs", 22);
}

static bool descriptors_hold_pages(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		char file[64];
		ssize_t n = readlinkat(dirfd(d), e->d_name, file, sizeof(file) - 1);

		if (n < 0)
			continue;
		file[n] = '\0';
		found = holds_pages(file) || is_kernel_verbs(file);
	}
	if (d)
		closedir(d);
	return found || !d;
}

/* The kernel counts the requests that all processes have asked for; 0: there is no ring. */
static bool nobody_has_aio(void)
{
	char text[4] = "";
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/sys/fs/aio-nr", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && !strcmp(text, "0\n");
}

/* io_setup(2) maps its ring under this name. */
static bool has_aio(void)
{
	struct uhcav_mapping m;
	struct uhcav_maps maps;
	bool found = false;

	if (nobody_has_aio())
		return false;
	if (uhcav_maps_open(&maps))
		return true;
	while (!found && uhcav_maps_next(&maps, &m))
		found = m.aio;
	uhcav_maps_close(&maps);
	return found;
}

/* ---- threads ---- */

/* The kernel counts a directory of each thread as a link; 0: it cannot be told. */
static unsigned threads(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) || st.st_nlink < 3
		       ? 0
		       : (unsigned)st.st_nlink - 2;
}

static enum uhca_abi_borrowed choose_stop(enum uhca_abi_pin mode, unsigned own_threads,
					  enum uhcav_stop *stop)
{
	*stop = UHCAV_STOP_NONE;
	if (threads() == 1 + own_threads)
		return UHCA_ABI_BORROWED_UNTOLD;
	*stop = uhcav_stop_for_threads();
	if (*stop == UHCAV_STOP_ALL || (*stop == UHCAV_STOP_USER && mode == UHCA_ABI_PIN_ALL))
		return UHCA_ABI_BORROWED_UNTOLD;
	return UHCA_ABI_BORROWED_THREADS;
}

enum uhca_abi_borrowed uhcav_policy_process(enum uhca_abi_pin mode, unsigned own_threads,
					    enum uhcav_stop *stop)
{
	enum uhca_abi_borrowed why = choose_stop(mode, own_threads, stop);

	if (sysconf(_SC_PAGESIZE) != PAGE) /* replace.c copies pages of this size */
		return UHCA_ABI_BORROWED_FAILED;
	if (why == UHCA_ABI_BORROWED_UNTOLD && (descriptors_hold_pages() || has_aio()))
		why = UHCA_ABI_BORROWED_DESCRIPTORS;
	return why;
}

/* ---- a range ---- */

/* numactl(8) and its like; a kernel without it has no policy. */
static bool has_memory_policy(uintptr_t at)
{
	int policy = POLICY_DEFAULT;

	return syscall(SYS_get_mempolicy, &policy, NULL, 0ul, at, POLICY_OF_ADDR) == 0 &&
	       policy != POLICY_DEFAULT;
}

/* What this thread itself stores to while it copies: its stack, below here, and errno. */
static bool is_in_use(uintptr_t from, uintptr_t to)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t number = (uintptr_t)&errno;

	return (from < here && to > here - STACK) || (from <= number && number < to);
}

enum uhca_abi_borrowed uhcav_policy_range(uintptr_t from, uintptr_t to, bool *not_forked)
{
	int flags;

	if (is_in_use(from, to))
		return UHCA_ABI_BORROWED_STACK;
	flags = uhcav_maps_flags(from, to);
	if (flags < 0)
		return UHCA_ABI_BORROWED_FAILED;
	*not_forked = flags & UHCAV_FLAG_NOT_FORKED;
	if (flags & UHCAV_FLAG_LOCKED)
		return UHCA_ABI_BORROWED_LOCKED;
	return flags & UHCAV_FLAG_OTHER || has_memory_policy(from) ? UHCA_ABI_BORROWED_ADVISED
								   : UHCA_ABI_BORROWED_UNTOLD;
}
