/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All look-ups happen at once. Two threads that race to it, or a look-up that comes back to us
 * through somebody's malloc, find and store the same. Nothing here waits.
 */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *functions[UHCA_FN_COUNT];
static char root[512];
static int ready;

static const char *const names[UHCA_FN_COUNT] = {
#define X(name) [UHCA_FN_##name] = #name,
	UHCA_FUNCTIONS(X)
#undef X
};

static void prepare(void)
{
	int saved = errno;
	const char *dir;

	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		return;
	for (unsigned i = 0; i < UHCA_FN_COUNT; i++)
		__atomic_store_n(&functions[i], dlsym(RTLD_NEXT, names[i]), __ATOMIC_RELAXED);
	/*
	 * Not in programs that run with more rights than their user. A copy, because programs that
	 * set their title overwrite their environment.
	 */
	dir = secure_getenv("UHCA_DIR");
	if (dir && *dir == '/' && strlen(dir) < sizeof(root))
		memcpy(root, dir, strlen(dir) + 1);
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	errno = saved;
}

const char *uhca_root(void)
{
	prepare();
	return root[0] ? root : NULL;
}

void *uhca_real(enum uhca_function f)
{
	prepare();
	return __atomic_load_n(&functions[f], __ATOMIC_RELAXED);
}

bool uhca_is_library(void *code, const char *name)
{
	const char *file;
	Dl_info info;

	if (!dladdr(code, &info) || !info.dli_fname)
		return false;
	file = strrchr(info.dli_fname, '/');
	return !strncmp(file ? file + 1 : info.dli_fname, name, strlen(name));
}

int uhca_real_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}
