// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_FIELD_WRITER_H_
#define FARCALL_RPC_STATUS_FIELD_WRITER_H_

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

// Fields and their values, in objects and arrays: for programs (JsonWriter) or for people
// (TextWriter). The caller keeps to the order: a key before each value of an object, an end for
// each beginning.
class FieldWriter {
 public:
  virtual ~FieldWriter() = default;

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  virtual void Key(absl::string_view key) = 0;

  virtual void Value(absl::string_view text) = 0;
  virtual void Value(double number) = 0;
  virtual void Value(bool yes) = 0;
  virtual void Null() = 0;
  void Value(const char* text) { Value(absl::string_view(text)); }
  void Value(const std::string& text) { Value(absl::string_view(text)); }
  template <std::integral Integer>
  void Value(Integer number) {
    Whole(std::to_string(number));
  }

  template <typename T>
  void Field(absl::string_view key, const T& value) {
    Key(key);
    Value(value);
  }
  // A point in time.
  virtual void Moment(absl::string_view key, std::chrono::system_clock::time_point time) = 0;

  template <typename WriteFields>
  void Object(absl::string_view key, WriteFields write_fields) {
    Key(key);
    BeginObject();
    write_fields();
    EndObject();
  }
  // An array of objects.
  template <typename Items, typename WriteFields>
  void Objects(absl::string_view key, const Items& items, WriteFields write_fields) {
    Key(key);
    BeginArray();
    for (const auto& item : items) {
      BeginObject();
      write_fields(item);
      EndObject();
    }
    EndArray();
  }
  template <typename Items>
  void Values(absl::string_view key, const Items& items) {
    Key(key);
    BeginArray();
    for (const auto& item : items) Value(item);
    EndArray();
  }

  // Counters that are all zero but for a few.
  template <typename Counts, typename NameOf>
  void NonZero(absl::string_view key, const Counts& counts, NameOf name_of) {
    Object(key, [&] {
      for (size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != 0) Field(name_of(i), counts[i]);
      }
    });
  }

 private:
  virtual void Begin(char bracket) = 0;
  virtual void End(char bracket) = 0;
  virtual void Whole(absl::string_view number) = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_FIELD_WRITER_H_
