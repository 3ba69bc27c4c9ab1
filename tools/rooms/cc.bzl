# SPDX-License-Identifier: Apache-2.0
"""The rules of rules_cc, for C++ sources that are no room's: the headers of libraries are read once."""

load("@rules_cc//cc:defs.bzl", _binary = "cc_binary", _library = "cc_library", _test = "cc_test")
load(":room.bzl", "compiled")

def cc_binary(**kwargs):
    _binary(**compiled(kwargs))

def cc_library(**kwargs):
    _library(**compiled(kwargs))

def cc_test(**kwargs):
    _test(**compiled(kwargs, test = True))
