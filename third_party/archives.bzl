# SPDX-License-Identifier: Apache-2.0

"""Abseil and protobuf as archives, for a program of tests that is started often.

A program finds each symbol of its shared libraries when it starts, of Abseil's sixty and of protobuf
above all: with archives it starts in less than half of the instructions. Two things keep archives out
of what users get. Debian's fit into a program only, since their code depends on its position. And
who updates protobuf's package, or scans an image for it, would miss the copy in the program. So all
libraries name the shared ones, which the linker leaves away where archives have what is asked for.
"""

_ABSEIL = [
    "bad_optional_access",
    "bad_variant_access",
    "base",
    "city",
    "civil_time",
    "cord",
    "cord_internal",
    "cordz_functions",
    "cordz_handle",
    "cordz_info",
    "debugging_internal",
    "demangle_internal",
    "exponential_biased",
    "flags_commandlineflag",
    "flags_commandlineflag_internal",
    "flags_config",
    "flags_internal",
    "flags_marshalling",
    "flags_parse",
    "flags_private_handle_accessor",
    "flags_program_name",
    "flags_reflection",
    "flags_usage",
    "flags_usage_internal",
    "graphcycles_internal",
    "hash",
    "hashtablez_sampler",
    "int128",
    "log_severity",
    "low_level_hash",
    "malloc_internal",
    "raw_hash_set",
    "raw_logging_internal",
    "spinlock_wait",
    "stacktrace",
    "status",
    "statusor",
    "str_format_internal",
    "strerror",
    "strings",
    "strings_internal",
    "symbolize",
    "synchronization",
    "throw_delegate",
    "time",
    "time_zone",
]

# Link options of a cc_binary or cc_test.
ARCHIVES = (
    ["-Wl,--as-needed"] +
    ["-l:libabsl_%s.a" % name for name in _ABSEIL] +
    ["-l:libprotobuf.a"]
)
