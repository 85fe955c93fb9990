/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a device refused or failed something (emu/abi/cause.h): read from the words of a capture, and
 * said in a sentence. Every view says it with these words.
 */
#ifndef MODEL_CAUSES_H
#define MODEL_CAUSES_H

#include "emu/abi/cause.h"
#include "emu/model/read/read.h"

#include <stdbool.h>
#include <stddef.h>

#define MODEL_CAUSE_MAX 240 /* bytes of a sentence */

/* False: the words have none that is known here. */
bool model_cause_read(const struct model_word *word, unsigned n, struct uhca_abi_cause *out);

/* A clause without a capital and a full stop: "key 0x123 names nothing". Returns buf. */
const char *model_cause_text(const struct uhca_abi_cause *c, char *buf, size_t cap);

#endif
