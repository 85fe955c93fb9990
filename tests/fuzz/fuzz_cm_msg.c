/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any 256 bytes as a MAD. Reserved bits are dropped, so the oracle is: emit gives bytes that parse
 * to the same message, and parsing and emitting once more changes nothing. The same for the RDMA
 * IP CM header at the start of the private data.
 */
#include "fuzz.h"

#include "wire/cm_msg.h"
#include "wire/cma_hdr.h"
#include "wire/mad.h"

#include <string.h>

static void check_cma_hdr(const uint8_t *private_data)
{
	uint8_t bytes[ROCE_CMA_HDR_LENGTH];
	struct roce_cma_hdr first;
	struct roce_cma_hdr second;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	if (!roce_cma_hdr_parse(private_data, &first))
		return;
	roce_cma_hdr_emit(&first, bytes);
	FUZZ_CHECK(roce_cma_hdr_parse(bytes, &second));
	FUZZ_CHECK(memcmp(&first, &second, sizeof(first)) == 0);
}

static void check_mad(const uint8_t *mad)
{
	uint8_t again[ROCE_MAD_HEADER_LENGTH];
	struct roce_mad header;

	roce_mad_parse(mad, &header);
	roce_mad_emit(&header, again);
	FUZZ_CHECK(memcmp(again, mad, sizeof(again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t first_bytes[ROCE_MAD_LENGTH];
	uint8_t second_bytes[ROCE_MAD_LENGTH];
	struct roce_cm_msg first;
	struct roce_cm_msg second;

	if (size < ROCE_MAD_LENGTH)
		return 0;
	check_mad(data);
	if (!roce_cm_parse(data, &first))
		return 0;
	FUZZ_CHECK(roce_cm_name((uint16_t)first.attr) != NULL);
	FUZZ_CHECK(roce_cm_emit(&first, first_bytes));
	FUZZ_CHECK(roce_cm_parse(first_bytes, &second));
	FUZZ_CHECK(memcmp(&first, &second, sizeof(first)) == 0);
	FUZZ_CHECK(roce_cm_emit(&second, second_bytes));
	FUZZ_CHECK(memcmp(first_bytes, second_bytes, sizeof(first_bytes)) == 0);
	if (first.attr == ROCE_CM_REQ)
		check_cma_hdr(first.req.private_data);
	else if (first.attr == ROCE_CM_SIDR_REQ)
		check_cma_hdr(first.sidr_req.private_data);
	return 0;
}
