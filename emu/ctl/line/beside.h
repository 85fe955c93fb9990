/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs uhca-run, uhcactl and uhcad belong together: uhca-run and uhcactl stand in one
 * folder, in a build tree all three, with the libraries below it.
 */
#ifndef CTL_BESIDE_H
#define CTL_BESIDE_H

/*
 * Makes what this program starts find the others: the folder of this program in PATH (in front in a
 * build tree, else where it is not there yet); in a build tree its daemon and preload library, too,
 * unless UHCA_DAEMON and UHCA_PRELOAD say otherwise. 0, or -errno of readlink and setenv.
 */
int ctl_look_beside(void);

#endif
