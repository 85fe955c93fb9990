/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of libibverbs and librdmacm are sent elsewhere. What the real libibverbs asks of the device
 * file when it makes a completion channel must find its answer; a librdmacm that is loaded late
 * must be found, and one that is bound lazily must work on.
 */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/got.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER 4711

static int asked_fd = -1;
static unsigned polls;

static int answer_ioctl(int fd, unsigned long request, ...)
{
	(void)request;
	asked_fd = fd;
	errno = ENOTTY;
	return -1;
}

static int answer_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	polls++;
	return poll(fds, n, timeout);
}

static pid_t answer_getppid(void)
{
	return ANSWER;
}

static const struct uhcav_got_call ioctl_only[] = {
	{.name = "ioctl", .answer = (void *)answer_ioctl}, {.name = NULL}};
static const struct uhcav_got_call poll_only[] = {{.name = "poll", .answer = (void *)answer_poll},
						  {.name = NULL}};
static const struct uhcav_got_call getppid_only[] = {
	{.name = "getppid", .answer = (void *)answer_getppid}, {.name = NULL}};

static void *symbol(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	assert_non_null(found);
	return found;
}

/* A context of the library without a provider: its own functions for the device file work. */
static void *new_context(struct ibv_device *dev, int cmd_fd, struct ibv_context **c)
{
	void *(*alloc)(struct ibv_device * dev, int fd, size_t size, void *offset, uint32_t id);
	char *base;

	*(void **)&alloc = symbol(RTLD_DEFAULT, "_verbs_init_and_alloc_context");
	base = alloc(dev, cmd_fd, 8192, NULL, 0);
	assert_non_null(base);
	*c = &((struct verbs_context *)(void *)base)->context;
	assert_ptr_equal((*c)->device, dev);
	return base;
}

static void test_comp_channel(void **state)
{
	static uint64_t device[256]; /* the library's struct verbs_device and more */
	void (*uninit)(void *context);
	struct ibv_context *c;
	int pipe_fds[2];
	void *base;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	assert_true(uhcav_got_patch(ioctl_only) >= 1);
	((int *)(void *)(device + (sizeof(struct ibv_device) + 8) / 8))[0] = 1000; /* refcount */
	base = new_context((void *)device, pipe_fds[0], &c);
	assert_null(ibv_create_comp_channel(c));
	assert_int_equal(asked_fd, pipe_fds[0]);
	*(void **)&uninit = symbol(RTLD_DEFAULT, "verbs_uninit_context");
	uninit(base); /* closes pipe_fds[0] */
	free(base);
	close(pipe_fds[1]);
}

