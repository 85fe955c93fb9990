/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way into libibverbs: a constructor (driver.c) registers the provider when it is loaded.
 * uhcav_driver_probe is here for tests.
 */
#ifndef UHCAV_DRIVER_H
#define UHCAV_DRIVER_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/*
 * Does the libibverbs that runs have its op table in the layout of this generation (33 to 36,
 * 59, 62, 64, 65)? False with a message in *why (static text).
 */
bool uhcav_driver_probe(int generation, const char **why);

/* Is it one of our devices that the library knows now? Any thread. */
bool uhcav_driver_has(const struct ibv_device *device);

#endif
