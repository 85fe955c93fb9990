// SPDX-License-Identifier: BSD-2-Clause
module uhca.invalid/devices

go 1.19
