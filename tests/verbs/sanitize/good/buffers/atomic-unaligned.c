/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/kinds.h"

#include <stddef.h>

struct record {
	uint32_t id;
	uint64_t counter;
};

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_add(&p, offsetof(struct record, counter));
	pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
