/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which words the records of a capture have (emu/abi/packet_metadata.h), and what each can say: for
 * those who ask for records by their words and would wait for ever for one that is never written.
 */
#ifndef MODEL_VOCABULARY_H
#define MODEL_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Can a record of this kind say NAME=VALUE? 0; -ENOENT: it never has such a word; -EINVAL: the word
 * is never so. What there is instead goes to why.
 */
int model_vocabulary_check(const char *kind, const char *name, const char *value, char *why,
			   size_t cap);

#endif
