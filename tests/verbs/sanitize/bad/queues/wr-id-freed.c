/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

struct request {
	int number;
	char rest[60];
};

int main(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct request *r = malloc(sizeof(*r));
	struct pair p;

	pair_must(r != NULL, "memory");
	pair_open(&p);
	pair_recv(&p.b, (uintptr_t)r, 0, 64); /* <- */
	ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE);
	free(r);         /* <- */
	pair_wait(&p.b); /* <- */
	pair_close(&p);
	return 0;
}
