/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared instances: attach to the daemon that runs in a directory, or start it. Any number of
 * uhca-run may do so at once.
 */
#ifndef RUN_SHARED_H
#define RUN_SHARED_H

#include "emu/ctl/instance/instance.h"
#include "run_options.h"

/*
 * Returns a descriptor connected to the daemon (>= 0): as long as it is open, the daemon does not
 * end for want of clients. Or -errno with the error printed.
 */
int run_shared_attach(const struct run_dir *dir, const struct run_options *options);

#endif
