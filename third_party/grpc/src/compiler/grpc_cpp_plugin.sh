#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec /usr/bin/grpc_cpp_plugin "$@"
