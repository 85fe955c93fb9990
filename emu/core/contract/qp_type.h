/* SPDX-License-Identifier: BSD-2-Clause */
/* The services that a queue pair can have: values of enum ibv_qp_type. */
#ifndef CORE_QP_TYPE_H
#define CORE_QP_TYPE_H

enum qp_type {
	QPT_RC = 2,
	QPT_UC = 3,
	QPT_UD = 4,
	QPT_RAW_PACKET = 8,
	QPT_XRC_SEND = 9,
	QPT_XRC_RECV = 10,
};

#endif
