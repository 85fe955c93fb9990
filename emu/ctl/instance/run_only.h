/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --only: a directory that looks like the instance's and shows some of its devices. Its link "base"
 * leads to the instance, and its file "only" names the devices, for rdma_cm.
 */
#ifndef RUN_ONLY_H
#define RUN_ONLY_H

#include "emu/ctl/instance/instance.h"

struct run_only {
	char path[RUN_DIR_MAX + 16]; /* "": there is none */
};

/*
 * Makes it inside the directory of an instance, for the devices of the list "mlx5_0,mlx5_1". 0, or
 * -errno with the error printed (a device that the instance does not have).
 */
int run_only_make(const char *dir, const char *list, struct run_only *out);
void run_only_remove(const struct run_only *only);

#endif
