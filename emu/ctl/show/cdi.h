/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a container needs to have the devices of an instance, in the words of the Container Device
 * Interface (CNCF's CDI specification, 0.3.0): mounts and variables of the environment, as
 * uhca-run sets them. Not for other instances: each has a specification of its own.
 */
#ifndef CTL_CDI_H
#define CTL_CDI_H

#include <jansson.h>

#define CDI_KIND "uhca.io/hca"
#define CDI_ALL  "all" /* the device that is always there */

/*
 * The specification. dir and preload are absolute: the runtime directory, and the preload library,
 * beside which the provider plugin is. table is the daemon's table of devices (ctl.h), whose first
 * column names them: a device each, and CDI_ALL. All of them lead to the whole instance. NULL when
 * memory is short, or a name is none that CDI allows.
 */
json_t *cdi_specification(const char *dir, const char *preload, const json_t *table);

#endif
