/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where instances live, as uhca-run and uhcad have it: $XDG_RUNTIME_DIR/uhca/NAME, or
 * ${TMPDIR:-/tmp}/uhca-UID/NAME.
 */
#ifndef CTL_INSTANCE_DIR_H
#define CTL_INSTANCE_DIR_H

#include <stddef.h>

/* The directory of the shared instance: 0; -EINVAL: no name; -ENAMETOOLONG. */
int ctl_instance_dir(const char *name, char *out, size_t cap);

#endif
