/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file behind ibv_context.cmd_fd. A kernel's descriptor says by itself which context it is;
 * ours would be /dev/null. So it is replaced by a small sealed memory file that names the context
 * (cmd_import.h) and can be handed to other processes (ibv_import_device(3)).
 */
#ifndef UHCAV_CONTEXT_FILE_H
#define UHCAV_CONTEXT_FILE_H

#include "emu/abi/cmd_import.h"

/* Makes cmd_fd such a file, closed on exec. 0 or -errno; cmd_fd is then as it was. */
int uhcav_context_file_put(int cmd_fd, const struct uhca_abi_context_file *file);

/* Reads it: 0, or -EINVAL when fd is something else. */
int uhcav_context_file_get(int fd, struct uhca_abi_context_file *file);

#endif
