/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as an IP packet, and what is in it as a RoCEv2 packet: lengths that parse claims must
 * lie within the input; headers without options must be emitted as they were but for what emit
 * sets itself; an identification that the ICRC gives must make the ICRC right.
 */
#include "fuzz.h"

#include "wire/grh.h"
#include "wire/icrc.h"
#include "wire/udpip.h"

#include <string.h>

static void check_round_trip(const struct roce_flow *f, uint16_t ident, size_t payload)
{
	uint8_t bytes[ROCE_IPV6_LENGTH + ROCE_UDP_LENGTH + 1];
	struct roce_flow again;
	uint16_t ident_again;
	size_t payload_again;

	memset(&again, 0, sizeof(again));
	const size_t n = roce_udpip_emit(f, ident, 0, bytes);

	FUZZ_CHECK(n == (roce_flow_is_v4(f) ? 28 : 48));
	FUZZ_CHECK(roce_udpip_parse(bytes, n, &again, &ident_again, &payload_again) == n);
	FUZZ_CHECK(payload_again == 0 && ident_again == ident && payload <= UINT16_MAX);
	FUZZ_CHECK(memcmp(f, &again, sizeof(again)) == 0);
}

static void check_grh(const struct roce_flow *f, size_t payload)
{
	uint8_t grh[ROCE_GRH_LENGTH];
	struct roce_flow again;

	roce_grh_emit(f, payload, grh);
	FUZZ_CHECK(roce_grh_parse(grh, &again));
	FUZZ_CHECK(memcmp(f->src, again.src, 16) == 0 && memcmp(f->dst, again.dst, 16) == 0);
	FUZZ_CHECK(f->tclass == again.tclass);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roce_flow f;
	uint16_t ident;
	uint16_t solved;
	size_t payload;

	if (size >= ROCE_GRH_LENGTH)
		roce_grh_parse(data, &f);
	memset(&f, 0, sizeof(f));
	const size_t n = roce_udpip_parse(data, size, &f, &ident, &payload);

	if (n == 0)
		return 0;
	FUZZ_CHECK(n <= size && payload <= size - n);
	check_round_trip(&f, ident, payload);
	check_grh(&f, payload);
	if (roce_icrc_solve_ident(&f, data + n, payload, &solved))
		FUZZ_CHECK(roce_icrc_check(&f, solved, data + n, payload));
	return 0;
}
