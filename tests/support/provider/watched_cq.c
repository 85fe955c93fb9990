/* SPDX-License-Identifier: BSD-2-Clause */
#include "watched_cq.h"

int watched_cq_setup(void **state)
{
	static struct watched_cq w;

	w = (struct watched_cq){.cq = {.lock = {.off = 1},
				       .entries = (uint8_t *)&w.entry,
				       .stride = sizeof(w.entry),
				       .page = &w.page,
				       .ctx = &w.context,
				       .hang = &w.hang},
				.hang = {.cq = &w.cq}};
	LIST_INIT(&uhcav_hang_cqs);
	LIST_INSERT_HEAD(&uhcav_hang_cqs, &w.hang, link);
	*state = &w;
	return 0;
}
