// SPDX-License-Identifier: BSD-2-Clause
module example.org/fromrxe

go 1.19
