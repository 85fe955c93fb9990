/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An rdma_cm_id is destroyed in an event's handler, and its owner goes on with it.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <rdma/rdma_cma.h>

static void end_connection(struct rdma_cm_id *id)
{
	pair_must(!rdma_destroy_id(id), "rdma_destroy_id");
}

/* Ids with channels of their own come and go, and new ones have the memory of old ones. */
static void come_and_go(void)
{
	struct rdma_cm_id *id;
	int on = 1;

	for (unsigned i = 0; i < 1500; i++) {
		pair_must(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) &&
				  !rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
						   &on, sizeof(on)) &&
				  !rdma_destroy_id(id),
			  "an id");
	}
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	bool mended = pair_mended(argc, argv);
	struct rdma_cm_id *id;

	pair_must(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "an id");
	end_connection(id);
	if (mended)
		come_and_go();
	if (!mended)
		pair_must(rdma_disconnect(id) == -1, "being refused");
	rdma_destroy_event_channel(channel);
	return 0;
}
