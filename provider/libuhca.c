/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libuhca.so: hands each call of <infiniband/uhcadv.h> to the plugin, if libibverbs has loaded it.
 * Before it has (no list of devices was asked for) and without it there is no device of ours,
 * and every call answers so.
 */
#include "dv_table.h"

#include "provider/base/base.h"

#include <dlfcn.h>
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))

static const struct uhcav_dv_table *found; /* atomic; the plugin stays loaded once it is found */

static const struct uhcav_dv_table *look_up(void)
{
	const struct uhcav_dv_table *table = NULL;
	void *handle = dlopen(UHCAV_PLUGIN_SONAME, RTLD_NOLOAD | RTLD_LAZY);

	if (handle)
		table = dlsym(handle, UHCAV_DV_TABLE);
	if (table)
		__atomic_store_n(&found, table, __ATOMIC_RELEASE);
	else if (handle)
		dlclose(handle);
	return table;
}

static const struct uhcav_dv_table *plugin(void)
{
	const struct uhcav_dv_table *table = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

	return table ? table : look_up();
}

static bool reaches(size_t end)
{
	const struct uhcav_dv_table *table = plugin();

	return table && table->size >= end;
}

/* Is there a plugin, and not one that is older than this function? */
#define HAS(field) reaches(offsetof(struct uhcav_dv_table, field) + sizeof(void *))

static void *unsupported(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

EXPORT bool uhcadv_is_supported(struct ibv_device *device)
{
	return HAS(is_supported) && plugin()->is_supported(device);
}

EXPORT int uhcadv_query_device(struct ibv_context *context, struct uhcadv_device_attr *attr,
			       size_t attr_size)
{
	return uhcav_failed(HAS(query_device) ? plugin()->query_device(context, attr, attr_size)
					      : EOPNOTSUPP);
}

EXPORT struct ibv_qp *uhcadv_create_qp(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr,
				       struct uhcadv_qp_init_attr *dv_attr)
{
	return HAS(create_qp) ? plugin()->create_qp(context, attr, dv_attr) : unsupported();
}

EXPORT struct ibv_mr *uhcadv_alloc_mr(struct ibv_pd *pd, uint32_t max_entries)
{
	return HAS(alloc_mr) ? plugin()->alloc_mr(pd, max_entries) : unsupported();
}

EXPORT int uhcadv_rereg_mr_interleaved(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
				       const struct uhcadv_interleaved *layout)
{
	return uhcav_failed(HAS(rereg_mr_interleaved)
				    ? plugin()->rereg_mr_interleaved(mr, attr, layout)
				    : EOPNOTSUPP);
}

EXPORT int uhcadv_rereg_mr_sg(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
			      const struct uhcadv_block *block, uint32_t n)
{
	return uhcav_failed(HAS(rereg_mr_sg) ? plugin()->rereg_mr_sg(mr, attr, block, n)
					     : EOPNOTSUPP);
}

EXPORT void *uhcadv_alloc_shared(struct ibv_context *context, size_t length)
{
	return HAS(alloc_shared) ? plugin()->alloc_shared(context, length) : unsupported();
}

EXPORT int uhcadv_free_shared(struct ibv_context *context, void *addr)
{
	return uhcav_failed(HAS(free_shared) ? plugin()->free_shared(context, addr) : EOPNOTSUPP);
}

EXPORT int uhcadv_post_send(struct ibv_qp *qp, struct uhcadv_send_wr *wr,
			    struct uhcadv_send_wr **bad_wr)
{
	if (HAS(post_send))
		return plugin()->post_send(qp, wr, bad_wr);
	*bad_wr = wr;
	return uhcav_failed(EOPNOTSUPP);
}

EXPORT struct uhcadv_qp_ex *uhcadv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
	return HAS(qp_ex_from_ibv_qp_ex) ? plugin()->qp_ex_from_ibv_qp_ex(qp) : unsupported();
}

EXPORT const char *uhcadv_wc_opcode_str(int opcode)
{
	switch (opcode) {
	case IBV_WC_SEND:
		return "SEND";
	case IBV_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case IBV_WC_RDMA_READ:
		return "RDMA_READ";
	case IBV_WC_COMP_SWAP:
		return "COMP_SWAP";
	case IBV_WC_FETCH_ADD:
		return "FETCH_ADD";
	case IBV_WC_BIND_MW:
		return "BIND_MW";
	case IBV_WC_LOCAL_INV:
		return "LOCAL_INV";
	case IBV_WC_TSO:
		return "TSO";
	case 8: /* newer than the oldest headers we are built with */
		return "FLUSH";
	case 9:
		return "ATOMIC_WRITE";
	case UHCADV_WC_REG_MR:
		return "REG_MR";
	case UHCADV_WC_REG_INTERLEAVED:
		return "REG_INTERLEAVED";
	case UHCADV_WC_REG_SG:
		return "REG_SG";
	case UHCADV_WC_READ_WITH_INV:
		return "READ_WITH_INV";
	case UHCADV_WC_MASKED_CMP_SWP:
		return "MASKED_CMP_SWP";
	case UHCADV_WC_MASKED_FETCH_ADD:
		return "MASKED_FETCH_ADD";
	case IBV_WC_RECV:
		return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
	default:
		return "unknown";
	}
}
