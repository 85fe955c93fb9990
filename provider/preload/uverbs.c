/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two of the kernel's methods matter. INVOKE_WRITE wraps the old write(2) commands: libibverbs
 * probes with a QUERY_DEVICE that has no room for the answer (ENOSPC means "yes, commands may
 * come this way"), and makes completion channels with CREATE_COMP_CHANNEL. ASYNC_EVENT_ALLOC
 * comes for imported contexts only: of others the provider has set the async descriptor before
 * libibverbs asks.
 */
#include "uverbs.h"

#include "emu/abi/cmd_import.h"
#include "real.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void uhca_uverbs_disguise(int fd, struct stat *st)
{
	struct uhca_abi_context_file file;
	int saved = errno;

	/* Few files are of this size and have no name: reading them is rare. */
	if (!S_ISREG(st->st_mode) || st->st_size != sizeof(file) || st->st_nlink != 0)
		return;
	if (pread(fd, &file, sizeof(file), 0) == (ssize_t)sizeof(file) &&
	    !memcmp(file.magic, UHCA_ABI_CONTEXT_MAGIC, sizeof(file.magic))) {
		st->st_mode = S_IFCHR | 0600;
		st->st_rdev = makedev(1, 3);
	}
	errno = saved;
}

bool uhca_uverbs_is_ours(int fd, unsigned long request)
{
	int saved = errno;
	struct stat st;
	bool ours;

	if (request != RDMA_VERBS_IOCTL)
		return false;
	ours = !uhca_real_fstat(fd, &st);
	if (ours) {
		uhca_uverbs_disguise(fd, &st);
		ours = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	}
	errno = saved;
	return ours;
}

static const struct ib_uverbs_attr *attr_find(const struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	for (unsigned i = 0; i < h->num_attrs; i++)
		if (h->attrs[i].attr_id == id)
			return &h->attrs[i];
	return NULL;
}

static int create_comp_channel(int fd, const struct ib_uverbs_attr *out,
			       const struct uhca_preload_hooks *hooks)
{
	struct ib_uverbs_create_comp_channel_resp response;
	int channel;

	if (!hooks || !out || out->len < sizeof(response)) {
		errno = EINVAL;
		return -1;
	}
	channel = hooks->create_comp_channel(fd);
	if (channel < 0)
		return -1;
	response.fd = (__u32)channel;
	memcpy((void *)(uintptr_t)out->data, &response, sizeof(response));
	return 0;
}

/* Asked for an imported context only: the provider has opened what there is to open. */
static int alloc_async(int fd, struct ib_uverbs_ioctl_hdr *h,
		       const struct uhca_preload_hooks *hooks)
{
	int async = hooks ? hooks->async_fd(fd) : -1;

	for (unsigned i = 0; async >= 0 && i < h->num_attrs; i++) {
		if (h->attrs[i].attr_id != UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
			continue;
		h->attrs[i].data_s64 = async;
		return 0;
	}
	errno = EINVAL;
	return -1;
}

int uhca_uverbs_ioctl(int fd, void *arg, const struct uhca_preload_hooks *hooks)
{
	struct ib_uverbs_ioctl_hdr *h = arg;
	const struct ib_uverbs_attr *cmd, *out;

	if (h->object_id == UVERBS_OBJECT_DEVICE && h->method_id == UVERBS_METHOD_INVOKE_WRITE) {
		cmd = attr_find(h, UVERBS_ATTR_WRITE_CMD);
		out = attr_find(h, UVERBS_ATTR_CORE_OUT);
		if (cmd && cmd->data == IB_USER_VERBS_CMD_QUERY_DEVICE && !out) {
			errno = ENOSPC;
			return -1;
		}
		if (cmd && cmd->data == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
			return create_comp_channel(fd, out, hooks);
	}
	if (h->object_id == UVERBS_OBJECT_ASYNC_EVENT &&
	    h->method_id == UVERBS_METHOD_ASYNC_EVENT_ALLOC)
		return alloc_async(fd, h, hooks);
	errno = EPROTONOSUPPORT;
	return -1;
}
