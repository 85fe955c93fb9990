/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the provider does for the preload library: libibverbs asks the kernel for some things
 * without asking the provider, the preload library catches those ioctls, and the provider answers
 * them. The provider finds uhca_preload_register by dlsym and calls it once.
 */
#ifndef UHCA_PRELOAD_HOOKS_H
#define UHCA_PRELOAD_HOOKS_H

#include <stdint.h>

struct uhca_preload_hooks {
	uint32_t size; /* of this struct; newer fields come at the end */
	uint32_t reserved;
	/*
	 * A new completion channel of the device opened as cmd_fd: a descriptor, or -1 and errno.
	 */
	int (*create_comp_channel)(int cmd_fd);
	/* The async descriptor of the context that was imported as cmd_fd, or -1. */
	int (*async_fd)(int cmd_fd);
	/*
	 * Around fork(3): behind all handlers of pthread_atfork(3) that come before it, and before
	 * those that come after it. The library installs its own when it is loaded, so that only
	 * handlers of libraries that were loaded before it lie outside.
	 */
	void (*fork_before)(void);
	void (*fork_in_parent)(void);
	void (*fork_in_child)(void);
};

/* Returns 0, or -1 when the struct is not one that this library understands. */
typedef int uhca_preload_register_fn(const struct uhca_preload_hooks *hooks);

#define UHCA_PRELOAD_REGISTER "uhca_preload_register"

#endif
