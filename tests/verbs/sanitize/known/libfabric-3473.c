/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/3473
 *
 * The way out of an error destroys the queue pair of a connection, which may not have been made by
 * then: the pointer is NULL.
 *
 * Found by: verb-crashed
 */
#include "tests/verbs/sanitize/pair.h"

struct connection {
	struct ibv_qp *qp;
};

static void clean_up(const struct connection *c, bool mended)
{
	if (!mended || c->qp)
		ibv_destroy_qp(c->qp);
}

int main(int argc, char **argv)
{
	struct connection c = {NULL};
	struct pair p;

	pair_open(&p);
	clean_up(&c, pair_mended(argc, argv));
	pair_close(&p);
	return 0;
}
