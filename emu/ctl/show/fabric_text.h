/* SPDX-License-Identifier: BSD-2-Clause */
/* The modelled network for people: how it is, its ports by their traffic, ways through it. */
#ifndef CTL_FABRIC_TEXT_H
#define CTL_FABRIC_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Three lines of the network's state, an answer to "fabric". */
void fabric_text_state(FILE *out, const json_t *state);

/* One line of a way, an element of the answer to the action "path". */
void fabric_text_path(FILE *out, const json_t *one);

#endif
