/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of C++ functions (and of Rust's, as older compilers make them), as their authors write
 * them. */
#ifndef DEMANGLE_H
#define DEMANGLE_H

/*
 * What a linker's name stands for; the name itself if it is none of C++, or libstdc++, which is
 * asked, is not there. The string lives as long as the process; name must, too.
 */
const char *demangle(const char *name);

#endif
