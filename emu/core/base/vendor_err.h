/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vendor error of a completion: where the device was when it found the error (UHCA_ABI_FOUND_*
 * of cqe.h), which the status alone does not tell, and for a NAK its syndrome.
 */
#ifndef CORE_VENDOR_ERR_H
#define CORE_VENDOR_ERR_H

#include "emu/abi/cause.h"
#include "emu/abi/cqe.h"
#include "wire/syndrome.h"

#include <stdbool.h>

static inline uint32_t vendor_err_nak(uint8_t code)
{
	return UHCA_ABI_FOUND_BY_PEER | (uint32_t)roce_syndrome(ROCE_NAK, code) << 8;
}

/* Of a request of a send queue; early: before it had been sent. */
static inline uint32_t vendor_err_send(uint8_t status, bool early)
{
	switch (status) {
	case UHCA_ABI_WC_SUCCESS:
		return 0;
	case UHCA_ABI_WC_WR_FLUSH_ERR:
		return UHCA_ABI_FOUND_IN_FLUSH;
	case UHCA_ABI_WC_RETRY_EXC_ERR:
		return UHCA_ABI_FOUND_BY_TIMER;
	case UHCA_ABI_WC_RNR_RETRY_EXC_ERR:
		return UHCA_ABI_FOUND_BY_RNR;
	case UHCA_ABI_WC_REM_INV_REQ_ERR:
		return vendor_err_nak(ROCE_NAK_INVALID_REQUEST);
	case UHCA_ABI_WC_REM_ACCESS_ERR:
		return vendor_err_nak(ROCE_NAK_REMOTE_ACCESS);
	case UHCA_ABI_WC_REM_OP_ERR:
		return vendor_err_nak(ROCE_NAK_REMOTE_OPERATIONAL);
	}
	return early ? UHCA_ABI_FOUND_IN_REQUEST : UHCA_ABI_FOUND_IN_RESPONSE;
}

/* Of a receive request. */
static inline uint32_t vendor_err_receive(uint8_t status)
{
	if (status == UHCA_ABI_WC_SUCCESS)
		return 0;
	return status == UHCA_ABI_WC_WR_FLUSH_ERR ? UHCA_ABI_FOUND_IN_FLUSH
						  : UHCA_ABI_FOUND_IN_RECEIVE;
}

/*
 * The vendor errors of mlx5, as ConnectX-5 (firmware 16.35.8002) and ConnectX-6 (20.40.1000) were
 * measured to give them (github.com/unionxic/rdma-fault-characterization, experiments/225-client/
 * 05_counter_mapping/results): vendor_err_synd, a byte that its provider hands on as it is
 * (rdma-core, providers/mlx5/cq.c). A status that is not among them has none here.
 */
enum {
	VENDOR_ERR_MLX5_NO_RIGHT = 0x33, /* LOC_PROT: the region lacks LOCAL_WRITE */
	VENDOR_ERR_MLX5_MEMORY = 0x51,   /* LOC_PROT: the same, github.com/NVIDIA/nccl/issues/214 */
	VENDOR_ERR_MLX5_LKEY = 0x52,     /* LOC_PROT: no such L_Key */
	VENDOR_ERR_MLX5_RANGE = 0x53,    /* LOC_PROT: beyond the region */
	VENDOR_ERR_MLX5_RETRY = 0x81,
	VENDOR_ERR_MLX5_RNR = 0x87,
	VENDOR_ERR_MLX5_ACCESS = 0x88,  /* the R_Key, or its range */
	VENDOR_ERR_MLX5_INVALID = 0x8a, /* the peer's QP does not allow it */
	VENDOR_ERR_MLX5_FLUSH = 0xf5,   /* ibv_modify_qp took the QP to ERR */
	/* An error did: the flushes behind it in github.com/NVIDIA/nccl/issues/1405 and 1814. */
	VENDOR_ERR_MLX5_FLUSH_FAILED = 0xf9,
};

/* Of a local protection error, by what was found to be wrong. */
static inline uint32_t vendor_err_mlx5_local(enum uhca_abi_cause_kind kind)
{
	if (kind == UHCA_ABI_CAUSE_RANGE)
		return VENDOR_ERR_MLX5_RANGE;
	if (kind == UHCA_ABI_CAUSE_KEY_RIGHT)
		return VENDOR_ERR_MLX5_NO_RIGHT;
	return kind == UHCA_ABI_CAUSE_MEMORY ? VENDOR_ERR_MLX5_MEMORY : VENDOR_ERR_MLX5_LKEY;
}

/* Of either queue; failed: an error took the QP to ERR. */
static inline uint32_t vendor_err_mlx5(uint8_t status, enum uhca_abi_cause_kind kind, bool failed)
{
	switch (status) {
	case UHCA_ABI_WC_WR_FLUSH_ERR:
		return failed ? VENDOR_ERR_MLX5_FLUSH_FAILED : VENDOR_ERR_MLX5_FLUSH;
	case UHCA_ABI_WC_RETRY_EXC_ERR:
		return VENDOR_ERR_MLX5_RETRY;
	case UHCA_ABI_WC_RNR_RETRY_EXC_ERR:
		return VENDOR_ERR_MLX5_RNR;
	case UHCA_ABI_WC_REM_INV_REQ_ERR:
		return VENDOR_ERR_MLX5_INVALID;
	case UHCA_ABI_WC_REM_ACCESS_ERR:
		return VENDOR_ERR_MLX5_ACCESS;
	case UHCA_ABI_WC_LOC_PROT_ERR:
		return vendor_err_mlx5_local(kind);
	}
	return 0;
}

#endif
