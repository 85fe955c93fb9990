/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way into libibverbs: a constructor (driver.c) registers the provider when it is loaded.
 * What can be asked of it here is for tests.
 */
#ifndef UHCAV_DRIVER_H
#define UHCAV_DRIVER_H

#include <stdbool.h>

/*
 * Does the libibverbs that runs have its op table in the layout of this generation (36, 59, 62,
 * 64)? False with a message in *why (static text).
 */
bool uhcav_driver_probe(int generation, const char **why);

#endif
