/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preload library's dealings with libibverbs and the provider: it names the provider to
 * libibverbs (RDMAV_DRIVERS), takes the provider's registration, and catches the ioctls that
 * libibverbs issues without the provider. It needs nothing but the C library, and without
 * UHCA_DIR it does nothing.
 */
#include "hooks.h"

#include "real.h"
#include "uverbs.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define EXPORT __attribute__((visibility("default")))

uhca_preload_register_fn uhca_preload_register;

static const struct uhca_preload_hooks *provider;

EXPORT int uhca_preload_register(const struct uhca_preload_hooks *hooks)
{
	if (hooks->size < sizeof(*hooks))
		return -1;
	__atomic_store_n(&provider, hooks, __ATOMIC_RELEASE);
	return 0;
}

static const struct uhca_preload_hooks *hooks_of_provider(void)
{
	return __atomic_load_n(&provider, __ATOMIC_ACQUIRE);
}

static void fork_before(void)
{
	if (hooks_of_provider())
		hooks_of_provider()->fork_before();
}

static void fork_in_parent(void)
{
	if (hooks_of_provider())
		hooks_of_provider()->fork_in_parent();
}

static void fork_in_child(void)
{
	if (hooks_of_provider())
		hooks_of_provider()->fork_in_child();
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (uhca_root() && uhca_uverbs_is_ours(fd, request))
		return uhca_uverbs_ioctl(fd, arg, hooks_of_provider());
	return UHCA_REAL(ioctl)(fd, request, arg);
}

/* Is item one of the entries of a list as RDMAV_DRIVERS has it? */
static bool listed(const char *list, const char *item)
{
	size_t len = strlen(item);

	while (list && *list) {
		size_t n = strcspn(list, ":;");
		if (n == len && !strncmp(list, item, n))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

/* $UHCA_PROVIDER, or "libuhca" beside this library; libibverbs appends the rest of the name. */
static bool provider_name(char *name, size_t size)
{
	const char *given = secure_getenv("UHCA_PROVIDER");
	const char *slash;
	Dl_info self;
	int n;

	if (given && *given)
		return (size_t)snprintf(name, size, "%s", given) < size;
	if (!dladdr((void *)&provider_name, &self) || !self.dli_fname)
		return false;
	slash = strrchr(self.dli_fname, '/');
	if (!slash)
		return false;
	n = snprintf(name, size, "%.*s/libuhca", (int)(slash - self.dli_fname), self.dli_fname);
	return n > 0 && (size_t)n < size;
}

__attribute__((constructor)) static void enter(void)
{
	const char *old = getenv("RDMAV_DRIVERS");
	char name[PATH_MAX], list[2 * PATH_MAX];
	int n;

	if (!uhca_root())
		return;
	pthread_atfork(fork_before, fork_in_parent, fork_in_child);
	if (!provider_name(name, sizeof(name)) || listed(old, name))
		return;
	n = snprintf(list, sizeof(list), "%s%s%s", name, old && *old ? ":" : "", old ? old : "");
	if (n > 0 && (size_t)n < sizeof(list))
		setenv("RDMAV_DRIVERS", list, 1);
}
