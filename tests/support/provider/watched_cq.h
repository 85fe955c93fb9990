/* SPDX-License-Identifier: BSD-2-Clause */
/* A completion queue of one entry, alone in the book of hang/, without a device behind it. */
#ifndef TESTS_SUPPORT_WATCHED_CQ_H
#define TESTS_SUPPORT_WATCHED_CQ_H

#include "provider/hang/book.h"

struct watched_cq {
	struct uhca_abi_cqe entry; /* its sequence set to 1: it waits to be polled */
	struct uhca_abi_cq page;
	struct uhcav_context context;
	struct uhcav_cq cq;
	struct uhcav_hang_cq hang;
};

/* For cmocka: *state becomes the queue, which stays the tests'. */
int watched_cq_setup(void **state);

#endif
