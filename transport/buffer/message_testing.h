// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_MESSAGE_TESTING_H_
#define FARCALL_TRANSPORT_BUFFER_MESSAGE_TESTING_H_

#include <google/protobuf/struct.pb.h>

#include <cstddef>
#include <string>

namespace farcall {

// Without a map: Debian's libprotobuf is built without ThreadSanitizer, under which
// google/protobuf/map_field.h lays map values out differently.
inline google::protobuf::ListValue SomeList(int values) {
  google::protobuf::ListValue message;
  for (int i = 0; i < values; ++i) {
    auto& value = *message.add_values();
    if (i % 3 == 0) value.set_number_value(i);
    if (i % 3 == 1) value.set_string_value(std::string(static_cast<size_t>(i), 'x'));
    if (i % 3 == 2) value.mutable_list_value()->add_values()->set_bool_value(true);
  }
  return message;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_MESSAGE_TESTING_H_
