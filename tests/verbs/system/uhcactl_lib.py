#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""libuhcactl and libibverbs from Python without any package: a rule lets a call fail, a rule with
a mistake is refused at its column, an event arrives.

UHCACTL_LIBRARY names the library where it is not installed.
"""
import ctypes
import errno
import os
import unittest


class Error(ctypes.Structure):
    _fields_ = [("column", ctypes.c_uint), ("text", ctypes.c_char * 252)]


uhcactl = ctypes.CDLL(os.environ.get("UHCACTL_LIBRARY", "libuhcactl.so.0"))
uhcactl.uhcactl_open.restype = ctypes.c_void_p
uhcactl.uhcactl_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(Error)]
uhcactl.uhcactl_fault_hits.restype = ctypes.c_int64
for name in "close", "fault_add", "fault_remove", "fault_clear", "fault_hits", "counter":
    getattr(uhcactl, "uhcactl_" + name).argtypes = {
        "close": [ctypes.c_void_p],
        "fault_add": [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Error)],
        "fault_remove": [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Error)],
        "fault_clear": [ctypes.c_void_p, ctypes.POINTER(Error)],
        "fault_hits": [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Error)],
        "counter": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                    ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(Error)],
    }[name]

verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
for name in "ibv_open_device", "ibv_alloc_pd":
    getattr(verbs, name).restype = ctypes.c_void_p
    getattr(verbs, name).argtypes = [ctypes.c_void_p]
for name in "ibv_close_device", "ibv_dealloc_pd":
    getattr(verbs, name).argtypes = [ctypes.c_void_p]


class Faults(unittest.TestCase):
    def setUp(self):
        self.error = Error()
        self.ctl = uhcactl.uhcactl_open(None, ctypes.byref(self.error))
        self.assertTrue(self.ctl, self.error.text.decode())
        devices = verbs.ibv_get_device_list(None)
        self.assertTrue(devices and devices[0], "no device")
        self.context = verbs.ibv_open_device(devices[0])
        self.assertTrue(self.context)
        verbs.ibv_free_device_list(devices)

    def tearDown(self):
        uhcactl.uhcactl_fault_clear(self.ctl, None)
        uhcactl.uhcactl_close(self.ctl)
        self.assertEqual(verbs.ibv_close_device(self.context), 0)

    def rule(self, text):
        return uhcactl.uhcactl_fault_add(self.ctl, text.encode(), ctypes.byref(self.error))

    def test_call_fails_once(self):
        rule = self.rule("call.fail=ENOMEM call=alloc_pd nth=1")
        self.assertGreater(rule, 0, self.error.text.decode())
        self.assertFalse(verbs.ibv_alloc_pd(self.context))
        self.assertEqual(ctypes.get_errno(), errno.ENOMEM)
        self.assertEqual(uhcactl.uhcactl_fault_hits(self.ctl, rule, None), 1)
        pd = verbs.ibv_alloc_pd(self.context)
        self.assertTrue(pd)
        self.assertEqual(verbs.ibv_dealloc_pd(pd), 0)

    def test_mistake_has_a_column(self):
        self.assertEqual(self.rule("drop opcode=rc.ack nht=3"), -errno.EINVAL)
        self.assertEqual(self.error.column, 20)
        self.assertTrue(self.error.text)

    def test_counter(self):
        value = ctypes.c_uint64()
        self.assertEqual(uhcactl.uhcactl_counter(self.ctl, None, b"errors", ctypes.byref(value),
                                                 ctypes.byref(self.error)), 0)
        self.assertEqual(value.value, 0)


if __name__ == "__main__":
    unittest.main()
