#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merges coverage of C++ tests into one lcov trace file.

Stands in for Bazel's CoverageOutputGenerator, a Java tool that Bazel would
download. Bazel calls it after each test with --coverage_dir, which holds gcov's
JSON files, and once per run with --reports_file, a list of such trace files.
"""

import argparse
import collections
import glob
import gzip
import json
import re


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--coverage_dir")
    parser.add_argument("--reports_file")
    parser.add_argument("--output_file", required=True)
    parser.add_argument("--filter_sources", action="append", default=[])
    parser.add_argument("--source_file_manifest")
    args, _ = parser.parse_known_args()

    lines = collections.defaultdict(collections.Counter)
    functions = collections.defaultdict(dict)
    hits = collections.defaultdict(collections.Counter)
    if args.coverage_dir:
        for path in glob.glob(args.coverage_dir + "/**/*.gcov.json.gz", recursive=True):
            with gzip.open(path) as stream:
                report = json.load(stream)
            for entry in report["files"]:
                name = entry["file"]
                for line in entry["lines"]:
                    lines[name][line["line_number"]] += line["count"]
                for function in entry["functions"]:
                    functions[name][function["name"]] = function["start_line"]
                    hits[name][function["name"]] += function["execution_count"]
    reports = []
    if args.reports_file:
        with open(args.reports_file) as stream:
            reports = stream.read().split()
    for path in reports:
        with open(path) as stream:
            for record in stream:
                kind, _, value = record.rstrip("\n").partition(":")
                if kind == "SF":
                    name = value
                elif kind == "DA":
                    number, count = value.split(",")[:2]
                    lines[name][int(number)] += int(count)
                elif kind == "FN":
                    number, function = value.split(",", 1)
                    functions[name][function] = int(number)
                elif kind == "FNDA":
                    count, function = value.split(",", 1)
                    hits[name][function] += int(count)

    wanted = None
    if args.source_file_manifest:
        with open(args.source_file_manifest) as stream:
            wanted = set(stream.read().split())
    with open(args.output_file, "w") as out:
        for name in sorted(lines):
            if wanted is not None and name not in wanted:
                continue
            if any(re.fullmatch(pattern, name) for pattern in args.filter_sources):
                continue
            out.write("SF:%s\n" % name)
            for function, number in sorted(functions[name].items()):
                out.write("FN:%d,%s\n" % (number, function))
            for function, count in sorted(hits[name].items()):
                out.write("FNDA:%d,%s\n" % (count, function))
            for number, count in sorted(lines[name].items()):
                out.write("DA:%d,%d\n" % (number, count))
            out.write("LF:%d\n" % len(lines[name]))
            out.write("LH:%d\n" % sum(1 for count in lines[name].values() if count))
            out.write("end_of_record\n")


main()
