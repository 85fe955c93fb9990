/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device's word for where a queue lies is checked once, here, so that posting can trust it.
 */
#include "work_queue.h"

#include "provider/context/context.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int uhcav_work_queue_init(struct uhcav_work_queue *wq, void *base, size_t size,
			  const struct uhca_abi_queue_layout *layout, uint32_t min_stride)
{
	uint64_t bytes = (uint64_t)layout->entries * layout->stride;
	uint64_t data = (uint64_t)layout->entries * layout->data_stride;

	if (!layout->entries)
		return 0;
	if ((layout->entries & (layout->entries - 1)) || layout->stride < min_stride ||
	    layout->stride % 8 || layout->offset % 8 || wq->max_wr > layout->entries)
		return -EPROTO;
	if (layout->offset < sizeof(struct uhca_abi_queue) || layout->offset > size ||
	    bytes > size - layout->offset)
		return -EPROTO;
	if (data && (layout->data_offset > size || data > size - layout->data_offset))
		return -EPROTO;
	wq->mask = layout->entries - 1;
	wq->stride = layout->stride;
	wq->entries = (uint8_t *)base + layout->offset;
	return 0;
}

int uhcav_work_queue_map(struct uhcav_work_queue *wq, const struct uhca_cmd_create_srq_reply *r,
			 int fd, struct uhca_abi_queue **page)
{
	void *base;
	int err = uhcav_context_map(fd, r->region_size, true, UHCA_ABI_REGION_SRQ, &base);

	if (err)
		return err;
	wq->max_wr = r->max_wr;
	wq->max_sge = r->max_sge;
	wq->ring = &((struct uhca_abi_queue *)base)->recv;
	err = uhcav_work_queue_init(wq, base, r->region_size, &r->recv,
				    UHCA_ABI_RECV_STRIDE(r->max_sge));
	if (!err && !wq->entries)
		err = -EPROTO;
	if (err)
		munmap(base, r->region_size);
	else
		*page = base;
	return err;
}

int uhcav_work_queue_keep_notes(struct uhcav_work_queue *wq, struct ibv_pd *pd, uint64_t type)
{
	size_t size = ((size_t)wq->mask + 1) * 2 * sizeof(*wq->posted);
	int err;

	if (!wq->entries)
		return 0;
	err = uhcav_buffer_alloc(&wq->notes, pd, size, type);
	if (err)
		return err;
	memset(wq->notes.ptr, 0, size);
	wq->posted = wq->notes.ptr;
	return 0;
}

void uhcav_work_queue_free_notes(struct uhcav_work_queue *wq, uint64_t type)
{
	uhcav_buffer_free(&wq->notes, type);
	wq->posted = NULL;
}
