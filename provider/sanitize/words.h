/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of a finding (finding.h), in the words that all findings use. */
#ifndef UHCAV_WORDS_H
#define UHCAV_WORDS_H

#include "shadow.h"

/* "SEND, wr_id 0x1, of RC QP 0x11", and what it aims at. */
void uhcav_words_request(const struct uhcav_shadow *s, const struct uhcav_request *r);

/* "64 bytes at 0x7f12..., L_Key 0x300". */
void uhcav_words_piece(const struct uhcav_piece *p);

/* "memory region 0x300: 4096 bytes from 0x7f...". */
void uhcav_words_region(const struct uhcav_object *mr);

/* How it is called: "SEND", and with its queue. */
struct uhcav_request_name uhcav_words_name(const struct uhcav_shadow *s,
					   const struct uhcav_request *r);
const char *uhcav_words_opcode(const struct uhcav_shadow *s, const struct uhcav_request *r);

#endif
