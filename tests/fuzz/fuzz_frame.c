/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as an Ethernet frame. The layers that are found lie in the frame, and the fields of
 * each are within their room.
 */
#include "fuzz.h"

#include "wire/frame.h"

static void inside(const uint8_t *layer, size_t least, const uint8_t *data, size_t size)
{
	if (layer)
		FUZZ_CHECK(layer >= data && (size_t)(layer - data) + least <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[ROCE_FRAME_FIELDS];
	struct roce_frame f;

	if (!roce_frame_parse(data, size, &f)) {
		FUZZ_CHECK(size < ROCE_FRAME_MIN);
		return 0;
	}
	inside(f.eth, ROCE_FRAME_MIN, data, size);
	inside(f.ipv4, 20, data, size);
	inside(f.ipv6, 40, data, size);
	inside(f.tcp, 20, data, size);
	inside(f.udp, 8, data, size);
	inside(f.vxlan, 8, data, size);
	inside(f.gre, f.gre_key ? 8 : 4, data, size);
	FUZZ_CHECK(!(f.ipv4 && f.ipv6) && !(f.tcp && f.udp));
	for (int i = 0; i < ROCE_FRAME_LAYERS; i++)
		FUZZ_CHECK(roce_frame_fields(&f, (enum roce_frame_layer)i, out) <=
			   ROCE_FRAME_FIELDS);
	return 0;
}
