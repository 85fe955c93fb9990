/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

struct message {
	uint32_t offset;
};

int main(void)
{
	struct message m[2];
	struct pair p;

	pair_open(&p);
	for (uint32_t i = 0; i < 3; i++) {
		m[i % 2].offset = i * 64;
		pair_recv(&p.a, (uintptr_t)&m[i % 2], i * 64, 64); /* <- */
	}
	pair_close(&p);
	return 0;
}
