/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of open devices when the process forks. */
#ifndef UHCAV_FORK_H
#define UHCAV_FORK_H

/* Installs the fork handlers, the first time it is called. */
void uhcav_fork_prepare_once(void);

#endif
