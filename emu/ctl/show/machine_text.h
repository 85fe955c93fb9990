/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the table "machine" as a tree: PCI from the root ports down, devices, their ports. */
#ifndef CTL_MACHINE_TEXT_H
#define CTL_MACHINE_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* False when the table is not one, or the output could not be written. */
bool machine_text_print(FILE *out, const json_t *table);

#endif
