/* SPDX-License-Identifier: BSD-2-Clause */
/* What "rdma resource" asks (iproute2, rdma/res*.c): objects of the devices, from the daemon. */
#ifndef UHCA_NLDEV_RESOURCES_H
#define UHCA_NLDEV_RESOURCES_H

#include "message.h"

#include <dirent.h>

/*
 * RDMA_NLDEV_CMD_RES_GET, of one device or all, and dumps of one device by RES_QP_GET, RES_CQ_GET,
 * RES_MR_GET, RES_PD_GET, RES_CM_ID_GET, RES_CTX_GET and RES_SRQ_GET. 0, or -EOPNOTSUPP for another
 * command and for one object, -EINVAL without an index, -ENODEV for one of nothing, -EIO when the
 * daemon does not answer.
 */
int nldev_answer_resources(const struct nldev_request *r, struct dirent **devices, uint32_t n);

#endif
