/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs uhca-run, uhcactl and uhcad belong together. uhca-run and uhcactl stand in one
 * folder. In a build tree the daemon stands there, too, with the libraries below it. Installed
 * below one prefix they are in bin/, sbin/, lib/uhca/, libexec/uhca/ and share/uhca/, and that
 * prefix may be moved: the tarball for all systems is such a folder.
 */
#ifndef CTL_BESIDE_H
#define CTL_BESIDE_H

/*
 * Makes what this program starts find the others. The folder of this program is put into PATH: in
 * front in a build tree, at the end elsewhere. Where the other parts lie beside it as above,
 * UHCA_DAEMON, UHCA_PRELOAD, UHCA_SANITIZER, UHCA_STOCK_SUPPRESSIONS and UHCA_MACHINES name them,
 * unless they are set; elsewhere the places that the build was configured with hold. 0, or -errno
 * of readlink and setenv.
 */
int ctl_look_beside(void);

#endif
