/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run and uhcactl start each other: they stand in one folder.
 */
#ifndef CTL_BESIDE_H
#define CTL_BESIDE_H

/* Puts the folder of this program in front of PATH. 0, or -errno of readlink and setenv. */
int ctl_look_beside(void);

#endif
