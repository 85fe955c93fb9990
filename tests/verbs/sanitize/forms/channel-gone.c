/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A completion channel is destroyed before its last event was waited for.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct pair p;
	void *context;

	pair_open(&p);
	channel = ibv_create_comp_channel(p.context);
	pair_must(channel && !ibv_destroy_comp_channel(channel), "a channel, destroyed");
	if (!mended)
		pair_must(ibv_get_cq_event(channel, &cq, &context) == -1, "being refused");
	pair_close(&p);
	return 0;
}