/* rpoll(3) of a descriptor that is no rsocket is poll(2), called by librdmacm. */
static void test_loaded_late(void **state)
{
	int (*rpoll)(struct pollfd * fds, nfds_t n, int timeout);
	struct pollfd p = {.events = POLLIN};
	unsigned before, after;
	int pipe_fds[2];
	void *library;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	p.fd = pipe_fds[0];
	before = uhcav_got_patch(poll_only);
	assert_null(dlopen("librdmacm.so.1", RTLD_NOW | RTLD_NOLOAD));
	library = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	*(void **)&rpoll = symbol(library, "rpoll");
	assert_int_equal(rpoll(&p, 1, 0), 1);
	assert_int_equal(polls, 0);
	after = uhcav_got_patch(poll_only);
	assert_true(after > before);
	assert_int_equal(rpoll(&p, 1, 0), 1);
	assert_true(polls > 0);
	assert_int_equal(uhcav_got_patch(poll_only), after);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void *open_lazily(void)
{
	char path[PATH_MAX];
	void *library;

	snprintf(path, sizeof(path), "%s/tests/support/provider/.libs/librdmacm-lazy.so",
		 getenv("UHCA_BUILDDIR") ? getenv("UHCA_BUILDDIR") : ".");
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

/* The loader goes on to write into the table of such a library. */
static void test_bound_lazily(void **state)
{
	void *library = open_lazily();
	long (*ask_parent)(void), (*ask_self)(void);

	(void)state;
	*(void **)&ask_parent = symbol(library, "ask_parent");
	*(void **)&ask_self = symbol(library, "ask_self");
	assert_int_equal(uhcav_got_patch(getppid_only), 1);
	assert_int_equal(ask_parent(), ANSWER);
	assert_int_equal(ask_self(), getpid());
	assert_int_equal(ask_parent(), ANSWER);
	dlclose(library);
	library = open_lazily();
	*(void **)&ask_parent = symbol(library, "ask_parent");
	assert_int_equal(ask_parent(), getppid());
	assert_int_equal(uhcav_got_patch(getppid_only), 1);
	assert_int_equal(ask_parent(), ANSWER);
	dlclose(library);
}

static void test_nobody_calls_it(void **state)
{
	static const struct uhcav_got_call none[] = {
		{.name = "no_such_function", .answer = (void *)answer_getppid}, {.name = NULL}};

	(void)state;
	assert_int_equal(uhcav_got_patch(none), 0);
}

static unsigned walks;

int __real_dl_iterate_phdr(int (*what)(struct dl_phdr_info *, size_t, void *), void *arg);
int __wrap_dl_iterate_phdr(int (*what)(struct dl_phdr_info *, size_t, void *), void *arg);

int __wrap_dl_iterate_phdr(int (*what)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	walks++;
	return __real_dl_iterate_phdr(what, arg);
}

static unsigned walks_of(struct uhcav_got_call *calls)
{
	walks = 0;
	assert_true(uhcav_got_patch_all(calls));
	return walks;
}

/* While nothing is loaded, objects are counted and not searched. */
static void test_searched_once(void **state)
{
	static struct uhcav_got_call all[] = {
		{.name = "getppid", .answer = (void *)answer_getppid},
		{.name = NULL},
	};
	static struct uhcav_got_call none[] = {{.name = NULL}};
	void *library;
	unsigned first;

	(void)state;
	all[0].behind = symbol(RTLD_DEFAULT, "getppid");
	walks_of(none); /* finds us */
	first = walks_of(all);
	assert_int_equal(walks_of(all), first - 1);
	library = open_lazily();
	assert_int_equal(walks_of(all), first);
	assert_int_equal(walks_of(all), first - 1);
	dlclose(library);
}

/* Calls of everybody: bound or not. */
static void test_everybody(void **state)
{
	static struct uhcav_got_call all[] = {
		{.name = "getppid", .answer = (void *)answer_getppid},
		{.name = NULL},
	};
	void *library = open_lazily();
	long (*ask_parent)(void);

	(void)state;
	all[0].behind = symbol(RTLD_DEFAULT, "getppid");
	*(void **)&ask_parent = symbol(library, "ask_parent");
	assert_true(uhcav_got_patch_all(all));
	assert_int_equal(ask_parent(), ANSWER);
	assert_true(uhcav_got_patch_all(all));   /* nothing was loaded since */
	assert_int_not_equal(getppid(), ANSWER); /* ours is the object that is left out */
	dlclose(library);
	library = open_lazily();
	*(void **)&ask_parent = symbol(library, "ask_parent");
	assert_int_equal(ask_parent(), getppid()); /* bound now */
	assert_true(uhcav_got_patch_all(all));
	assert_int_equal(ask_parent(), ANSWER);
	dlclose(library);
}

static struct uhcav_got_call later[] = {{.name = "getppid"}, {.name = NULL}};

static pid_t answer_behind(void)
{
	pid_t (*behind)(void);

	*(void **)&behind = later[0].behind;
	return behind() + 1;
}

/* Who comes later is before the others, also where these come again; what is foreign is left. */
static void test_several(void **state)
{
	static struct uhcav_got_call all[] = {
		{.name = "getppid", .answer = (void *)answer_getppid},
		{.name = NULL},
	};
	static struct uhcav_got_call foreign[] = {{.name = "getppid"}, {.name = NULL}};
	void *library = open_lazily();
	long (*ask_parent)(void);

	(void)state;
	later[0].answer = (void *)answer_behind;
	all[0].behind = later[0].behind = symbol(RTLD_DEFAULT, "getppid");
	assert_true(uhcav_got_patch_all(all));
	assert_true(uhcav_got_patch_all(later));
	for (int i = 0; i < 2; i++) {
		*(void **)&ask_parent = symbol(library, "ask_parent");
		assert_int_equal(ask_parent(), ANSWER + 1);
		dlclose(library);
		library = open_lazily();
		assert_true(uhcav_got_patch_all(i ? later : all));
		assert_true(uhcav_got_patch_all(i ? all : later));
	}
	dlclose(library);
	library = open_lazily();
	*(void **)&ask_parent = symbol(library, "ask_parent");
	foreign[0].behind = all[0].behind;
	foreign[0].answer = symbol(RTLD_DEFAULT, "getpid");
	assert_true(uhcav_got_patch_all(foreign));
	assert_false(uhcav_got_patch_all(all));
	assert_int_equal(ask_parent(), getpid());
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comp_channel), cmocka_unit_test(test_loaded_late),
		cmocka_unit_test(test_bound_lazily), cmocka_unit_test(test_nobody_calls_it),
		cmocka_unit_test(test_everybody),    cmocka_unit_test(test_searched_once),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
