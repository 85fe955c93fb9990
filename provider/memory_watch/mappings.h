/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that change what is mapped where. */
#ifndef UHCAV_MEMORY_MAPPINGS_H
#define UHCAV_MEMORY_MAPPINGS_H

/* Under the lock of memory_watch.c. */
void uhcav_mappings_listen(void);

#endif
