// SPDX-License-Identifier: Apache-2.0
//
// Services and messages as text for people. Pure.

#ifndef FARCALL_TOOLS_FARCALL_TEXT_DESCRIBE_H_
#define FARCALL_TOOLS_FARCALL_TEXT_DESCRIBE_H_

#include <string>

#include "google/protobuf/descriptor.h"

namespace farcall::cli {

// One line for each method: "  Echo(EchoRequest) -> EchoResponse".
std::string DescribeMethods(const google::protobuf::ServiceDescriptor& service);

// The service and each message and enum that its methods take or answer, whatever the depth, as
// a .proto file would have them.
std::string DescribeService(const google::protobuf::ServiceDescriptor& service);

// A request to begin with: each field of the message with a value of its kind, nested messages up
// to four deep.
std::string SampleJson(const google::protobuf::Descriptor& message);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_DESCRIBE_H_
