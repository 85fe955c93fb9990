/* SPDX-License-Identifier: BSD-2-Clause */
/* The connected queue pairs of this process; and how findings speak of an end. */
#ifndef UHCAV_ENDS_H
#define UHCAV_ENDS_H

#include "ask.h"
#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* What is known of one: a copy. */
struct uhcav_end {
	const struct ibv_qp *qp;
	const struct uhcav_stack *connected; /* its peer was named there; NULL: nowhere */
	uint32_t posts;                      /* since then */
};

void uhcav_end_connect(const struct ibv_qp *qp, const struct uhcav_stack *stack);
void uhcav_end_forget(const struct ibv_qp *qp);

/* Counts a post. False: the queue pair is connected with nothing. */
bool uhcav_end_posts(const struct ibv_qp *qp, struct uhcav_end *out);

/* "QP 0x11 of uhca0", with its process where that is another one. */
#define UHCAV_END_WORDS 96u
const char *uhcav_end_words(const struct uhca_abi_end *e, char words[UHCAV_END_WORDS]);

#endif
