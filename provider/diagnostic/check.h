/* SPDX-License-Identifier: BSD-2-Clause */
/* Which checks are on: what $UHCA_SANITIZE says (names and groups of emu/abi/sanitize.h). */
#ifndef UHCAV_CHECK_H
#define UHCAV_CHECK_H

#include "emu/abi/sanitize.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A list of names and groups ("all": those of "sum" and "strict"), separated by commas; "-name"
 * takes one out again. 0 with *checks (bit c: check c), or -EINVAL for a word that is neither.
 */
int uhcav_check_parse(const char *list, uint64_t *checks);

/* Turns them on for this process, before there are objects to watch. */
void uhcav_check_enable(uint64_t checks);

bool uhcav_check_on(enum uhca_check check);
bool uhcav_check_any(void);
const char *uhcav_check_name(enum uhca_check check);

#endif
