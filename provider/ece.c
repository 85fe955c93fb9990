/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing is agreed on, and nothing needs the device. */
#include "ece.h"

#include <errno.h>

/* Ours, with no option: who passes it on through librdmacm must have a vendor to name. */
#define VENDOR_ID 0x75ca

int uhcav_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	(void)ibqp;
	*ece = (struct ibv_ece){.vendor_id = VENDOR_ID};
	return 0;
}

int uhcav_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (ece->comp_mask || (ece->vendor_id && ece->vendor_id != VENDOR_ID) || ece->options)
		return EINVAL;
	return uhcav_query_ece(ibqp, ece);
}
