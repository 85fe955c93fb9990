/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The null region, dma-bufs, and advice about on-demand regions. A dma-buf is memory that the
 * program may never have mapped; it is mapped here for as long as it is registered, and is then
 * memory of this process like any other.
 */
#include "special_mr.h"

#include "mr.h"
#include "provider/base/base.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

struct ibv_mr *uhcav_alloc_null_mr(struct ibv_pd *pd)
{
	struct uhca_cmd_handle request = {.handle = pd->handle};
	struct uhcav_mr *mr = uhcav_mr_make(pd, UHCA_CMD_ALLOC_NULL_MR, &request.h, sizeof(request),
					    UHCAV_MR_NULL, NULL);

	if (!mr)
		return NULL;
	mr->v.access = IBV_ACCESS_LOCAL_WRITE;
	mr->v.mr.length = SIZE_MAX;
	return &mr->v.mr;
}

/* ---- dma-bufs ---- */

#define DMABUF_ACCESS                                                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING)

struct piece {
	char *map; /* from the page in which it begins */
	size_t map_size;
	size_t skip;
};

static int check_dmabuf(uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	off_t saved, size;

	if (access & ~DMABUF_ACCESS)
		return uhcav_because(-EOPNOTSUPP, "access 0x%x has bits beyond 0x%x",
				     (unsigned)access, (unsigned)DMABUF_ACCESS);
	if (!length || offset + length < offset)
		return uhcav_because(-EINVAL, "offset %llu and length %zu are not a valid range",
				     (unsigned long long)offset, length);
	if (offset % page != iova % page)
		return uhcav_because(-EINVAL, "offset %llu and iova 0x%llx differ within a page",
				     (unsigned long long)offset, (unsigned long long)iova);
	saved = lseek(fd, 0, SEEK_CUR); /* a dma-buf tells its size in this way only */
	size = lseek(fd, 0, SEEK_END);
	if (size < 0)
		return uhcav_because(errno == EBADF ? -EBADF : -EINVAL,
				     "fd %d is not open, or has no size", fd);
	if (saved >= 0)
		lseek(fd, saved, SEEK_SET);
	if (offset + length > (uint64_t)size)
		return uhcav_because(-EINVAL,
				     "offset %llu and length %zu exceed the %lld bytes of fd %d",
				     (unsigned long long)offset, length, (long long)size, fd);
	return 0;
}

static int map_dmabuf(uint64_t offset, size_t length, int fd, int access, struct piece *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool writable = access & IBV_ACCESS_LOCAL_WRITE;

	out->skip = offset % page;
	out->map_size = length + out->skip;
	out->map = mmap(NULL, out->map_size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			MAP_SHARED, fd, (off_t)(offset - out->skip));
	if (out->map == MAP_FAILED)
		return uhcav_because(-EINVAL, "fd %d cannot be mapped for access 0x%x", fd,
				     (unsigned)access);
	if (uhcav_mem_probe(out->map + out->skip, length, writable)) {
		munmap(out->map, out->map_size);
		return uhcav_because(
			-EOPNOTSUPP,
			"the mapping of fd %d is not memory that the device can access", fd);
	}
	return 0;
}

struct ibv_mr *uhcav_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access)
{
	struct piece piece;
	struct ibv_mr *ibmr;
	struct uhcav_mr *mr;
	int err = check_dmabuf(offset, length, iova, fd, access);

	if (!err)
		err = map_dmabuf(offset, length, fd, access, &piece);
	if (err)
		return uhcav_no_object(
			NULL, uhcav_refused(uhcav_context_of(pd->context), "reg_dmabuf_mr", err));
	ibmr = uhcav_reg_mr(pd, piece.map + piece.skip, length, iova, access);
	if (!ibmr) {
		err = errno;
		munmap(piece.map, piece.map_size);
		errno = err;
		return NULL;
	}
	mr = (struct uhcav_mr *)ibmr;
	mr->v.mr_type = UHCAV_MR_DMABUF;
	mr->mapping = piece.map;
	mr->mapping_size = piece.map_size;
	return ibmr;
}

/* ---- advice ---- */

/* One message's worth: does the device find it right? */
static int ask_device(struct ibv_pd *pd, struct uhca_cmd_advise_mr *request,
		      const struct ibv_sge *sge, uint32_t n)
{
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_ADVISE_MR, request);

	request->num_sge = n;
	for (uint32_t i = 0; i < n; i++) {
		request->sge[i].addr = sge[i].addr;
		request->sge[i].length = sge[i].length;
		request->sge[i].lkey = sge[i].lkey;
	}
	return uhcav_context_call(uhcav_context_of(pd->context), &call);
}

/* Nothing for memory that is not ours: its owner may be advised. */
static int bring_in(const struct uhcav_mr_table *t, const struct ibv_sge *sge, bool writable)
{
	const void *at = uhcav_mr_table_locate(t, sge->lkey, sge->addr, sge->length);

	return at && sge->length ? uhcav_mem_probe(at, sge->length, writable) : 0;
}

int uhcav_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct uhca_cmd_advise_mr request = {
		.pd = pd->handle, .advice = (uint32_t)advice, .flags = flags};
	const struct uhcav_mr_table *t = &uhcav_context_of(pd->context)->regions;
	uint32_t done = 0;
	int err = 0;

	do {
		uint32_t n = num_sge - done;
		if (n > UHCA_ABI_ADVISE_SGES)
			n = UHCA_ABI_ADVISE_SGES;
		err = ask_device(pd, &request, sg_list + done, n);
		done += n;
	} while (!err && done < num_sge);
	if (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return uhcav_result(err); /* what is there is there */
	for (uint32_t i = 0; i < num_sge && !err; i++)
		if (bring_in(t, &sg_list[i], advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE))
			err = uhcav_refuse(
				uhcav_context_of(pd->context), "advise_mr", -EFAULT,
				"element %u, 0x%llx + %u, is not mapped with the needed access", i,
				(unsigned long long)sg_list[i].addr, sg_list[i].length);
	return uhcav_result(err);
}
