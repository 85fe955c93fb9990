/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a packet from BTH up to before the ICRC. What parses must be emitted as it was;
 * and what is emitted must parse to the same values. Printing must stay within its buffer.
 */
#include "fuzz.h"

#include "wire/packet.h"
#include "wire/print.h"

#include <string.h>

static void check_fields(const struct roce_packet *pkt, const uint8_t *data, size_t size)
{
	const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);

	FUZZ_CHECK(info->name != NULL);
	FUZZ_CHECK(info->header_length + pkt->payload_len + pkt->bth.pad == size);
	FUZZ_CHECK(pkt->payload_len <= ROCE_MAX_MTU);
	FUZZ_CHECK((pkt->payload == NULL) == (pkt->payload_len == 0));
	FUZZ_CHECK(pkt->payload_len == 0 || pkt->payload == data + info->header_length);
	FUZZ_CHECK(pkt->payload_len == 0 || (info->headers & ROCE_HDR_PAYLOAD));
}

static void check_text(const struct roce_packet *pkt)
{
	char text[ROCE_PRINT_LENGTH];
	const size_t len = roce_print_packet(pkt, text, sizeof(text));

	FUZZ_CHECK(len < sizeof(text) && strlen(text) == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t again[ROCE_MAX_PACKET_LENGTH];
	struct roce_packet pkt;
	const enum roce_parse_result r = roce_packet_parse(data, size, &pkt);

	FUZZ_CHECK(roce_parse_name(r) != NULL);
	if (r != ROCE_PARSE_OK)
		return 0;
	check_fields(&pkt, data, size);
	check_text(&pkt);
	FUZZ_CHECK(roce_packet_emit(&pkt, again, sizeof(again)) == size);
	FUZZ_CHECK(memcmp(again, data, size) == 0);
	return 0;
}
