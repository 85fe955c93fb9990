/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between libuhca.so, which programs link, and the plugin, which libibverbs loads: the plugin
 * exports one table of functions, each of which does what the call of the same name in uhcadv.h
 * says. libuhca has no other way into the plugin. New functions come at the end.
 */
#ifndef UHCAV_DV_TABLE_H
#define UHCAV_DV_TABLE_H

#include <infiniband/uhcadv.h>
#include <stdbool.h>
#include <stddef.h>

#define UHCAV_PLUGIN_SONAME "libuhca-rdmav34.so" /* under whatever name it was loaded */
#define UHCAV_DV_TABLE      "uhcav_dv_table"

struct uhcav_dv_table {
	size_t size; /* of the plugin's struct: functions behind it do not exist */
	bool (*is_supported)(struct ibv_device *device);
	int (*query_device)(struct ibv_context *context, struct uhcadv_device_attr *attr,
			    size_t attr_size);
	struct ibv_qp *(*create_qp)(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				    struct uhcadv_qp_init_attr *dv_attr);
	struct ibv_mr *(*alloc_mr)(struct ibv_pd *pd, uint32_t max_entries);
	int (*rereg_mr_interleaved)(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
				    const struct uhcadv_interleaved *layout);
	int (*rereg_mr_sg)(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
			   const struct uhcadv_block *block, uint32_t n);
	void *(*alloc_shared)(struct ibv_context *context, size_t length);
	int (*free_shared)(struct ibv_context *context, void *addr);
	int (*post_send)(struct ibv_qp *qp, struct uhcadv_send_wr *wr,
			 struct uhcadv_send_wr **bad_wr);
	struct uhcadv_qp_ex *(*qp_ex_from_ibv_qp_ex)(struct ibv_qp_ex *qp);
};

#endif
