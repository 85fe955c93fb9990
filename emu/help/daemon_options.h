/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of uhcad that uhca-run hands on: name, argument and text (the first three fields of
 * struct option_row), so that both programs say the same.
 */
#ifndef HELP_DAEMON_OPTIONS_H
#define HELP_DAEMON_OPTIONS_H

#define OPTION_DEVICES "--devices", "N", "Number of devices: uhca0, uhca1 and so on. Default: 1."
#define OPTION_FIRST_DEVICE                                                                        \
	"--first-device", "N",                                                                     \
		"Names the devices from uhcaN on, for a daemon beside another one. Default: 0."
#define OPTION_ADDR                                                                                \
	"--addr", "IP[,IP...]",                                                                    \
		"Addresses of one device. Repeat it for the next device. Default: 127.0.0.1, "     \
		"127.0.0.2 and so on."
#define OPTION_NETDEV "--netdev", "IF", "Gives uhca0 the addresses of the network interface IF."
#define OPTION_MACHINE                                                                             \
	"--machine", "FILE|PRESET",                                                                \
		"Devices, ports and PCI as described: a file, see uhca-machine(5), or a preset, "  \
		"such as dgx-h100."
#define OPTION_PROFILE                                                                             \
	"--profile", "NAME",                                                                       \
		"Capabilities and limits: default, ib-strict, minimal, cx7, efa, rxe and others."
#define OPTION_LIMIT                                                                               \
	"--limit", "NAME=N", "Sets a limit of the devices, such as max_qp=64. Repeat it for others."
#define OPTION_FABRIC                                                                              \
	"--fabric", "FILE|NETWORK",                                                                \
		"Puts a modelled network between the devices: a file, or a generator such as "     \
		"one-switch:8, see uhca-sim(1)."
#define OPTION_FABRIC_SCALE                                                                        \
	"--fabric-scale", "N",                                                                     \
		"The modelled network runs N times slower than it says. Default: hosts have "      \
		"1 Gb/s."
#define OPTION_WIRE                                                                                \
	"--wire", NULL, "Sends all packets through UDP, also between devices of one daemon."
#define OPTION_NO_WIRE                                                                             \
	"--no-wire", NULL, "Opens no UDP socket. Only devices of this daemon reach each other."
#define OPTION_GSO                                                                                 \
	"--gso", "on|off", "UDP segmentation offload. Default: on where the kernel has it."
#define OPTION_CC                                                                                  \
	"--cc", "CONTROL[:KEY=VALUE,...]",                                                         \
		"Congestion control: dcqcn, dcqcn-mlx5, swift, dctcp, window or another one. "     \
		"Default: off."
#define OPTION_ICRC "--icrc", "MODE", "IPv4 ICRC check: strict, lenient or off. Default: lenient."
#define OPTION_MEM                                                                                 \
	"--mem", "WAY",                                                                            \
		"How the daemon reaches client memory: auto, process_vm or proc_mem. Default: auto."
#define OPTION_PIN                                                                                 \
	"--pin", "WHAT",                                                                           \
		"Registered memory that the daemon shares with the program: off, safe or all. "    \
		"Default: safe."
#define OPTION_EARLY_LOCAL_INV                                                                     \
	"--early-local-inv", NULL,                                                                 \
		"Executes LOCAL_INV without fence before earlier requests of the queue."
#define OPTION_STRICT_ARMING                                                                       \
	"--strict-arming", NULL,                                                                   \
		"Arming a CQ raises no event for completions that were there before."
#define OPTION_STRICT_ORDER                                                                        \
	"--strict-order", NULL, "Delivers shutdowns and disconnects without delay."
#define OPTION_STRICT_MEMORY                                                                       \
	"--strict-memory", NULL, "Reads payload when a request executes, never when it is posted."
#define OPTION_FAULT                                                                               \
	"--fault", "RULE", "Adds a fault rule, see uhca-fault(7). Repeat it for others."
#define OPTION_FAULT_FILE                                                                          \
	"--fault-file", "FILE", "Adds the fault rules of a file, one on each line."
#define OPTION_CHAOS                                                                               \
	"--chaos", "[=SEED,NAME,...]",                                                             \
		"Legal but rare device behaviour, chosen by SEED. uhca-run --chaos=help lists it."
#define OPTION_ON_ERROR                                                                            \
	"--on-error", "FILE",                                                                      \
		"Writes the last packets to FILE when a completion or queue pair fails."
#define OPTION_LOG_LEVEL                                                                           \
	"--log-level", "LEVEL",                                                                    \
		"Least level that is logged: error, warn, info or debug. Default: info."
#define OPTION_TRUST_PARENTS                                                                       \
	"--trust-parents", NULL, "Accepts a runtime directory that other users could rename."
#define OPTION_NO_SANDBOX                                                                          \
	"--no-sandbox", NULL, "Keeps all system calls and capabilities, for debugging."

#endif
