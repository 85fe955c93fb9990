/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk from a key to memory (emu/abi/ctl.h, "walk") in words. */
#ifndef CTL_WALK_TEXT_H
#define CTL_WALK_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number of the walk; 0 where it has none of this name. */
uint64_t walk_number(const json_t *walk, const char *name);

#define WALK_ACCESS 160 /* bytes that hold all access flags in words */

/* What a description lists, such as "blocks, one after another", or one of it: "block". */
const char *walk_list_name(const json_t *step, bool one);

/* "local read, local write, ...": access flags in words; out holds cap bytes. Returns out. */
const char *walk_access(uint64_t access, char *out, size_t cap);

void walk_print_text(FILE *out, const json_t *walk);

#endif
