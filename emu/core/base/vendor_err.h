/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vendor error of a completion: where the device was when it found the error (UHCA_ABI_FOUND_*
 * of cqe.h), which the status alone does not tell, and for a NAK its syndrome.
 */
#ifndef CORE_VENDOR_ERR_H
#define CORE_VENDOR_ERR_H

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

#endif
