/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mode without a preload library: libibverbs' ioctl is sent to us. What the real library asks
 * of the device file when it opens it and makes a completion channel must find its answer.
 */
#include "../support/cmocka_all.h"

#include "got.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <unistd.h>

static int made_fd, asked_fd;

static int create_comp_channel(int cmd_fd)
{
	asked_fd = cmd_fd;
	made_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return made_fd;
}

static const struct uhca_preload_hooks hooks = {.size = sizeof(hooks),
						.create_comp_channel = create_comp_channel};

/* A context of the library without a provider: its own functions for the device file work. */
static void *new_context(struct ibv_device *dev, int cmd_fd, struct ibv_context **c)
{
	void *(*alloc)(struct ibv_device * dev, int fd, size_t size, void *offset, uint32_t id);
	char *base;

	*(void **)&alloc = dlsym(RTLD_DEFAULT, "_verbs_init_and_alloc_context");
	assert_non_null(alloc);
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
	struct ibv_comp_channel *channel;
	struct ibv_context *c;
	int cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	void *base;

	(void)state;
	assert_true(cmd_fd >= 0);
	assert_true(uhcav_got_patch(&hooks) >= 1);
	((int *)(void *)(device + (sizeof(struct ibv_device) + 8) / 8))[0] = 1000; /* refcount */
	base = new_context((void *)device, cmd_fd, &c);
	channel = ibv_create_comp_channel(c);
	assert_non_null(channel);
	assert_int_equal(channel->fd, made_fd);
	assert_int_equal(asked_fd, cmd_fd);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	*(void **)&uninit = dlsym(RTLD_DEFAULT, "verbs_uninit_context");
	uninit(base);
	free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_comp_channel)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
