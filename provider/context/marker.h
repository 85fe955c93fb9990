/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The marker page: private memory where the daemon has asked for it (struct uhca_cmd_hello_reply).
 * By it process_vm_readv(2) and process_vm_writev(2) find out, in the same call, that this process
 * still has this address space. An exec takes it away; a child does not inherit it.
 */
#ifndef UHCAV_MARKER_H
#define UHCAV_MARKER_H

#include <stdint.h>

/* The page, or NULL where there is no room: the daemon then uses the descriptor of our memory. */
void *uhcav_marker_map(uint64_t where);
/* Of NULL: nothing. */
void uhcav_marker_unmap(void *page);

#endif
