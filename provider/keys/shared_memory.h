/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the program that the daemon has mapped, too (uhcadv_alloc_shared(3)). To the program it
 * is memory like any other; a region that lies in it completely is made of the daemon's mapping
 * (mr.c asks the list, base/shared_list.h).
 */
#ifndef UHCAV_SHARED_MEMORY_H
#define UHCAV_SHARED_MEMORY_H

#include <infiniband/verbs.h>
#include <stddef.h>

/* uhcadv_alloc_shared: page aligned, zeroed, of whole pages. NULL with errno. */
void *uhcav_alloc_shared(struct ibv_context *ibctx, size_t length);

/*
 * uhcadv_free_shared: 0, EBUSY while a region is registered in it, EINVAL for what is not the
 * beginning of a piece of this context. On a dead context it frees what is ours.
 */
int uhcav_free_shared(struct ibv_context *ibctx, void *addr);

#endif
